"""All questions of one link: these are few enough to be listed, not drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.edge_index import EdgeIndex, index_of
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.sampling.selection_rules import MAX_ANSWERS
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.sampling.selection_rules import SelectionRules, SplitGraphs
    from unseen.logic.shapes import Shape

    Rows = NDArray[np.int64]


def is_one_link(shape: Shape) -> bool:
    """Whether a shape asks for one link from one entity."""
    return shape.skeleton == SHAPES["1p"].skeleton


def all_links(graphs: SplitGraphs, rules: SelectionRules) -> QueryTable:
    """Every (entity, directed relation) with not too many answers, and in validation and test one to predict."""
    index = index_of(graphs.complete, graphs.observed)
    chosen = _chosen_groups(index, rules)
    slots = np.column_stack([index.group_entity[chosen], index.group_relation[chosen]])
    easy = _cut(index, index.group_start[chosen], index.group_missing[chosen])
    hard = _cut(index, index.group_missing[chosen], index.group_start[chosen + 1])
    return QueryTable(rules.shape, slots, easy, hard)


def _chosen_groups(index: EdgeIndex, rules: SelectionRules) -> Rows:
    total, hard = np.diff(index.group_start), index.group_start[1:] - index.group_missing
    few = (hard if rules.compatible and not rules.training else total) <= MAX_ANSWERS
    return np.flatnonzero(few if rules.training else few & (hard > 0))


def _cut(index: EdgeIndex, starts: Rows, ends: Rows) -> Ragged:
    """Row i: the targets between `starts[i]` and `ends[i]`."""
    lengths = ends - starts
    shift = starts - (np.cumsum(lengths) - lengths)
    return Ragged.from_lengths(lengths, index.targets[np.repeat(shift, lengths) + np.arange(int(lengths.sum()))])
