"""Questions whose texts take long to parse: one thread, fair turns, estimated costs, and a time limit.

The parser of SPARQL takes some tenths of a millisecond a word, so texts of strangers are work like any other: those who
send them take turns (`admission`), too many are refused at once, and a text for which nobody waits any more is given
up at its next word. Nothing else runs in this thread, and no text is parsed in the middle of another. Short texts come
first, even if a long one that was taken becomes late by them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from unseen.errors import Stopped, UnseenError
from unseen.logic.sparql.words import MAX_TOKENS
from unseen.server.admission import Bounds, Cost
from unseen.server.batching import Batcher
from unseen.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.server.model_work import Plan, Request
    from unseen.server.server_settings import Limits

BATCH, BATCH_SECONDS = 8, 0.4
"""Short texts go through the thread together."""
SHORT = 1000
"""Characters of a short text, which is quick however slow the machine is."""
SPARQL_GUESS, FORMULA_GUESS = 1e-4, 5e-6
"""Seconds for a character before anything is measured."""
FIXED = 300
"""Characters that take as long as what every text takes, however short."""
CAUTION = 4
"""How much longer than measured a long text is expected to take, so that short ones always find room."""
MOST_OF_LIMIT = 0.5
"""No text is expected to take more of the time limit: its words are bounded, and if it takes too long it is stopped."""


class Parsing:
    """Parses questions; `plan` is the work on one."""

    def __init__(self, plan: Callable[[Request], Plan], limits: Limits) -> None:
        self._plan, self._most = plan, MOST_OF_LIMIT * limits.seconds
        self._is_ready = False
        """Whether the parser of SPARQL has been loaded, which does not count."""
        self._paces = {True: Pace(SPARQL_GUESS), False: Pace(FORMULA_GUESS)}
        """By whether a text is SPARQL."""
        self.turns: Batcher[Request, Plan] = Batcher(
            self._planned_all,
            Bounds(limits.seconds, limits.waiting, BATCH, BATCH_SECONDS, interrupted=False, keeps_promises=False),
            cost_of=self._cost_of,
        )

    def _cost_of(self, asked: Request) -> Cost:
        units, pace = self._work(asked)
        seconds, quick = units * pace.seconds, self.turns.bounds.quick
        is_short = len(asked.text) <= SHORT
        return Cost(min(seconds, quick) if is_short else min(max(CAUTION * seconds, 2 * quick), self._most))

    def _work(self, asked: Request) -> tuple[int, Pace]:
        """The size of a text, and how long such texts take; SPARQL of too many words is refused at once."""
        most = 2 * MAX_TOKENS if asked.is_sparql else len(asked.text)
        return FIXED + min(len(asked.text), most), self._paces[asked.is_sparql]

    def _planned_all(self, asked: Sequence[Request]) -> list[Plan | Exception]:
        return [self._planned(one) for one in asked]

    def _planned(self, asked: Request) -> Plan | Exception:
        began = time.perf_counter()
        try:
            return self._plan(asked)
        except Stopped:
            raise
        except UnseenError as error:
            return error.with_traceback(None)
        finally:
            self._note(asked, time.perf_counter() - began)

    def _note(self, asked: Request, seconds: float) -> None:
        if self._is_ready or not asked.is_sparql:
            units, pace = self._work(asked)
            pace.note(units, seconds)
        self._is_ready |= asked.is_sparql
