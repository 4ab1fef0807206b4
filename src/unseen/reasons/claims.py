"""Why a statement is believed: a proof or reasons for each of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.algebra import And, Not, Or, Query, walk
from unseen.logic.closed import Some
from unseen.logic.events import At
from unseen.reasons.explaining import Explainer, Explanation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.logic.execute import Execution
    from unseen.logic.protocols import Estimator
    from unseen.logic.traverse import Traversal


def sets_of(statement: Query) -> list[Query]:
    """The sets of a statement as it is written, which reasons are found by."""
    found: dict[Query, None] = {}
    for node in walk(statement):
        if isinstance(node, At):
            found.setdefault(node.event)
        elif isinstance(node, Some):
            found.setdefault(node.part)
    return list(found)


def explanation_of(
    statement: Query,
    traversal: Traversal,
    execution: Execution | None,
    method: tuple[Estimator | None, str],
    candidates: NDArray[np.bool_],
) -> Explanation:
    """The explanations of all parts of a statement, one after the other."""
    explainer = Explainer(traversal.graph, traversal, execution, *method)
    return _Parts(explainer, candidates).explained(statement)


class _Parts:
    """What the parts of one statement say of which entity."""

    def __init__(self, explainer: Explainer, candidates: NDArray[np.bool_]) -> None:
        self._explainer, self._candidates = explainer, candidates
        self._traversal, self._execution = explainer.traversal, explainer.execution
        self._claims: dict[tuple[Query, int], str | None] = {}
        self._excluded: dict[tuple[Query, int], None] = {}

    def explained(self, statement: Query) -> Explanation:
        """The proofs and reasons in the order of the statement, each once."""
        self._claim(statement)
        found = [self._one(query, entity, name) for (query, entity), name in self._claims.items()]
        bindings = {name: value for one in found for name, value in one.bindings.items()}
        edges = tuple(dict.fromkeys(edge for one in found for edge in one.edges))
        reasons = [reason for one in found for reason in one.reasons]
        return Explanation(bindings, edges, tuple(dict.fromkeys([*reasons, *self._explainer.absent(self._excluded)])))

    def _one(self, query: Query, entity: int, name: str | None) -> Explanation:
        if self._traversal.contains(query, entity):
            found = self._explainer.known(query, entity)
        else:
            predicted = self._explainer.predicted(query, [(entity, self._value(query, entity))])
            found = predicted[0] if predicted else Explanation({})
        if name is None:
            return found
        own = {name: self._traversal.graph.vocabulary.entity_name(entity)}
        return found._replace(bindings=own | found.bindings)

    def _claim(self, node: Query) -> None:
        """Note what a part claims."""
        match node:
            case At(entity=int(entity)):
                self._claims.setdefault((node.event, entity))
            case Some():
                self._claims.setdefault((node.part, self._likeliest(node.part)), node.variable)
            case And():
                for part in node.parts:
                    self._claim(part)
            case Or():
                self._claim(max(node.parts, key=self._strength))
            case Not():
                self._exclude(node.part)

    def _exclude(self, node: Query) -> None:
        """Note what a part denies."""
        if isinstance(node, At) and isinstance(node.entity, int):
            self._excluded.setdefault((node.event, node.entity))
        elif isinstance(node, Not):
            self._claim(node.part)
        elif isinstance(node, And | Or):
            for part in node.parts:
                self._exclude(part)

    def _strength(self, node: Query) -> float:
        """How credible a part is, to choose among alternatives."""
        match node:
            case At(entity=int(entity)):
                return self._value(node.event, entity)
            case Some():
                return self._value(node.part, self._likeliest(node.part))
            case Or():
                return max(map(self._strength, node.parts))
            case And():
                return min(map(self._strength, node.parts))
            case Not():
                return 1 - self._strength(node.part)
        return 1.0

    def _value(self, query: Query, entity: int) -> float:
        if self._execution is None:
            return float(self._traversal.contains(query, entity))
        return float(self._execution.memberships(query)[entity])

    def _likeliest(self, query: Query) -> int:
        """The known member with the smallest id, else the most probable candidate."""
        known = self._traversal.members(query)
        known = known[self._candidates[known]]
        if len(known) or self._execution is None:
            return int(known[0]) if len(known) else int(np.flatnonzero(self._candidates)[0])
        values = self._execution.memberships(query).float().cpu().numpy()
        return int(np.where(self._candidates, values, -1).argmax())
