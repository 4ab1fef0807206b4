"""What the routes share: the database, the model with its queue, the threads, the counters."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, TypeVar

from unseen.server.batching import Batcher
from unseen.server.exact_answers import ExactAnswers
from unseen.server.metrics import Metrics
from unseen.server.predicting import Asked, Predictor
from unseen.server.readers import CAUSES, Readers
from unseen.server.workers import Workers, log

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.answers import Answers
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
        self.readers = Readers(database, settings)
        self.exact = ExactAnswers(self.readers)
        self.helpers = Workers("names", threads=2, waiting=self.limits.waiting)
        self.writer = Workers("write", threads=1, waiting=self.limits.waiting)

    def start(self) -> None:
        """Begin to answer."""
        self.batcher.start()
        self.readers.start()

    @property
    def is_stuck(self) -> bool:
        """Whether no exact query can be answered."""
        return self.readers.is_stuck

    async def stop(self) -> None:
        """Finish what was taken, as far as that is done in time, then close the database."""
        self.helpers.stop()
        try:
            async with asyncio.timeout(self.settings.shutdown_seconds):
                await self.batcher.stop()
                await self.writer.drain()
        except TimeoutError:
            log.warning(json.dumps({"event": "stopping", "message": "what is still running is given up"}))
        await self.readers.stop()
        self.database.close(patience=1.0)

    async def help(self, action: Callable[[], Result]) -> Result:
        """Run something short that only reads, in threads that no exact query can hold."""
        return await self.helpers.run(action, self.limits.seconds)

    async def write(self, action: Callable[[], Result]) -> Result:
        """Run something that writes; it is never given up half-way, and one runs at a time."""
        return await self.writer.run_to_the_end(action, self.limits.seconds)

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
