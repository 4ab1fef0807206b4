"""Answers to questions that are no trees: known tuples first, then the most probable others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.answers import Answer, Answers
from unseen.logic.formula import Negation, constants_of
from unseen.logic.joins.best_tuples import BoundTrees, TupleSearch
from unseen.reasons.explaining import NOTHING
from unseen.reasons.tuple_explaining import TupleExplainer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.answers import Question
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.joins.best_tuples import Values
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.method import Method
    from unseen.reasons.explaining import Explanation

MOST_CELLS = 1 << 24
"""Memberships that are computed together."""
PROMISED = 4
"""How many times as many tuples as are wanted rules look for first."""
SMALLEST = 20_000
"""Entities and edges that a relation step costs at least."""
NAMED_SHARE = 0.5
"""Share of a budget for a question that names something."""


class Budget(NamedTuple):
    """What a search may cost: edges that relation steps pass over, and steps that it may take at least."""

    edges: int
    least: int


NETWORK_BUDGET, BESIDE_NETWORK, QUICK_BUDGET = Budget(6_000_000, 20), Budget(12_000_000, 40), Budget(60_000_000, 96)


class RankedTuple(NamedTuple):
    """One tuple: its values, its probability, whether it is known, and the values of all assigned variables."""

    values: Values
    probability: float
    is_known: bool
    assigned: Values = ()


def pattern_answers(
    graph: KnowledgeGraph, question: Question, bound: BoundPattern, method: Method | None, method_name: str
) -> Answers:
    """The answers to a pattern; only known ones without a method."""
    return _Tuples(graph, question, bound, method, method_name).answers()


class _Tuples:
    """One question on one graph."""

    def __init__(
        self, graph: KnowledgeGraph, question: Question, bound: BoundPattern, method: Method | None, method_name: str
    ) -> None:
        self.graph, self.question, self.bound = graph, question, bound
        self.method, self.method_name = method, method_name
        self.trees = BoundTrees(graph, bound.plan, bound.names)
        self.allowed = _allowed(graph, question)

    def answers(self) -> Answers:
        known, is_whole = self._known()
        shown = [] if self.question.predicted_only else self._shown_known(known)
        complete, missed, wanted = is_whole, 0.0, self.question.top - len(shown)
        if self.method is not None and wanted > 0:
            search = self._search(known, wanted)
            found = search.best(wanted)
            shown += [RankedTuple(key, one.probability, False, one.assigned) for key, one in found.best(wanted)]
            complete, missed = is_whole and search.is_complete(wanted), found.missed
        warnings = () if is_whole else (f"there are more than {len(known):,} known answers: only so many were counted",)
        names = self.bound.pattern.names
        return Answers(
            self.question.text,
            self.method_name,
            self.graph,
            len(known),
            self._named(shown),
            (*self.question.warnings, *warnings),
            names if len(names) > 1 else (),
            complete,
            0.0 if complete else missed,
        )

    def _search(self, known: Sequence[Values], wanted: int) -> TupleSearch:
        """The search with the method; rules, which cost little beside a network, first find out where to look."""
        first = _rules_beside_network(self.method)
        if first is None:
            return TupleSearch(self.trees, self._estimate, self.allowed, known, most_steps=self._steps(QUICK_BUDGET))
        names = any(True for _ in constants_of(self.bound.pattern.formula, positive=True))
        quick = TupleSearch(
            self.trees,
            partial(self._by, first),
            self.allowed,
            known,
            most_steps=self._steps(BESIDE_NETWORK, names=names),
        )
        promises = quick.best(wanted).promises(PROMISED * wanted)
        steps = self._steps(NETWORK_BUDGET, names=names)
        return TupleSearch(self.trees, self._estimate, self.allowed, known, most_steps=steps, promises=promises)

    def _steps(self, budget: Budget, *, names: bool = False) -> int:
        """Relation steps that a search may take; questions that name something find more with fewer."""
        size = max(SMALLEST, self.graph.num_entities + self.graph.num_triples)
        share = NAMED_SHARE if names else 1.0
        return int(max(budget.least * share, budget.edges * share // size))

    def _known(self) -> tuple[list[Values], bool]:
        """The tuples that the graph knows, and whether these are all."""
        table, is_whole = self.bound.known(self.graph)
        columns = [table.columns[variable] for variable in self.bound.pattern.answers]
        is_shown = np.logical_and.reduce([self.allowed[column] for column in columns])
        return list(zip(*(column[is_shown].tolist() for column in columns), strict=True)), is_whole

    def _shown_known(self, known: Sequence[Values]) -> list[RankedTuple]:
        """The first known tuples; negation makes them less than certain, because what excludes may be missing."""
        few = list(known[: self.question.top])
        is_doubtful = self.method is not None and any(isinstance(part, Negation) for part in self.bound.pattern.parts)
        if not (is_doubtful or self.question.explain):
            return [RankedTuple(one, 1.0, True) for one in few]
        witnesses = self.bound.witnesses(self.graph, few)
        probable = self._probabilities([witnesses[one] for one in few]) if is_doubtful else [1.0] * len(few)
        ranked = [RankedTuple(one, p, True, witnesses[one]) for one, p in zip(few, probable, strict=True)]
        return sorted(ranked, key=lambda one: -one.probability)

    def _probabilities(self, assigned: Sequence[Values]) -> list[float]:
        """The product of the memberships in the trees of all variables, for each assignment."""
        steps = [[(self.trees.own(one[:place]), one[place]) for place in range(len(one))] for one in assigned]
        queries = list(dict.fromkeys(tree for one in steps for tree, _ in one if tree is not None))
        rows = dict(zip(queries, self._estimate(queries), strict=True)) if queries else {}
        return [float(np.prod([rows[tree][value] for tree, value in one if tree is not None])) for one in steps]

    def _estimate(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        if self.method is None:
            raise TypeError("nothing predicts without a method")
        return self._by(self.method, queries)

    def _by(self, method: Method, queries: Sequence[Query]) -> NDArray[np.float32]:
        size = max(1, MOST_CELLS // max(1, self.graph.num_entities))
        parts = [queries[start : start + size] for start in range(0, len(queries), size)]
        rows = [method.estimate(self.graph, part).stacked(part).float().cpu().numpy() for part in parts]
        return np.concatenate(rows)

    def _named(self, ranked: Sequence[RankedTuple]) -> tuple[Answer, ...]:
        ids = sorted({entity for one in ranked for entity in one.values})
        named = dict(zip(ids, self.graph.vocabulary.entities.named(ids), strict=True)) if ids else {}
        why = self._explained(ranked) if self.question.explain else [NOTHING] * len(ranked)
        return tuple(
            _answer(rank, one, [named[entity] for entity in one.values], self.bound.pattern.names, reasons)
            for rank, (one, reasons) in enumerate(zip(ranked, why, strict=True), start=1)
        )

    def _explained(self, ranked: Sequence[RankedTuple]) -> list[Explanation]:
        explainer = TupleExplainer(self.graph, self.trees, self.method, self.method_name)
        return explainer.explained([(one.assigned, one.probability, one.is_known) for one in ranked])


def _rules_beside_network(method: Method | None) -> Method | None:
    """The rules that a method has beside a network; None if it has no network."""
    inner = getattr(method, "method", method)
    return None if getattr(inner, "beside_rules", None) is None else getattr(inner, "rules", None)


def _allowed(graph: KnowledgeGraph, question: Question) -> NDArray[np.bool_]:
    """For each entity, whether it may be a value of an answer variable."""
    allowed = np.zeros(graph.num_entities, bool)
    allowed[graph.connected_entities if question.candidates is None else question.candidates] = True
    return allowed


def _answer(
    rank: int, one: RankedTuple, named: list[tuple[str, str]], variables: tuple[str, ...], why: Explanation
) -> Answer:
    if len(named) == 1:
        return Answer(rank, named[0][0], one.is_known, one.probability, *why, key=named[0][1])
    values = {name: shown for name, (shown, _) in zip(variables, named, strict=True)}
    keys = {name: key for name, (_, key) in zip(variables, named, strict=True)}
    return Answer(rank, ", ".join(values.values()), one.is_known, one.probability, *why, values=values, keys=keys)
