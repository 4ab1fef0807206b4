"""Hard benchmarks: as many questions of every hardness, and none that a few relations or entities dominate.

All hard answers of a question need the same number of missing links: its stratum. Strata have equally many questions,
and the easier ones keep pace with the hardest: they may have no more answers a question than it has. In each stratum no
relation and no anchor occurs in more than a fifth of the pairs (question, hard answer); where the graph has too few of
them for that, in not more than twice the even share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.program import positive_links
from unseen.datasets.sampling.candidates import CandidateStream
from unseen.datasets.sampling.sample import Sample, SampleOptions, collect, joined_tables, stream_of
from unseen.datasets.sampling.selection_rules import SelectionRules, SplitGraphs
from unseen.datasets.table_hardness import table_hardness
from unseen.graph.vocabulary import undirected_relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable
    from unseen.datasets.sampling.sample import Progress
    from unseen.logic.shapes import Shape

LARGEST_SHARE = 0.2
"""Of a stratum's pairs, those that may share a relation or an anchor."""


def largest_shares(graphs: SplitGraphs, shape: Shape) -> dict[str, float]:
    """The share of pairs in which one relation (`r`) and one anchor (`e`) may occur."""
    available = {"r": graphs.complete.num_relations, "e": len(graphs.complete.connected_entities)}
    even = {kind: shape.slots.count(kind) / max(count, 1) for kind, count in available.items()}
    return {kind: min(1.0, max(LARGEST_SHARE, 2 * share)) for kind, share in even.items()}


def sample_strata(
    graphs: SplitGraphs, shape: Shape, count: int, options: SampleOptions, progress: Progress | None = None
) -> Sample:
    """`count` queries, equally many for each number of missing links, easiest first; fewer if a stratum runs dry."""
    run = _StrataRun(graphs, shape, options, count // max(positive_links(shape.skeleton), 1))
    exact = True
    for done, stratum in enumerate(range(run.links, 0, -1)):
        exact &= run.fill(stratum, _shifted(progress, done, run.links))
    tables = _balanced(run.tables, run.quota, largest_shares(graphs, shape))
    table = joined_tables(shape, tables[::-1])
    return Sample(table, run.wanted * run.links, run.candidates, exact, run.limited_by)


class _StrataRun:
    """The strata of one shape, filled from the hardest to the easiest."""

    def __init__(self, graphs: SplitGraphs, shape: Shape, options: SampleOptions, wanted: int) -> None:
        self.graphs, self.shape, self.options = graphs, shape, options
        self.wanted = self.quota = wanted
        self.links = positive_links(shape.skeleton)
        self.tables: list[QueryTable] = []
        self.pace = np.inf
        self.candidates = 0
        self.limited_by = ""

    def fill(self, stratum: int, progress: Progress | None) -> bool:
        """Fill one stratum as far as it goes; say whether everything there is was seen."""
        rules = SelectionRules(self.shape, training=False, compatible=self.options.compatible)
        key = stream_of(self.graphs, self.shape, self.options, "stratum", stratum)
        stream = CandidateStream(self.graphs, rules, key, self._guidance(stratum))
        shares = _Shares(self.quota, largest_shares(self.graphs, self.shape))
        chosen = _Stratum(self.graphs, stratum, shares, self.pace)
        exact = collect(stream, chosen, progress)
        self.tables.append(joined_tables(self.shape, chosen.parts))
        self.candidates += stream.drawn
        if chosen.taken < self.quota:
            self.quota = chosen.taken
            self.limited_by = (
                f"; those with {stratum} missing links are the scarcest, and every number of links has as many"
            )
        if stratum == self.links:
            self.pace = chosen.pairs / max(chosen.taken, 1)
        return exact or chosen.taken >= chosen.wanted

    def _guidance(self, stratum: int) -> int:
        """How many links to ground over missing edges: as many as the stratum needs, in the last stratum all.

        With negation none, because there the root is no answer but what the missing edges refute.
        """
        if self.shape.has_negation:
            return 0
        return self.shape.slots.count("r") if stratum == self.links else stratum


class _Stratum:
    """Queries whose hard answers all need `stratum` missing links, at most `pace` answers a query on average."""

    def __init__(self, graphs: SplitGraphs, stratum: int, shares: _Shares, pace: float) -> None:
        self._graphs, self._stratum, self._shares, self._pace = graphs, stratum, shares, pace
        self.wanted, self.taken, self.pairs = shares.expected, 0, 0
        self.parts: list[QueryTable] = []

    def offer(self, table: QueryTable) -> None:
        """Take the queries of this stratum that fit."""
        if len(table):
            table = table.take(np.flatnonzero(self._is_mine(table)))
            rows = [row for row in range(len(table)) if self._admits(table, row)]
            self.parts.append(table.take(rows))

    def _is_mine(self, table: QueryTable) -> NDArray[np.bool_]:
        graphs = self._graphs
        needed = table_hardness(graphs.complete, graphs.observed, table.shape, table.slots, table.hard)
        starts = table.hard.offsets[:-1]
        least, most = np.minimum.reduceat(needed, starts), np.maximum.reduceat(needed, starts)
        mine: NDArray[np.bool_] = (least == self._stratum) & (most == self._stratum)
        return mine

    def _admits(self, table: QueryTable, row: int) -> bool:
        pairs = len(table.hard.row(row))
        if self.taken >= self.wanted or self.pairs + pairs > self._pace * (self.taken + 1):
            return False
        if not self._shares.admits(table, row):
            return False
        self.taken += 1
        self.pairs += pairs
        return True


class _Shares:
    """Counts the pairs of each relation and anchor, and admits no query that would give one of them too many."""

    def __init__(self, expected: int, largest: dict[str, float]) -> None:
        self.expected, self._largest = expected, largest
        self._total = 0
        self._pairs: dict[tuple[str, int], int] = {}

    def admits(self, table: QueryTable, row: int) -> bool:
        """Whether the query fits in; if so it is counted."""
        pairs = len(table.hard.row(row))
        total = self._total + pairs
        whole = max(total, self.expected)
        parts = {_part(kind, value) for kind, value in zip(table.shape.slots, table.slots[row].tolist(), strict=True)}
        if any(self._pairs.get(part, 0) + pairs > max(self._largest[part[0]] * whole, 1) for part in parts):
            return False
        self._total = total
        for part in parts:
            self._pairs[part] = self._pairs.get(part, 0) + pairs
        return True


def _part(kind: str, value: int) -> tuple[str, int]:
    """What a slot holds; relations without their direction."""
    return (kind, undirected_relation(value) if kind == "r" else value)


def _balanced(tables: list[QueryTable], quota: int, largest: dict[str, float]) -> list[QueryTable]:
    """As many queries of each stratum, so many that the shares hold for what is left."""
    while True:
        kept = [_within_shares(table.take(np.arange(quota)), _Shares(quota, largest)) for table in tables]
        smallest = min((len(table) for table in kept), default=0)
        if smallest == quota:
            return kept
        quota = smallest


def _within_shares(table: QueryTable, shares: _Shares) -> QueryTable:
    return table.take([row for row in range(len(table)) if shares.admits(table, row)])


def _shifted(progress: Progress | None, stratum: int, strata: int) -> Progress | None:
    """Progress of one stratum as a part of all."""
    if progress is None:
        return None
    return lambda done, wanted: progress(stratum * wanted + done, strata * wanted)
