"""Random graphs with hubs, large enough to sample from, and tables as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.graph.graphs import graph_of
from unseen.datasets.sampling.selection_rules import SplitGraphs

if TYPE_CHECKING:
    from unseen.datasets.query_table import QueryTable, Ragged

ENTITIES, RELATIONS = 90, 24


def random_edges(seed: int, count: int = 2400, entities: int = ENTITIES, relations: int = RELATIONS) -> np.ndarray:
    """Distinct edges with hubs: low ids are frequent."""
    generator = np.random.default_rng(seed)
    columns = [bound * generator.random(count) ** 2 for bound in (entities, relations, entities)]
    return np.unique(np.stack(columns, axis=1).astype(np.int32), axis=0)


def graphs_with_missing_edges() -> SplitGraphs:
    """A test split with a fifth of its edges missing."""
    complete = graph_of(random_edges(0).tolist(), ENTITIES, RELATIONS)
    observed = complete.restricted_to(np.random.default_rng(1).random(complete.num_triples) < 0.8)
    return SplitGraphs("test", observed, complete)


def content(table: QueryTable) -> list[bytes]:
    answers = [array for part in (table.easy, table.hard) for array in (part.offsets, part.values)]
    return [array.tobytes() for array in (table.slots, *answers)]


def sets(ragged: Ragged) -> list[set[int]]:
    return [set(ragged.row(index).tolist()) for index in range(len(ragged))]
