"""What the routes share: the database, the model with its queue, the threads, the counters."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from unseen.asking.repairs import help_with
from unseen.errors import QueryError, UnknownName, UnseenError
from unseen.graph.catalogue import suggested
from unseen.logic.outer_form import OuterForm
from unseen.server.answering_tables import table_answers
from unseen.server.batching import ANYONE, Batcher, bounds_of
from unseen.server.callers import caller_of
from unseen.server.exact_answers import ExactAnswers
from unseen.server.metrics import Metrics
from unseen.server.model_work import ModelWork
from unseen.server.parsing import Parsing
from unseen.server.predicting import Asked, Planned, Predictor
from unseen.server.problems import Problem
from unseen.server.reader_pool import CAUSES, Readers
from unseen.server.replicas.lanes import Replicas
from unseen.server.workers import WorkerThreads, log

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request as HttpRequest

    from unseen.asking.answers import Answers
    from unseen.database import Database
    from unseen.scoring.scores import Scores
    from unseen.server.callers import Caller
    from unseen.server.model_work import Plan, Request
    from unseen.server.model_work import Result as ModelResult
    from unseen.server.scoring_work import Stated
    from unseen.server.server_settings import ServerSettings

Result = TypeVar("Result")

MOST_SUGGESTIONS = 8
"""Requests that look something up beyond which unknown names are told without the closest ones."""
LONG_TEXTS = 16
"""Long texts that may wait to be read: a megabyte takes half a second. More are refused at once."""


class Service:
    """One running server."""

    def __init__(self, database: Database, settings: ServerSettings) -> None:
        self.database, self.settings, self.limits = database, settings, settings.limits
        self.metrics = Metrics()
        self.predictor = Predictor(database, settings.model, self.limits.seconds, settings.effort)
        self.started = time.monotonic()
        self.is_stopping = False
        self.work = ModelWork(self.predictor)
        self.readers = Readers(database, settings)
        noted = self.metrics.batches.observe
        self.batcher: Batcher[Plan, ModelResult] | Replicas
        if settings.replicas:
            self.batcher = Replicas(database, settings, self.predictor, self.readers.spool.folder, noted)
        else:
            self.batcher = Batcher(
                self.work.answer_all,
                bounds_of(self.limits),
                cost_of=self.work.cost_of,
                measure=self.predictor.measure,
                measuring=self.predictor.measuring,
                noted=noted,
            )
        self.metrics.predictions = self.batcher
        self.exact = ExactAnswers(self.readers)
        self._healing: asyncio.Task[None] | None = None
        self.parsing = Parsing(self.work.plan, self.limits).turns
        self.texts = WorkerThreads("texts", threads=1, waiting=LONG_TEXTS)
        self.replies = WorkerThreads("replies", threads=2, waiting=self.limits.waiting)
        self.tables = WorkerThreads("tables", threads=1, waiting=self.limits.waiting)
        self.names = WorkerThreads("names", threads=2, waiting=self.limits.waiting)
        self.numbers = WorkerThreads("numbers", threads=1, waiting=self.limits.waiting)
        self.writer = WorkerThreads("write", threads=1, waiting=self.limits.waiting)

    def start(self) -> None:
        """Begin to answer."""
        self.batcher.start()
        self.parsing.start()
        self.readers.start()

    @property
    def is_stuck(self) -> bool:
        """Whether no exact query can be answered."""
        return self.readers.is_stuck

    @property
    def has_replicas(self) -> bool:
        """Whether those processes that predict, if there are any, can be started."""
        return not (isinstance(self.batcher, Replicas) and self.batcher.is_stuck)

    @property
    def can_write(self) -> bool:
        """Whether writes are carried out; if not, the database tries to get over it in the thread that writes."""
        health = self.database.health
        if not health.is_writable and (self._healing is None or self._healing.done()):
            log.warning(json.dumps({"event": "read_only", "message": health.reason}))
            self._healing = asyncio.create_task(self._heal())
        return health.is_writable

    async def _heal(self) -> None:
        with suppress(Problem):  # too much to do, or stopping
            await self.write(self.database.heal)

    async def stop(self) -> None:
        """Finish accepted requests, as far as time allows, then close the database."""
        self.is_stopping = True
        for workers in (self.texts, self.replies, self.tables, self.names, self.numbers):
            workers.stop()
        try:
            async with asyncio.timeout(self.settings.shutdown_seconds):
                await self.parsing.stop()
                await self.batcher.stop()
                await self.writer.drain()
        except TimeoutError:
            log.warning(json.dumps({"event": "stopping", "message": "what is still running is given up"}))
        await self.readers.stop()
        self.database.close(patience=1.0)

    async def read(self, action: Callable[[], Result]) -> Result:
        """Read a long text that was sent; a thread of its own, so that floods of such texts delay each other alone."""
        return await self.texts.run(action, self.limits.seconds)

    async def help(self, action: Callable[[], Result]) -> Result:
        """Make a reply, in threads that no query can hold."""
        return await self.replies.run(action, self.limits.seconds)

    async def compute(self, action: Callable[[], Result]) -> Result:
        """Take one step to a table; a thread of its own, so that large tables delay each other alone."""
        return await self.tables.run(action, self.limits.seconds)

    async def look_up(self, action: Callable[[], Result]) -> Result:
        """Look something up in the graph."""
        return await self.names.run(action, self.limits.seconds)

    async def count(self) -> dict[str, float]:
        """Numbers of this moment; in a thread, because the graph may have to be rebuilt."""
        return await self.numbers.run(self._gauges, self.limits.seconds)

    async def write(self, action: Callable[[], Result]) -> Result:
        """Run something that writes; it is never given up half-way, and one runs at a time."""
        return await self.writer.run_to_the_end(action, self.limits.seconds)

    async def write_for_long(self, action: Callable[[], Result]) -> Result:
        """Run something that may write for long; until it is done, exact queries see what was there before."""
        loop = asyncio.get_running_loop()
        return await self.write(lambda: self._after_a_checkpoint(action, loop))

    def _after_a_checkpoint(self, action: Callable[[], Result], loop: asyncio.AbstractEventLoop) -> Result:
        """Nobody writes but this thread: the checkpoint stays the newest there can be until the action ends."""
        making = asyncio.run_coroutine_threadsafe(self.readers.checkpoints.fresh(), loop)
        with suppress(UnseenError, TimeoutError):
            making.result(self.limits.seconds)
        return action()

    async def ask(self, asked: Asked, caller: Caller = ANYONE) -> Answers:
        """Answer a question together with others that come at the same time."""
        return await self.repaired(self._asked(asked, caller), asked)

    async def _asked(self, asked: Asked, caller: Caller) -> Answers:
        return await self.answer(await self.plan(asked, caller), caller)

    async def repaired(self, answer: Awaitable[Result], asked: Asked) -> Result:
        """An answer; an error in the question offers the nearest one that works, unless many wait for that."""
        try:
            return await answer
        except QueryError as error:
            if self.names.inside <= MOST_SUGGESTIONS:
                with suppress(Problem):
                    await self.look_up(partial(help_with, error, self.database.graph, asked.text, asked.type_relation))
            raise

    async def plan(self, asked: Asked, caller: Caller) -> Planned:
        """Parse a question: at once if it is short, else when it is its caller's turn."""
        return cast("Planned", await self._planned(asked, caller))

    async def _planned(self, request: Request, caller: Caller) -> Plan:
        return self.work.plan(request) if request.is_short else await self.parsing.submit(request, caller)

    async def answer(self, planned: Planned, caller: Caller) -> Answers:
        """Answer a question that is parsed."""
        if isinstance(planned.query, OuterForm):
            return await table_answers(self, planned.asked, planned.query, caller)
        return cast("Answers", await self.with_suggestions(self.batcher.submit(planned, caller)))

    async def with_suggestions(self, answer: Awaitable[Result]) -> Result:
        """An answer; an error for an unknown name offers the closest ones, unless many wait for that.

        To find them takes longer than to answer most questions, so it is not done where these are answered.
        """
        try:
            return await answer
        except UnknownName as error:
            if error.closest or self.names.inside > MOST_SUGGESTIONS:
                raise
            raise await self.look_up(partial(suggested, self.database.graph, error)) from None

    async def score(self, stated: Stated, caller: Caller = ANYONE) -> Scores:
        """Score statements, in the same queue as questions."""
        scores = self.batcher.submit(await self._planned(stated, caller), caller)
        return cast("Scores", await self.with_suggestions(scores))

    def caller_of(self, request: HttpRequest) -> Caller:
        """Who asks, and whether they still wait."""
        return caller_of(request)

    def _gauges(self) -> dict[str, float]:
        """Numbers of this moment."""
        graph = self.database.graph
        return {
            "entities": graph.num_entities,
            "relations": graph.num_relations,
            "triples": graph.num_triples,
            "texts_waiting": self.parsing.waiting,
            "questions_waiting": self.batcher.waiting,
            "questions_waiting_seconds": round(self.batcher.backlog_seconds, 3),
            **(self.batcher.gauges() if isinstance(self.batcher, Replicas) else {}),
            "exact_queries": self.readers.running,
            "exact_queries_slow": self.readers.slow,
            **{f"exact_queries_ended_{cause}": self.readers.counts[cause] for cause in CAUSES},
            "exact_readers_started": self.readers.counts["started"],
            "exact_checkpoints": self.readers.checkpoints.made,
            "exact_result_bytes_held": self.readers.spool.held,
            "writer_starts": getattr(self.database.triples, "starts", 0),
            "writes": self.writer.inside,
            "uptime_seconds": round(time.monotonic() - self.started, 3),
        }
