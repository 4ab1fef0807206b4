"""Values in tuples: which tuples of entities a search takes, and the tuples with values that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.logic.joins.bindings import Bindings
from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.ordering import order_of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.ordering import Ordering

    Ids = NDArray[np.int32]
    Values = tuple[int, ...]


class RankedTuple(NamedTuple):
    """One tuple: its values, its probability, whether it is known, and the values of all assigned variables."""

    values: Values
    probability: float
    is_known: bool
    assigned: Values = ()


def may_be_answer(allowed: NDArray[np.bool_], column: Ids) -> NDArray[np.bool_]:
    """For each row whether it may stand in an answer; values always may."""
    is_value = column >= len(allowed)
    found: NDArray[np.bool_] = is_value | allowed[np.where(is_value, 0, column)]
    return found


def entity_places(bound: BoundPattern) -> list[int] | None:
    """Where the entities that a search takes stand in a tuple; None if a tuple has nothing else."""
    if bound.plan is None or bound.plan.answers == bound.pattern.answers:
        return None
    return [bound.pattern.answers.index(answer) for answer in bound.plan.answers]


def with_values(graph: KnowledgeGraph, bound: BoundPattern, entities: Values) -> list[Values]:
    """The answers that have these entities: one for each combination of their recorded values."""
    if bound.plan is None or bound.plan.answers == bound.pattern.answers:
        return [entities]
    known = KnownTuples(graph, bound.names.entity_id, bound.names.relation_id)
    columns = {v: np.array([e], np.int32) for v, e in zip(bound.plan.answers, entities, strict=True)}
    table = known.extended(bound.value_part(), Bindings(columns, 1), bound.pattern.answers)
    if not table.rows:
        return []
    found = table.projected(bound.pattern.answers)
    return list(zip(*(found.columns[answer].tolist() for answer in bound.pattern.answers), strict=True))


def first_known(
    graph: KnowledgeGraph, bound: BoundPattern, rows: Ids, orderings: Sequence[Ordering], most: int
) -> tuple[list[RankedTuple], int]:
    """The first of some known tuples in the order that is asked for, and how many there are.

    There may be millions of rows, so they stay columns of ids until the first ones are chosen.
    """
    if orderings and len(rows):
        columns = {answer.name: rows[:, place] for place, answer in enumerate(bound.pattern.answers)}
        rows = rows[order_of_rows(graph, columns, np.ones(len(rows)), orderings)]
    shown = rows.shape[1] - bound.pattern.hidden
    if bound.pattern.hidden:
        rows = rows[np.sort(np.unique(rows[:, :shown], axis=0, return_index=True)[1])]
    return [RankedTuple(tuple(row[:shown]), 1.0, True, tuple(row)) for row in rows[:most].tolist()], len(rows)


def in_order(
    graph: KnowledgeGraph, bound: BoundPattern, rows: Sequence[RankedTuple], orderings: Sequence[Ordering]
) -> list[RankedTuple]:
    """Predicted rows in the order that is asked for, each of them once without the columns that only order."""
    ranked = list(rows)
    if orderings and ranked:
        nodes = np.array([row.values for row in ranked], np.int64)
        columns = {answer.name: nodes[:, place] for place, answer in enumerate(bound.pattern.answers)}
        order = order_of_rows(graph, columns, np.array([row.probability for row in ranked]), orderings)
        ranked = [ranked[place] for place in order.tolist()]
    if not bound.pattern.hidden:
        return ranked
    shown = len(bound.pattern.answers) - bound.pattern.hidden
    first = {row.values[:shown]: row for row in reversed(ranked)}
    kept = dict.fromkeys(row.values[:shown] for row in ranked)
    return [first[values]._replace(values=values) for values in kept]
