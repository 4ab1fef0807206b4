"""Batches from worlds that threads make ahead of time: step i is a function of the seed and i alone.

`worlds_at_once` worlds take turns, each for `steps_per_world` steps, then all are replaced; while they are used, the
next ones are made in the background and put on the device. Compiled loops and numpy do most of that work without
Python's lock.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.shared_work import in_threads
from unseen.graph.compiling import available_cores
from unseen.methods.training_settings import parsed_weights
from unseen.training.batches import Batch
from unseen.training.pretraining.worlds import World, make_world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.datasets.query_table import QueryTable
    from unseen.graph import KnowledgeGraph
    from unseen.methods.zero_shot.pretraining_settings import PretrainingConfig
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.training.distributed import Workers

MOST_THREADS = 8


class WorldSource:
    """A `BatchSource` of queries on worlds cut out of some graphs."""

    def __init__(self, method: ZeroShot, graphs: Sequence[KnowledgeGraph], config: PretrainingConfig) -> None:
        self.method, self.graphs, self.config = method, graphs, config
        self._weights = parsed_weights(config.type_weights)
        threads = config.sampler_threads or max(1, min(MOST_THREADS, available_cores() - 1))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="world")
        self._worlds: dict[int, Future[World]] = {}

    def __enter__(self) -> WorldSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop making worlds; unfinished ones are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def prepared(self, step: int, workers: Workers) -> Any:
        """This process's share of a step's batch, ready for the device."""
        world, whole = self._batch(step)
        own = whole.share(workers.rank, workers.size)
        everything = None if workers.size == 1 else whole.queries
        return self.method.prepare(world.observed, own.queries, own.answers, everything)

    def to_json(self, step: int) -> list[dict[str, Any]]:
        """The whole batch of a step for people to look at."""
        return self._batch(step)[1].to_json()

    def _batch(self, step: int) -> tuple[World, Batch]:
        world = self.world(step)
        return world, drawn_batch(world, self._weights, self.config, step)

    def world(self, step: int) -> World:
        """The world of a step; the worlds after it are begun, those before it are forgotten."""
        number = world_number(self.config, step)
        first = number - number % self.config.worlds_at_once
        end = world_number(self.config, self.config.steps) + 1  # the loop prepares one batch more than it uses
        for wanted in range(first, max(number + 1, min(end, first + 2 * self.config.worlds_at_once))):
            if wanted not in self._worlds:
                self._worlds[wanted] = self._pool.submit(self._made, wanted)
        for old in [known for known in self._worlds if known < first]:
            self._worlds.pop(old).cancel()
        return self._worlds[number].result()

    def _made(self, number: int) -> World:
        world = in_threads(lambda each: make_world(self.graphs, self.config, each), [number], threads=1)[0]
        compact = self.method.compact(world.observed)
        _ = compact.edges.by_source, compact.ends_by_relation, compact.partner, compact.canonical_ends
        _ = compact.relation_offsets, compact.relation_edges.by_source, compact.relation_edges.by_relation
        if self.method.relation_states is not None:
            _ = compact.incidence
        return world


def world_number(config: PretrainingConfig, step: int) -> int:
    """Which world a step is in."""
    together = config.worlds_at_once
    return step // (together * config.steps_per_world) * together + step % together


def drawn_batch(world: World, weights: dict[str, float], config: PretrainingConfig, step: int) -> Batch:
    """Queries of a world: every type equally likely, times its weight; any of its queries.

    In a world that is asked from hubs, a query with many known answers is likelier, by the square root of their number.
    """
    random = np.random.default_rng([config.seed, 3, step])
    names = sorted(world.tables)
    mass = np.array([weights.get(name, 1.0) for name in names])
    mass = mass if mass.sum() > 0 else np.ones(len(names))
    kinds = random.choice(len(names), config.batch_size, p=mass / mass.sum())
    drawn = [world.tables[names[kind]] for kind in kinds]
    chosen = [(table, _drawn_row(table, random, from_hubs=world.from_hubs)) for table in drawn]
    answers = [np.concatenate([table.easy.row(row), table.hard.row(row)]) for table, row in chosen]
    return Batch([table.query(row) for table, row in chosen], answers)


def _drawn_row(table: QueryTable, random: np.random.Generator, *, from_hubs: bool) -> int:
    if not from_hubs:
        return int(random.integers(len(table)))
    mass = np.sqrt(1.0 + np.diff(table.easy.offsets))
    return int(random.choice(len(table), p=mass / mass.sum()))
