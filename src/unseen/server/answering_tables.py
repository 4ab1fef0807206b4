"""Tables in a server: each question for a core waits its turn like any other, rows come from the readers.

What is computed between them runs in a thread of its own, because a table may have many rows and columns. It ends when
the time of the request is over, or when nobody waits for the table any more.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from unseen.asking.answers import Answers
from unseen.asking.solution_tables.solving import solved
from unseen.asking.solution_tables.wanted import ExactRows, Predicted, Wishes
from unseen.database.engine.deadline import time_left
from unseen.database.relation_store import rows_of_json
from unseen.errors import Stopped
from unseen.logic.stopping import stop_when
from unseen.server.predicting import MOST_ANSWERS
from unseen.server.problems import disconnected, too_slow

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.asking.solution_tables.wanted import Solving
    from unseen.logic.outer_form import OuterForm
    from unseen.server.callers import Caller
    from unseen.server.predicting import Asked
    from unseen.server.service import Service

TOGETHER = 8
"""Questions for a core that wait at the same time."""


async def table_answers(service: Service, asked: Asked, form: OuterForm, caller: Caller) -> Answers:
    """The table that a question asks for."""
    graph, method = service.database.graph, "exact" if asked.exact else service.predictor.name
    top = None if asked.top is None else min(asked.top, MOST_ANSWERS)
    is_exact = asked.exact or service.predictor.method is None
    wishes = Wishes(method, graph, graph.vocabulary.entities, top, asked.predicted_only, is_exact)
    steps = solved(form, wishes)
    gone = asyncio.ensure_future(caller.gone())
    ends = time.monotonic() + time_left(service.limits.seconds)

    def is_over() -> bool:
        return gone.done() or time.monotonic() > ends

    try:
        result = None
        while True:
            wanted = await service.compute(partial(_sent, steps, result, is_over))
            if isinstance(wanted, Answers):
                return wanted
            result = await _found(service, asked, wanted, caller)
    except Stopped:
        raise (disconnected() if gone.done() else too_slow(service.limits.seconds)) from None
    finally:
        gone.cancel()


def _sent(steps: Solving, result: Any, is_over: Callable[[], bool]) -> Any:
    """What the next step wants to know, or the table."""
    with stop_when(is_over):
        try:
            return steps.send(rows_of_json(result) if isinstance(result, bytes) else result)
        except StopIteration as stop:
            return stop.value


async def _found(service: Service, asked: Asked, wanted: Any, caller: Caller) -> Any:
    """What a step wants to know; rows as they come from a reader."""
    if isinstance(wanted, ExactRows):
        return await service.exact.rows(wanted.text, caller)
    if isinstance(wanted, Predicted):
        return await _predicted(service, asked, wanted, caller)
    found: list[Answers] = []
    for start in range(0, len(wanted), TOGETHER):
        asking = (_predicted(service, asked, one, caller) for one in wanted[start : start + TOGETHER])
        found += await asyncio.gather(*asking)
    return found


async def _predicted(service: Service, asked: Asked, wanted: Predicted, caller: Caller) -> Answers:
    is_exact = asked.exact or wanted.exact
    own = replace(asked, core=wanted, top=wanted.top, predicted_only=wanted.predicted_only, exact=is_exact)
    return await service.answer(await service.plan(own, caller), caller)
