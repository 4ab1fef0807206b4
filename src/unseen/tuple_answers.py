"""Answers to questions that are no trees: known tuples first, then the most probable others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.answers import Answer, Answers
from unseen.logic.joins.best_tuples import TupleSearch
from unseen.logic.joins.tuple_values import in_order, may_be_answer, of_entities, with_values
from unseen.logic.values.shown import named_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.answers import Question
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.joins.best_tuples import Values
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.protocols import Estimator

MOST_CELLS = 1 << 24
"""Memberships that are computed together."""

Ranked = list[tuple["Values", float, bool, dict[str, int]]]


def pattern_answers(
    graph: KnowledgeGraph, question: Question, bound: BoundPattern, method: Estimator | None, method_name: str
) -> Answers:
    """The answers to a pattern; only known ones without a method."""
    allowed = _allowed(graph, question)
    table = bound.known(graph)
    columns = [table.columns[variable] for variable in bound.pattern.answers]
    is_shown = np.logical_and.reduce([may_be_answer(allowed, column) for column in columns])
    known = list(zip(*(column[is_shown].tolist() for column in columns), strict=True))
    rows: Ranked = in_order(graph, bound, [(one, 1.0, True, {}) for one in known], question.order)
    num_known = len(rows)
    ranked = [] if question.predicted_only else rows[: question.top]
    wanted, complete, missed = question.top - len(ranked), True, 0.0
    if method is not None and bound.plan is not None and wanted > 0:
        search = TupleSearch(graph, bound.plan, _estimate(graph, method), bound.names, allowed)
        taken = of_entities(bound, known)
        found = search.best(wanted, taken)
        others = [(one, value) for one, value in found.tuples.items() if one not in taken]
        others.sort(key=lambda pair: (-pair[1], pair[0]))
        predicted = [
            (row, value, False, found.inner[one])
            for one, value in others[:wanted]
            for row in with_values(graph, bound, one)
        ]
        ranked += in_order(graph, bound, predicted, question.order)[:wanted]
        complete, missed = search.is_complete(wanted, taken), found.missed
    shown = _shown(graph, bound.pattern.names, ranked, explain=question.explain)
    variables = bound.pattern.names if len(bound.pattern.names) > 1 else ()
    return Answers(
        question.text,
        method_name,
        graph,
        num_known,
        shown,
        question.warnings,
        variables,
        complete,
        0.0 if complete else missed,
    )


def _allowed(graph: KnowledgeGraph, question: Question) -> NDArray[np.bool_]:
    """For each entity, whether it may be a value of an answer variable."""
    allowed = np.zeros(graph.num_entities, bool)
    allowed[graph.candidates if question.candidates is None else question.candidates] = True
    return allowed


def _estimate(graph: KnowledgeGraph, method: Estimator) -> Callable[[Sequence[Query]], NDArray[np.float32]]:
    size = max(1, MOST_CELLS // max(1, graph.num_entities))

    def estimate(queries: Sequence[Query]) -> NDArray[np.float32]:
        rows = []
        for start in range(0, len(queries), size):
            part = queries[start : start + size]
            rows.append(method.estimate(graph, part).stacked(part).float().cpu().numpy())
        return np.concatenate(rows)

    return estimate


def _shown(graph: KnowledgeGraph, variables: tuple[str, ...], ranked: Ranked, *, explain: bool) -> tuple[Answer, ...]:
    ids = sorted({entity for values, _, _, inner in ranked for entity in (*values, *inner.values())})
    named = named_nodes(graph, ids)
    return tuple(
        _answer(rank, [named[entity] for entity in values], variables, probability, is_known=is_known)
        if not explain
        else _answer(
            rank,
            [named[entity] for entity in values],
            variables,
            probability,
            is_known=is_known,
            bindings={name: named[entity][0] for name, entity in inner.items()},
        )
        for rank, (values, probability, is_known, inner) in enumerate(ranked, start=1)
    )


def _answer(
    rank: int,
    named: list[tuple[str, str]],
    variables: tuple[str, ...],
    probability: float,
    *,
    is_known: bool,
    bindings: dict[str, str] | None = None,
) -> Answer:
    if len(named) == 1:
        return Answer(rank, named[0][0], is_known, probability, bindings or {}, key=named[0][1])
    values = {name: one[0] for name, one in zip(variables, named, strict=True)}
    keys = {name: one[1] for name, one in zip(variables, named, strict=True)}
    text = ", ".join(values.values())
    return Answer(rank, text, is_known, probability, bindings or {}, values=values, keys=keys)
