"""Answers of whole tables of queries at once, for any shape.

Complements are taken among the connected entities of the graph in question, as the published answers are. A few
microseconds a query on a graph of half a million edges; memory is bounded by the answers plus one batch of bit sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.edge_index import EdgeIndex, index_of
from unseen.datasets.program import answering_program, stack_depth
from unseen.datasets.query_table import Ragged
from unseen.datasets.shared_work import batches, in_threads
from unseen.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]
    Words = NDArray[np.uint64]
    Progress = Callable[[int, int], None]

BATCH_BYTES = 1 << 24
"""Memory of the bit sets of one batch."""
SHARE = 1024
"""Queries of a batch that one thread answers at a time."""


def answer_table(graph: KnowledgeGraph, shape: Shape, slots: Ids, progress: Progress | None = None) -> Ragged:
    """Sorted answers on `graph` of the queries of a shape, one a row of `slots`; `progress(done, total)` is told."""
    answerer = BatchAnswerer(index_of(graph), shape)

    def answer(rows: slice) -> Ragged:
        found = members(answerer.answer(slots[rows]).complete)
        if progress is not None:
            progress(rows.stop, len(slots))
        return found

    return joined(in_threads(answer, batches(len(slots), answerer.batch_size)))


def easy_and_hard_answers(
    complete: KnowledgeGraph, observed: KnowledgeGraph, shape: Shape, slots: Ids, *, compatible: bool = False
) -> tuple[Ragged, Ragged]:
    """Easy and hard answers of the queries of a shape, both sorted.

    Hard ones hold in the complete graph only. Easy ones hold in both; if `compatible`, in the observed one, which for
    negations includes what the complete graph refutes.
    """
    answerer = BatchAnswerer(index_of(complete, observed), shape)

    def answer(rows: slice) -> tuple[Ragged, Ragged]:
        found = answerer.answer(slots[rows])
        return members(found.observed if compatible else found.confirmed), members(found.missed)

    parts = in_threads(answer, batches(len(slots), answerer.batch_size))
    return joined([easy for easy, _ in parts]), joined([hard for _, hard in parts])


@dataclass(frozen=True)
class AnswerBits:
    """The answers of a batch as bit sets [query, word]: in the complete graph, and in the observed one.

    `counts` has for each query the sizes of `complete`, `missed` and `refuted`.
    """

    complete: Words
    observed: Words
    counts: NDArray[np.int64]

    @property
    def confirmed(self) -> Words:
        """Answers in both graphs."""
        return self.complete & self.observed

    @property
    def missed(self) -> Words:
        """Answers in the complete graph that the observed one does not give: hard answers."""
        return self.complete & ~self.observed

    @property
    def refuted(self) -> Words:
        """Answers in the observed graph that the complete one refutes: false positives of a negation."""
        return self.observed & ~self.complete

    def take(self, rows: NDArray[np.int64]) -> AnswerBits:
        """The answers of some of the queries."""
        return AnswerBits(self.complete[rows], self.observed[rows], self.counts[rows])


class BatchAnswerer:
    """Answers batches of queries of one shape on one pair of graphs, or on one graph of which nothing is missing."""

    def __init__(self, index: EdgeIndex, shape: Shape) -> None:
        self.index = index
        self._graphs = 2 if index.num_missing else 1
        self._shape = shape
        program = answering_program(shape)
        self._program = program, stack_depth(program)

    @property
    def batch_size(self) -> int:
        """How many queries to answer at once."""
        return max(64, min(1 << 14, BATCH_BYTES // max(16 * self.index.num_words, 1)))

    def answer(self, slots: Ids) -> AnswerBits:
        """The answers of the queries with these ids in their slots."""
        from unseen.datasets.bit_set_loops import answer_bits

        bits = np.empty((len(slots), self._graphs, self.index.num_words), np.uint64)
        counts = np.empty((len(slots), 3), np.int64)
        queries = np.ascontiguousarray(slots, np.int32)
        check_slots(queries, self.index, self._shape)

        def fill(rows: slice) -> None:
            answer_bits(self.index, self._program, queries[rows], bits[rows], counts[rows])

        in_threads(fill, batches(len(slots), SHARE))
        return AnswerBits(bits[:, 0], bits[:, -1], counts)


def check_slots(slots: Ids, index: EdgeIndex, shape: Shape) -> None:
    """Refuse ids that the graph does not have: compiled loops trust them."""
    limits = np.array([index.num_entities if slot == "e" else index.num_directed_relations for slot in shape.slots])
    if slots.ndim != 2 or slots.shape[1] != len(limits):
        raise ValueError(f"a table of the shape {shape.name} has {len(limits)} columns, not {slots.shape[1:]}")
    if ((slots < 0) | (slots >= limits)).any():
        raise QueryRefused(f"a query of the shape {shape.name} has an id that the graph does not have")


def members(bits: Words) -> Ragged:
    """The sorted members of each bit set."""
    from unseen.datasets.bit_set_loops import list_bits

    lengths = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    result = Ragged.from_lengths(lengths, np.empty(int(lengths.sum()), np.int32))
    list_bits(bits, result.offsets, result.values)
    return result


def joined(parts: list[Ragged]) -> Ragged:
    """The rows of all parts, one after the other."""
    if not parts:
        return Ragged.empty(0)
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged.from_lengths(lengths, np.concatenate([part.values for part in parts]))
