"""Values in tuples: which tuples of entities a search takes, and the tuples with values that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.joins.bindings import Bindings
from unseen.logic.joins.known_tuples import KnownTuples
from unseen.logic.ordering import order_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.ordering import Ordering

    Ids = NDArray[np.int32]
    Values = tuple[int, ...]
    Ranked = list[tuple[Values, float, bool, dict[str, int]]]


def may_be_answer(allowed: NDArray[np.bool_], column: Ids) -> NDArray[np.bool_]:
    """For each row whether it may stand in an answer; values always may."""
    is_value = column >= len(allowed)
    found: NDArray[np.bool_] = is_value | allowed[np.where(is_value, 0, column)]
    return found


def of_entities(bound: BoundPattern, tuples: Iterable[Values]) -> set[Values]:
    """The entities of tuples, without values."""
    if bound.plan is None or bound.plan.answers == bound.pattern.answers:
        return set(tuples)
    places = [bound.pattern.answers.index(answer) for answer in bound.plan.answers]
    return {tuple(one[place] for place in places) for one in tuples}


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


def in_order(graph: KnowledgeGraph, bound: BoundPattern, ranked: Ranked, orderings: Sequence[Ordering]) -> Ranked:
    """Rows in the order that is asked for, known ones first, each of them once without the columns that only order."""
    if orderings and ranked:
        nodes = np.array([row[0] for row in ranked], np.int64)
        columns = {answer.name: nodes[:, place] for place, answer in enumerate(bound.pattern.answers)}
        order = order_of_rows(graph, columns, np.array([row[1] for row in ranked]), orderings)
        is_known = np.array([row[2] for row in ranked])
        ranked = [ranked[place] for place in [*order[is_known[order]], *order[~is_known[order]]]]
    if not bound.pattern.hidden:
        return ranked
    shown = len(bound.pattern.answers) - bound.pattern.hidden
    first = {row[0][:shown]: row for row in reversed(ranked)}
    kept = dict.fromkeys(row[0][:shown] for row in ranked)
    return [(values, *first[values][1:]) for values in kept]
