"""Answers to questions that are not trees: known tuples first, then the most probable others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.asking.answers import Answer, Answers
from unseen.logic.formula import Negation, constants_of
from unseen.logic.joins.best_tuples import BoundTrees, FoundTuple, TupleSearch
from unseen.logic.joins.tuple_values import (
    RankedTuple,
    entity_places,
    first_known,
    in_order,
    may_be_answer,
    with_values,
)
from unseen.logic.values.shown import named_nodes
from unseen.reasons.explaining import NOTHING
from unseen.reasons.tuple_explaining import TupleExplainer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.asking.answers import Question
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.joins.best_tuples import Values
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.method import Method
    from unseen.reasons.explaining import Explanation

    Ids = NDArray[np.int32]

MOST_CELLS = 1 << 24
"""Memberships that are computed together."""
PROMISED = 4
"""How many times as many tuples as are wanted rules look for first."""
SMALLEST = 20_000
"""Entities and edges that a relation step costs at least."""
NAMED_SHARE = 0.5
"""Share of a budget for a question that names something."""


class SearchBudget(NamedTuple):
    """What a search may cost: edges that relation steps pass over, and steps that it may take at least."""

    edges: int
    least: int


NETWORK_BUDGET, BESIDE_NETWORK, QUICK_BUDGET = (
    SearchBudget(6_000_000, 20),
    SearchBudget(12_000_000, 40),
    SearchBudget(60_000_000, 96),
)


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
        self.trees = None if bound.plan is None else BoundTrees(graph, bound.plan, bound.names)
        self.places = entity_places(bound)
        self.allowed = _allowed(graph, question)

    def answers(self) -> Answers:
        found, is_whole = self._known()
        first, known = first_known(self.graph, self.bound, found, self.question.order, self.question.top)
        shown = [] if self.question.predicted_only else self._shown_known(first)
        complete, missed, wanted = is_whole, 0.0, self.question.top - len(shown)
        if self.method is not None and self.trees is not None and wanted > 0:
            search = self._search(self.trees, self._of_entities(found), wanted)
            best = search.best(wanted)
            self._by_sets(search)
            shown += self._predicted(best.best(wanted))[:wanted]
            complete, missed = is_whole and search.is_complete(wanted), best.missed
        warnings = [] if is_whole else [f"there are more than {len(found):,} known answers: only so many were counted"]
        if self.method is not None and self.bound.unplanned:
            complete, missed = False, 1.0
            warnings.append(f"only known answers are shown, no predicted ones: {self.bound.unplanned}")
        names = self.bound.pattern.names
        return Answers(
            self.question.text,
            self.method_name,
            self.graph,
            known,
            self._named(shown),
            (*self.question.warnings, *warnings),
            names if len(names) > 1 else (),
            complete,
            0.0 if complete else missed,
        )

    def _predicted(self, found: Sequence[tuple[Values, FoundTuple]]) -> list[RankedTuple]:
        """Predicted tuples with the recorded values of their entities, in the requested order."""
        rows = [
            RankedTuple(row, one.probability, False, one.assigned)
            for key, one in found
            for row in with_values(self.graph, self.bound, key)
        ]
        return self._ordered(rows)

    def _ordered(self, rows: Sequence[RankedTuple]) -> list[RankedTuple]:
        if not (self.question.order or self.bound.pattern.hidden):
            return list(rows)
        return in_order(self.graph, self.bound, rows, self.question.order)

    def _of_entities(self, rows: Ids) -> Ids:
        """The entities of tuples, without values."""
        return rows if self.places is None else rows[:, self.places]

    def _search(self, trees: BoundTrees, known: Ids, wanted: int) -> TupleSearch:
        """The search with the method; rules, which cost little beside a network, first find out where to look."""
        first = _rules_beside_network(self.method)
        if first is None:
            return TupleSearch(trees, self._estimate, self.allowed, known, most_steps=self._steps(QUICK_BUDGET))
        names = any(True for _ in constants_of(self.bound.pattern.formula, positive=True))
        quick = TupleSearch(
            trees,
            partial(self._by, first),
            self.allowed,
            known,
            most_steps=self._steps(BESIDE_NETWORK, names=names),
        )
        promises = quick.best(wanted).promises(PROMISED * wanted)
        steps = self._steps(NETWORK_BUDGET, names=names)
        return TupleSearch(
            trees, self._estimate, self.allowed, known, most_steps=steps, promises=promises, reads_sets=True
        )

    def _by_sets(self, search: TupleSearch) -> None:
        """Let a network that reads whole sets say how probable the tuples are that were found."""
        whole = search.trees.whole()
        if whole is not None and search.reads_sets and search.found.tuples:
            search.as_a_set(self._estimate([whole])[0])

    def _steps(self, budget: SearchBudget, *, names: bool = False) -> int:
        """Relation steps that a search may take; questions that name something find more with fewer."""
        size = max(SMALLEST, self.graph.num_entities + self.graph.num_triples)
        share = NAMED_SHARE if names else 1.0
        return int(max(budget.least * share, budget.edges * share // size))

    def _known(self) -> tuple[Ids, bool]:
        """The tuples that the graph knows, one a row, and whether these are all."""
        table, is_whole = self.bound.known(self.graph)
        columns = [table.columns[variable] for variable in self.bound.pattern.answers]
        is_shown = np.logical_and.reduce([may_be_answer(self.allowed, column) for column in columns])
        return np.stack([column[is_shown] for column in columns], axis=1), is_whole

    def _shown_known(self, few: list[RankedTuple]) -> list[RankedTuple]:
        """The first known tuples; with negation they are not certain, because an excluding fact may be missing."""
        is_doubtful = self.method is not None and any(isinstance(part, Negation) for part in self.bound.pattern.parts)
        if self.trees is None or not few or not (is_doubtful or self.question.explain):
            return few
        entities = list(map(tuple, self._of_entities(np.array([one.assigned for one in few], np.int32)).tolist()))
        witnesses = self.bound.witnesses(self.graph, list(dict.fromkeys(entities)))
        assigned = [witnesses[one] for one in entities]
        probable = self._probabilities(self.trees, assigned) if is_doubtful else [1.0] * len(few)
        ranked = [one._replace(probability=p, assigned=a) for one, p, a in zip(few, probable, assigned, strict=True)]
        return ranked if self.question.order else sorted(ranked, key=lambda one: -one.probability)

    def _probabilities(self, trees: BoundTrees, assigned: Sequence[Values]) -> list[float]:
        """The product of the memberships in the trees of all variables, for each assignment."""
        steps = [[(trees.own(one[:place]), one[place]) for place in range(len(one))] for one in assigned]
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
        named = named_nodes(self.graph, ids)
        why = self._explained(ranked) if self.question.explain else [NOTHING] * len(ranked)
        return tuple(
            _answer(rank, one, [named[entity] for entity in one.values], self.bound.pattern.names, reasons)
            for rank, (one, reasons) in enumerate(zip(ranked, why, strict=True), start=1)
        )

    def _explained(self, ranked: Sequence[RankedTuple]) -> list[Explanation]:
        if self.trees is None:
            return [NOTHING] * len(ranked)
        explainer = TupleExplainer(self.graph, self.trees, self.method, self.method_name)
        return explainer.explained([(one.assigned, one.probability, one.is_known) for one in ranked])


def _rules_beside_network(method: Method | None) -> Method | None:
    """The rules that a method has beside a network; None if it has no network."""
    inner = getattr(method, "method", method)
    return None if getattr(inner, "beside_rules", None) is None else getattr(inner, "rules", None)


def _allowed(graph: KnowledgeGraph, question: Question) -> NDArray[np.bool_]:
    """For each entity, whether it may be a value of an answer variable."""
    allowed = np.zeros(graph.num_entities, bool)
    allowed[graph.candidates if question.candidates is None else question.candidates] = True
    return allowed


def _answer(
    rank: int, one: RankedTuple, named: list[tuple[str, str]], variables: tuple[str, ...], why: Explanation
) -> Answer:
    if len(named) == 1:
        return Answer(rank, named[0][0], one.is_known, one.probability, *why, key=named[0][1])
    values = {name: shown for name, (shown, _) in zip(variables, named, strict=True)}
    keys = {name: key for name, (_, key) in zip(variables, named, strict=True)}
    return Answer(rank, ", ".join(values.values()), one.is_known, one.probability, *why, values=values, keys=keys)
