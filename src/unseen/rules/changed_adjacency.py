"""The adjacency of a changed graph from that of the graph before it: every array is copied once, nothing is sorted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np

from unseen.graph.compiling import available_cores, compiled
from unseen.graph.edge_changes import extended, places_after, shift, shifted, spliced
from unseen.graph.lower_bounds import lower_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.edge_changes import EdgeChange
    from unseen.rules.adjacency import Adjacency

    Ids = NDArray[np.int32]
    Places = NDArray[np.int64]


class Directed(NamedTuple):
    """Directed edges; the second half are those of the first half read backwards, in the same order."""

    sources: Ids
    relations: Ids
    targets: Ids

    @classmethod
    def of(cls, edges: Ids) -> Directed:
        """Edges of a graph in both directions."""
        heads, relations, tails = edges.T
        both = np.concatenate([2 * relations, 2 * relations + 1])
        return cls(np.concatenate([heads, tails]), both, np.concatenate([tails, heads]))


class NewRows(NamedTuple):
    """How rows are numbered after a change; all ascending."""

    gone: Places
    """Rows that have no edges any more."""
    places: Places
    """Rows before which new ones come."""
    entities: Ids
    relations: Ids
    """Of the new rows."""

    def __len__(self) -> int:
        return len(self.gone) + len(self.places)

    def numbers(self) -> Places:
        """The numbers of the new rows."""
        return places_after(self.gone, self.places)

    def moved(self, rows: Places) -> Places:
        """The new numbers of old rows; for a removed row, the number of the row after it."""
        return rows + np.searchsorted(self.places, rows, side="right") - np.searchsorted(self.gone, rows)

    def move_all(self, rows: Ids) -> None:
        """The same for a long column, in place."""
        starts = np.concatenate([self.places, self.gone + 1])
        order = np.argsort(starts, kind="stable")
        steps = np.repeat([1, -1], [len(self.places), len(self.gone)])[order]
        _move(rows, starts[order], np.append(0, np.cumsum(steps)))


def changed_adjacency(old: Adjacency, change: EdgeChange, graph: KnowledgeGraph) -> Adjacency:
    """The adjacency of a graph, from one of the same edges but for a change."""
    rows = old._replace(
        entity_rows=extended(old.entity_rows, graph.num_entities),
        relation_rows=extended(old.relation_rows, 2 * graph.num_relations),
    )
    return _with_edges(rows, Directed.of(change.removed), Directed.of(change.added)) if len(change) else rows


def _with_edges(old: Adjacency, gone: Directed, come: Directed) -> Adjacency:
    gone_rows, _ = _rows_of(old, gone)
    come_rows, are_there = _rows_of(old, come)
    new = _new_rows(old, come, gone_rows, come_rows, are_there)
    numbers = _numbers(new, come, come_rows, are_there)
    removed = np.sort(_places(old, gone, gone_rows, np.ones(len(gone_rows), bool)))
    order = np.lexsort((come.targets, come.relations, come.sources))
    places = _places(old, come, come_rows, are_there)[order]
    with ThreadPoolExecutor(available_cores()) as pool:  # copying holds no lock of Python's
        near = pool.submit(_near, old, gone, come)
        targets = pool.submit(spliced, old.targets, removed, places, come.targets[order])
        rows = pool.submit(_with_rows, old, new) if len(new) else None
        back_row = spliced(old.back_row, removed, places, come.sources[order])
        if len(new):
            new.move_all(back_row)
    back_row[places_after(removed, places)] = np.roll(numbers, len(numbers) // 2)[order]
    row_edges = spliced(old.row_edges, new.gone, new.places, old.row_edges[new.places])
    # what comes after a row: of one that is gone, the row that has its number now
    shift(row_edges, new.moved(gone_rows) + ~np.isin(gone_rows, new.gone), numbers + 1)
    return (rows.result() if rows else old)._replace(
        row_edges=row_edges,
        targets=targets.result(),
        back_row=back_row,
        near=near.result()[0],
        near_relation=near.result()[1],
    )


def _rows_of(old: Adjacency, edges: Directed) -> tuple[Places, NDArray[np.bool_]]:
    """The row that each edge belongs to or comes before, and whether it is there."""
    low, end = old.entity_rows[edges.sources], old.entity_rows[edges.sources + 1]
    rows = lower_bounds(low, end, lambda rows: old.row_relation[rows] < edges.relations)
    if not len(old.row_relation):
        return rows, np.zeros(len(rows), bool)
    return rows, (rows < end) & (old.row_relation[np.minimum(rows, len(old.row_relation) - 1)] == edges.relations)


def _new_rows(
    old: Adjacency, come: Directed, gone_rows: Places, come_rows: Places, are_there: NDArray[np.bool_]
) -> NewRows:
    touched, fewer = np.unique(gone_rows, return_counts=True)
    sizes = old.row_edges[touched + 1] - old.row_edges[touched] - fewer
    empty = touched[(sizes == 0) & ~np.isin(touched, come_rows[are_there])]
    pairs = np.stack([come_rows, come.sources, come.relations])[:, ~are_there]
    places, entities, relations = np.unique(pairs, axis=1)
    return NewRows(empty, places, entities.astype(np.int32), relations.astype(np.int32))


def _numbers(new: NewRows, come: Directed, rows: Places, are_there: NDArray[np.bool_]) -> Places:
    """The row of every added edge."""
    own = zip(new.entities.tolist(), new.relations.tolist(), strict=True)
    known = dict(zip(own, new.numbers().tolist(), strict=True))
    numbers = new.moved(rows)
    wanted = zip(come.sources[~are_there].tolist(), come.relations[~are_there].tolist(), strict=True)
    numbers[~are_there] = [known[pair] for pair in wanted]
    return numbers


def _places(old: Adjacency, edges: Directed, rows: Places, are_there: NDArray[np.bool_]) -> Places:
    """Where edges stand in their rows, or would stand."""
    low = old.row_edges[rows]
    end = old.row_edges[rows + are_there]
    return lower_bounds(low, end, lambda places: old.targets[places] < edges.targets)


def _near(old: Adjacency, gone: Directed, come: Directed) -> tuple[Ids, Ids]:
    """The edges of entities by target, then relation."""

    def places_of(edges: Directed) -> Places:
        def is_before(places: Places) -> NDArray[np.bool_]:
            found = old.near[places]
            before: NDArray[np.bool_] = (found < edges.targets) | (
                (found == edges.targets) & (old.near_relation[places] < edges.relations)
            )
            return before

        low, end = (old.row_edges[old.entity_rows[edges.sources + more]] for more in (0, 1))
        return lower_bounds(low, end, is_before)

    order = np.lexsort((come.relations, come.targets, come.sources))
    removed, places = np.sort(places_of(gone)), places_of(come)[order]
    return (
        spliced(old.near, removed, places, come.targets[order]),
        spliced(old.near_relation, removed, places, come.relations[order]),
    )


def _with_rows(old: Adjacency, new: NewRows) -> Adjacency:
    """With other entities and relations of rows, and other rows by relation."""
    entities, relations = old.row_entity[new.gone], old.row_relation[new.gone]
    by_relation = np.argsort(new.relations, kind="stable")
    removed = np.sort(_places_by_relation(old, new.gone, relations))
    places = _places_by_relation(old, new.places[by_relation], new.relations[by_relation])
    rows_by_relation = spliced(old.rows_by_relation, removed, places, new.entities)
    new.move_all(rows_by_relation)
    rows_by_relation[places_after(removed, places)] = new.numbers()[by_relation]
    return old._replace(
        entity_rows=shifted(old.entity_rows, entities + 1, new.entities + 1),
        row_entity=spliced(old.row_entity, new.gone, new.places, new.entities),
        row_relation=spliced(old.row_relation, new.gone, new.places, new.relations),
        relation_rows=shifted(old.relation_rows, relations + 1, new.relations + 1),
        rows_by_relation=rows_by_relation,
    )


def _places_by_relation(old: Adjacency, rows: Places, relations: Ids) -> Places:
    low, end = old.relation_rows[relations], old.relation_rows[relations + 1]
    return lower_bounds(low, end, lambda places: old.rows_by_relation[places] < rows)


@compiled
@no_type_check
def _move(rows, starts, steps):
    for place in range(len(rows)):
        low, high = 0, len(starts)
        while low < high:
            middle = (low + high) >> 1
            if starts[middle] <= rows[place]:
                low = middle + 1
            else:
                high = middle
        rows[place] += steps[low]
