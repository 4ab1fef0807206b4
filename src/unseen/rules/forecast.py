"""What mining a large graph will take: estimated from a few facts that propose bodies, before all of them do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.compiling import available_cores
from unseen.rules.adjacency import adjacency_of
from unseen.rules.path_mining import FACTS_PER_SAMPLE, LONG_WIDTH
from unseen.rules.proposing import count_bodies, count_long_bodies, row_starts, sampled_facts
from unseen.rules.tally import new_tally

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.rules.adjacency import Adjacency

HEADS, FACTS_OF_HEAD = 40, 5
OTHER_STAGES, SECONDS_FOR_WEIGHING = 1.0, 10.0
"""What measuring takes, in times of proposing, and what constants and weighing take."""
BYTES_PER_TRIPLE, BYTES_PER_ENTITY, BYTES_IN_ANY_CASE = 220, 150, 500_000_000


@dataclass(frozen=True)
class Forecast:
    """Seconds and bytes that mining takes, within a factor of about three."""

    samples: int
    seconds: float
    memory: int

    def __str__(self) -> str:
        long = f"{self.seconds:.0f} seconds" if self.seconds < 100 else f"{self.seconds / 60:.0f} minutes"
        return f"{self.samples} samples take roughly {long} and {self.memory / 1e9:.1f} GB"


def forecast(graph: KnowledgeGraph, samples: int) -> Forecast:
    """The time that mining a graph with `samples` takes on this machine."""
    adjacency = adjacency_of(graph)
    starts = row_starts(adjacency)
    facts = np.diff(starts[adjacency.relation_rows])
    wanted = np.minimum(facts, FACTS_PER_SAMPLE * samples)
    proposing = float(wanted.sum()) * _seconds_per_fact(adjacency, facts) / available_cores()
    memory = BYTES_PER_TRIPLE * graph.num_triples + BYTES_PER_ENTITY * available_cores() * graph.num_entities
    seconds = (1 + OTHER_STAGES) * proposing + SECONDS_FOR_WEIGHING
    return Forecast(samples, seconds, memory + BYTES_IN_ANY_CASE)


def _seconds_per_fact(adjacency: Adjacency, facts: np.ndarray) -> float:
    """The mean over some facts of heads spread over all; the first head is not counted, because loops are compiled."""
    starts, heads = row_starts(adjacency), np.flatnonzero(facts)
    chosen = heads[np.linspace(0, len(heads) - 1, min(len(heads), HEADS)).astype(int)].tolist()
    spent, counted = 0.0, 0
    for number, head in enumerate(chosen[:1] + chosen):
        sources, targets = sampled_facts(adjacency, head, starts, FACTS_OF_HEAD, np.uint64(0))
        begun, count = time.perf_counter(), len(sources)
        count_bodies(adjacency, head, sources, targets, 0, count, np.uint64(0), new_tally(256), 0)
        count_long_bodies(adjacency, sources, targets, 0, count, LONG_WIDTH, np.uint64(0), new_tally(256), 0)
        if number:
            spent, counted = spent + time.perf_counter() - begun, counted + count
    return spent / max(1, counted)
