"""The parts of a method that predict: rules, a model beside them, or a model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from unseen.rules.relation_rules import paths_among, relation_paths

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.protocols import Estimator
    from unseen.rules.rule_set import PathRules, Rules


@runtime_checkable
class PredictsByRules(Protocol):
    """A method that mines the rules of a graph, alone or beside a model."""

    def rules_of(self, graph: KnowledgeGraph) -> Rules:
        """The rules of a graph."""
        ...

    @property
    def beside_rules(self) -> Estimator | None:
        """The model that predicts beside the rules; None if there is none."""
        ...


class MethodParts(NamedTuple):
    """The two sides of a method, as far as it has them."""

    rules: PredictsByRules | None
    model: Estimator | None

    @classmethod
    def of(cls, method: Estimator | None) -> MethodParts:
        """The parts of a method, or of the method inside of one that calibrates it."""
        for one in (method, getattr(method, "method", None)):
            if isinstance(one, PredictsByRules):
                return cls(one, one.beside_rules)
        return cls(None, method)

    def paths(self, graph: KnowledgeGraph, relation: int) -> PathRules:
        """The rules over paths for a directed relation: the method's own, or mined now."""
        return (
            relation_paths(graph, relation) if self.rules is None else paths_among(self.rules.rules_of(graph), relation)
        )
