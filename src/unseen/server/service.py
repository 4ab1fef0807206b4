"""What the routes share: the database, the model with its queue, the threads, the counters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from unseen.server.batching import Batcher
from unseen.server.metrics import Metrics
from unseen.server.predicting import Asked, Predictor
from unseen.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.api import Answers
    from unseen.database import Database
    from unseen.server.settings import ServerSettings

Result = TypeVar("Result")


class Service:
    """One running server."""

    def __init__(self, database: Database, settings: ServerSettings) -> None:
        self.database, self.settings, self.limits = database, settings, settings.limits
        self.metrics = Metrics()
        self.predictor = Predictor(database, settings.model)
        self.started = time.monotonic()
        self.batcher: Batcher[Asked, Answers] = Batcher(
            self.predictor.answer_all,
            most=self.limits.batch,
            waiting=self.limits.waiting,
            noted=self.metrics.batches.observe,
        )
        self.readers = Workers("exact", waiting=self.limits.waiting)
        self.writer = Workers("write", threads=1, waiting=self.limits.waiting)

    def start(self) -> None:
        """Begin to answer."""
        self.batcher.start()

    async def stop(self) -> None:
        """Finish what was taken, then close the database."""
        await self.batcher.stop()
        self.readers.stop()
        await self.writer.drain()
        self.database.close()

    async def read(self, action: Callable[[], Result]) -> Result:
        """Run something that only reads, within the time limit."""
        return await self.readers.run(action, self.limits.seconds)

    async def write(self, action: Callable[[], Result]) -> Result:
        """Run something that writes; it is never given up half-way, and one runs at a time."""
        return await self.writer.run(action, None)

    async def ask(self, asked: Asked) -> Answers:
        """Answer a question together with others that come at the same time."""
        return await self.batcher.submit(asked, self.limits.seconds)

    def gauges(self) -> dict[str, float]:
        """Numbers of this moment."""
        graph = self.database.graph
        return {
            "entities": graph.num_entities,
            "relations": graph.num_relations,
            "triples": graph.num_triples,
            "questions_waiting": self.batcher.waiting,
            "exact_queries": self.readers.inside,
            "writes": self.writer.inside,
            "uptime_seconds": round(time.monotonic() - self.started, 3),
        }
