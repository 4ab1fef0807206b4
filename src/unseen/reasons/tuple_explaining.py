"""Explanations of tuples: of each variable that has a value, the explanation of that value in its own tree.

A pattern is taken apart into one tree for each variable with a value (`logic/joins/cutting`). The tree of a variable
has the values of those before it as names, so it is explained like any other question, and a tuple has the
explanations of its values together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.traverse import Traversal
from unseen.logic.variables import with_variables
from unseen.reasons.explaining import NOTHING, Explainer, Explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.joins.best_tuples import BoundTrees, Values
    from unseen.logic.method import Method

    Found = dict[tuple[Query, int, bool], Explanation]


class TupleExplainer:
    """Explanations of the tuples of one question."""

    def __init__(
        self, graph: KnowledgeGraph, trees: BoundTrees, method: Method | None = None, method_name: str = ""
    ) -> None:
        self.graph, self.trees, self._method = graph, trees, (method, method_name)

    def explained(self, tuples: Sequence[tuple[Values, float, bool]]) -> list[Explanation]:
        """Why each tuple is an answer; given by the values of all variables, its probability, whether it is known."""
        steps = [self._steps(assigned) for assigned, _, _ in tuples]
        wanted: dict[tuple[Query, int, bool], float] = {}
        for one, (_, probability, is_known) in zip(steps, tuples, strict=True):
            for tree, value in one:
                wanted.setdefault((tree, value, is_known), probability)
        found = self._by_value(wanted)
        return [
            self._together([found.get((tree, value, is_known), NOTHING) for tree, value in one], assigned)
            for one, (assigned, _, is_known) in zip(steps, tuples, strict=True)
        ]

    def _steps(self, assigned: Values) -> list[tuple[Query, int]]:
        """The tree of each variable, those before it named, with its value."""
        trees = ((self.trees.own(assigned[:place]), value) for place, value in enumerate(assigned))
        return [(with_variables(tree, answer=""), value) for tree, value in trees if tree is not None]

    def _by_value(self, wanted: dict[tuple[Query, int, bool], float]) -> Found:
        """The explanation of each value in its tree; all are asked of the method in one batch."""
        method = self._method[0]
        trees = list(dict.fromkeys(tree for tree, _, is_known in wanted if not is_known))
        execution = method.estimate(self.graph, trees) if method is not None and trees else None
        traversal = Traversal(self.graph) if execution is None else execution.traversal
        explainer = Explainer(self.graph, traversal, execution, *self._method)
        found = {(t, value, True): explainer.known(t, value) for t, value, is_known in wanted if is_known}
        for tree in trees:
            pairs = [(value, p) for (t, value, is_known), p in wanted.items() if t == tree and not is_known]
            explanations = explainer.predicted(tree, pairs)
            found |= {(tree, value, False): why for (value, _), why in zip(pairs, explanations, strict=True)}
        return found

    def _together(self, explanations: Sequence[Explanation], assigned: Values) -> Explanation:
        """One explanation of a tuple, with the values of inner variables that have one."""
        plan, names = self.trees.plan, self.graph.vocabulary
        values = zip(plan.steps, assigned, strict=False)
        bindings = {s.variable.name: names.entity_name(v) for s, v in values if s.variable not in plan.answers}
        for one in explanations:
            bindings |= {name: value for name, value in one.bindings.items() if name not in bindings}
        edges = dict.fromkeys(edge for one in explanations for edge in one.edges)
        reasons = dict.fromkeys(reason for one in explanations for reason in one.reasons)
        return Explanation(bindings, tuple(edges), tuple(reasons))
