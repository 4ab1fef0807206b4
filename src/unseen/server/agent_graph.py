"""The graph of a server as its agents ask it: in turns, within limits and deadlines like anyone else.

The tools of an agent are plain functions that run in a thread for each call. What they ask for is done where every
request has it done, and the thread waits.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from unseen.agents.asked_graphs import described_attributes, first_fact
from unseen.asking.preparing import prefixes_of
from unseen.errors import QueryRefused, QuerySyntaxError, UnknownName, UnseenError
from unseen.graph.catalogue import entities_like, relations_like
from unseen.server.answers_at_once import answered
from unseen.server.predicting import Asked
from unseen.server.problems import described, too_slow
from unseen.server.scoring_work import Stated

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from unseen.agents.asked_graphs import AskOptions
    from unseen.asking.answers import Answers, Counted
    from unseen.graph import KnowledgeGraph
    from unseen.scoring.scores import Score
    from unseen.server.callers import Caller
    from unseen.server.service import Service

    Fact = tuple[str, str, str]

Result = TypeVar("Result")
PATIENCE = 2
"""How many times the time limit of one question a call may take: explaining asks twice."""


@dataclass(frozen=True)
class _AgentCall:
    """One call of a tool: for whom, and until when."""

    caller: Caller
    deadline: float
    loop: asyncio.AbstractEventLoop


_CALL: ContextVar[_AgentCall] = ContextVar("the call that a tool's thread works for")


class ServedGraph:
    """The graph of a running server."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.patience = PATIENCE * service.limits.seconds
        """Seconds that one call may take."""

    @contextmanager
    def called_by(self, caller: Caller) -> Iterator[None]:
        """Tools that are called in the block work for a caller."""
        token = _CALL.set(_AgentCall(caller, time.monotonic() + self.patience, asyncio.get_running_loop()))
        try:
            yield
        finally:
            _CALL.reset(token)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of its names."""
        return self._looked_up(prefixes_of)

    def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        exact: bool = False,
        **wishes: Unpack[AskOptions],
    ) -> Answers:
        """The answers by the server's model, or known ones only."""
        asked = Asked(question, top, explain=explain, exact=exact, **wishes)
        return self._done(self._answers(asked, _CALL.get().caller))

    def score(self, statement: str, *, explain: bool = False, type_relation: str | None = None) -> Score:
        """How likely a statement is by the server's model."""
        stated = Stated((statement,), explain=explain, type_relation=type_relation, is_single=True)
        return self._done(self._service.score(stated, _CALL.get().caller))[0]

    def entities(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Entities whose name contains a text, the nearest first."""
        return self._looked_up(lambda graph: entities_like(graph, search, limit))

    def relations(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Relations whose name contains a text, the most frequent first."""
        return self._looked_up(lambda graph: relations_like(graph, search, limit))

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes with their numbers of values, and the smallest and largest one."""
        return self._looked_up(described_attributes)

    def counts(self) -> Counted:
        """The graph itself."""
        return self._looked_up(lambda graph: graph)

    def fact_of(self, relation: dict[str, Any]) -> Fact | None:
        """The first fact of a relation, by its head's id."""
        return self._looked_up(lambda graph: first_fact(graph, relation))

    def add(self, facts: Sequence[Fact]) -> int:
        """Add facts to the database, where they last."""
        service = self._service
        return self._done(service.write(partial(service.database.add, facts)))

    async def _answers(self, asked: Asked, caller: Caller) -> Answers:
        async def answer() -> Answers:
            return await answered(self._service, await self._service.plan(asked, caller), caller)

        return await self._service.repaired(answer(), asked)

    def _looked_up(self, action: Callable[[KnowledgeGraph], Result]) -> Result:
        service = self._service
        return self._done(service.look_up(lambda: action(service.database.graph)))

    def _done(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of work on the server's loop; errors do not mention files of the server."""
        call = _CALL.get()
        future = asyncio.run_coroutine_threadsafe(work, call.loop)
        try:
            return future.result(max(0.0, call.deadline - time.monotonic()))
        except TimeoutError:
            future.cancel()
            raise too_slow(self.patience) from None
        except (UnknownName, QuerySyntaxError, QueryRefused):
            raise
        except UnseenError as error:
            raise UnseenError(described(error)[1]["error"]["message"]) from None
