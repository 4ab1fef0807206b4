"""Which edges a graph has gained and lost beside another one with the same ids, and columns changed accordingly.

Cost of a changed column: one copy of it, and a step for each change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]

Number = TypeVar("Number", bound=np.integer)


@dataclass(frozen=True, eq=False)
class EdgeChange:
    """Edges that go, all of which were there, and then edges that come: [edge, 3], head, relation, tail.

    An edge may do both. No edge does either twice.
    """

    removed: Ids
    added: Ids

    def __len__(self) -> int:
        return len(self.removed) + len(self.added)

    def then(self, other: EdgeChange) -> EdgeChange:
        """Both changes, one after the other, as one."""
        if not len(self) or not len(other):
            return other if len(other) else self
        gone, come = _edges(self.removed), _edges(self.added)
        gone_later, come_later = _edges(other.removed), _edges(other.added)
        removed = gone | {edge: None for edge in gone_later if edge not in come}
        added = {edge: None for edge in come if edge not in gone_later} | come_later
        return EdgeChange(edge_rows(list(removed)), edge_rows(list(added)))


def edge_rows(edges: list[tuple[int, ...]]) -> Ids:
    """Edges as rows of an array."""
    return np.array(edges, np.int32).reshape(-1, 3)


def _edges(rows: Ids) -> dict[tuple[int, ...], None]:
    return dict.fromkeys(map(tuple, rows.tolist()))


def spliced(
    column: NDArray[Number], removed: NDArray[np.int64], places: NDArray[np.int64], values: NDArray[Number]
) -> NDArray[Number]:
    """A column without what stands at `removed`, and with each value before what stood at its place; both ascending."""
    whole = np.empty(len(column) - len(removed) + len(values), column.dtype)
    cuts = np.concatenate([places, removed])
    order = np.argsort(cuts, kind="stable")  # what comes in at a place stands before what goes there
    start = filled = 0
    for event, cut in zip(order.tolist(), cuts[order].tolist(), strict=True):
        if cut > start:
            whole[filled : filled + cut - start] = column[start:cut]
            filled, start = filled + cut - start, cut
        if event < len(values):
            whole[filled] = values[event]
            filled += 1
        else:
            start = cut + 1
    whole[filled:] = column[start:]
    return whole


def extended(offsets: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Offsets of rows, with empty rows at the end so that there are `count`."""
    return np.append(offsets, np.full(count + 1 - len(offsets), offsets[-1])) if len(offsets) <= count else offsets


def shift(offsets: NDArray[np.int64], fewer: NDArray[np.integer], more: NDArray[np.integer]) -> None:
    """Make all offsets from a place on less by one for each place in `fewer`, more for each in `more`."""
    places = np.concatenate([fewer, more]).astype(np.int64)
    order = np.argsort(places, kind="stable")
    sums = np.cumsum(np.repeat([-1, 1], [len(fewer), len(more)])[order])
    ends = np.append(places[order][1:], len(offsets))
    for place, end, by in zip(places[order].tolist(), ends.tolist(), sums.tolist(), strict=True):
        offsets[place:end] += by


def shifted(offsets: NDArray[np.int64], fewer: NDArray[np.integer], more: NDArray[np.integer]) -> NDArray[np.int64]:
    """Other offsets that are moved in this way."""
    moved = offsets.copy()
    shift(moved, fewer, more)
    return moved


def places_after(removed: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the values of `spliced` stand in the new column."""
    return places + np.arange(len(places)) - np.searchsorted(removed, places)
