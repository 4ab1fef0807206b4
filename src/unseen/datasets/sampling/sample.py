"""Questions with known answers, drawn from a split's graphs for any shape.

The same seed gives the same questions, whatever the number of threads. Asked for more than there are, sampling stops:
a small graph is then searched in all ways, so that the number found is exact; on a large one it stops when a million
candidates in a row brought nothing new, or when new ones are too rare to go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from unseen.datasets.answering import joined
from unseen.datasets.query_table import QueryTable
from unseen.datasets.sampling.candidates import CandidateStream
from unseen.datasets.sampling.grounding import stream_key
from unseen.datasets.sampling.link_tables import all_links, is_one_link
from unseen.datasets.sampling.selection_rules import SelectionRules, SplitGraphs
from unseen.logic.shapes import template_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.logic.shapes import Shape

    Progress = Callable[[int, int], None]

SMALLEST_BATCH = 1024
PATIENCE = 1_000_000
"""Candidates without anything new after which sampling stops."""
EFFORT = 2_000
"""Candidates for each query wanted, beyond those, after which it stops too."""
SEARCH_AFTER = 20_000
"""Candidates without anything new after which all ways are tried, if they are few."""
SEARCHED_WAYS = 300_000
"""Ways to ground a shape that are few."""


@dataclass(frozen=True)
class SampleOptions:
    """How to sample: by the published rules to the letter, with equal quotas of hardness, from which seed."""

    compatible: bool = False
    hard: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Sample:
    """A table of queries; if they are fewer than `wanted`, `exact` says that there are no more."""

    table: QueryTable
    wanted: int
    candidates: int = 0
    exact: bool = False
    limited_by: str = ""

    @property
    def shortfall(self) -> str | None:
        """What is missing and why, if anything is."""
        if len(self.table) >= self.wanted:
            return None
        reason = "there are no more" if self.exact else f"no more were found among {self.candidates:,} candidates"
        return f"{len(self.table):,} of {self.wanted:,} queries: {reason}{self.limited_by}"


def sample_queries(
    graphs: SplitGraphs,
    shape: Shape,
    count: int | None,
    options: SampleOptions | None = None,
    progress: Progress | None = None,
) -> Sample:
    """At most `count` distinct queries of a shape; questions of one link are all listed if `count` is nothing.

    `progress(done, total)` is told after every batch.
    """
    chosen = options or SampleOptions()
    rules = SelectionRules(shape, graphs.is_training, chosen.compatible)
    if is_one_link(shape):
        return _listed(all_links(graphs, rules), count, stream_of(graphs, shape, chosen))
    if count is None:
        raise ValueError(f"queries of the shape {shape.name} are too many to list: say how many to draw")
    stream = CandidateStream(graphs, rules, stream_of(graphs, shape, chosen))
    taken = _FirstComers(count)
    exact = collect(stream, taken, progress)
    return Sample(joined_tables(shape, taken.parts), count, stream.drawn, exact)


def stream_of(graphs: SplitGraphs, shape: Shape, options: SampleOptions, *more: object) -> int:
    """The key of the random stream of a split and a shape."""
    return stream_key(options.seed, graphs.name, template_of(shape.skeleton), *more)


class Selection(Protocol):
    """Takes what it wants from tables of acceptable queries."""

    wanted: int
    taken: int

    def offer(self, table: QueryTable) -> None:
        """Take some of the queries, in order."""


def collect(stream: CandidateStream, selection: Selection, progress: Progress | None = None) -> bool:
    """Offer candidates until the selection has what it wants; say whether it saw everything there is."""
    idle, searched = 0, False
    most = PATIENCE + EFFORT * selection.wanted
    while selection.taken < selection.wanted and idle < PATIENCE and stream.drawn < most:
        before, size = selection.taken, _batch_size(stream, selection)
        selection.offer(stream.draw(size))
        idle = idle + size if selection.taken == before else 0
        if progress is not None:
            progress(selection.taken, selection.wanted)
        if idle >= SEARCH_AFTER and not searched:
            searched = True
            if _search(stream, selection):
                return True
    return False


def _search(stream: CandidateStream, selection: Selection) -> bool:
    """Offer everything there is, if that is little."""
    rest = stream.everything_else(SEARCHED_WAYS)
    for table in rest or ():
        selection.offer(table)
    return rest is not None


def _batch_size(stream: CandidateStream, selection: Selection) -> int:
    """As many candidates as will about suffice, by what was taken so far."""
    needed = (selection.wanted - selection.taken) * (stream.drawn + 4) / (selection.taken + 1)
    return int(max(min(SMALLEST_BATCH, stream.largest_batch), min(1.1 * needed, stream.largest_batch)))


class _FirstComers:
    """The first acceptable queries."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.taken = wanted, 0
        self.parts: list[QueryTable] = []

    def offer(self, table: QueryTable) -> None:
        """Take what there is room for."""
        room = self.wanted - self.taken
        self.parts.append(table if len(table) <= room else table.take(np.arange(room)))
        self.taken += len(self.parts[-1])


def _listed(table: QueryTable, count: int | None, key: int) -> Sample:
    """All of the table, or `count` of its rows at random, in order."""
    if count is None or count >= len(table):
        return Sample(table, len(table) if count is None else count, len(table), exact=True)
    rows = np.sort(np.random.default_rng(key).permutation(len(table))[:count])
    return Sample(table.take(rows), count, len(table), exact=True)


def joined_tables(shape: Shape, parts: list[QueryTable]) -> QueryTable:
    """The queries of all parts, one after the other."""
    slots = [part.slots for part in parts] or [np.empty((0, len(shape.slots)), np.int32)]
    easy, hard = joined([part.easy for part in parts]), joined([part.hard for part in parts])
    return QueryTable(shape, np.concatenate(slots), easy, hard)
