"""CQD by its definition: the best of all assignments of the inner variables, one after the other."""

from __future__ import annotations

from itertools import product

import numpy as np

from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import is_inverse, undirected_relation
from unseen.logic.algebra import Anchor, And, Not, Project, Query
from unseen.methods.cqd_beam import BeamOptions, VectorLinks
from unseen.methods.cqd_beam.atoms import KNOWN_SPREAD

Path = tuple[int, ...]


class Definition:
    """Memberships of one graph under some options."""

    def __init__(self, graph: KnowledgeGraph, vectors: VectorLinks, options: BeamOptions) -> None:
        self.graph, self.options = graph, options
        self.entities, self.relations = vectors.entities.double().numpy(), vectors.relations.double().numpy()
        self.edges = set(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))
        self.candidates = set(graph.connected_entities.tolist())

    def membership(self, query: Query, entity: int) -> float:
        """The best over all assignments of the variables that are not under a negation."""
        variables = list(_variables(query, ()))
        everyone = range(self.graph.num_entities)
        assignments = (dict(zip(variables, values, strict=True)) for values in product(everyone, repeat=len(variables)))
        return max(self._value(query, entity, (), assignment) for assignment in assignments)

    def _value(self, query: Query, entity: int, path: Path, assignment: dict[Path, int]) -> float:
        match query:
            case Anchor():
                return float(query.entity == entity)
            case Project():
                anchor = query.source.entity if isinstance(query.source, Anchor) else None
                head = assignment[path] if anchor is None else anchor
                if head not in self.candidates and anchor is None:
                    return 0.0
                source = self._value(query.source, head, (*path, 0), assignment)
                return self._both(source, self.link(head, query.relation, entity))
            case Not():
                return 1 - min(1, self.options.negation * self.membership(query.part, entity)) ** self.options.sharpness
        parts = [self._value(part, entity, (*path, place), assignment) for place, part in enumerate(query.children)]
        join = self._both if isinstance(query, And) else self._either
        total = parts[0]
        for part in parts[1:]:
            total = join(total, part)
        return total

    def link(self, head: int, relation: int, tail: int) -> float:
        if tail not in self.candidates:
            return 0.0
        logits = self._logits(head, relation)
        known = [self._is_edge(head, relation, other) for other in range(self.graph.num_entities)]
        predicted = self._scaled(logits, sum(known))[tail]
        if not self.options.known_facts:
            return predicted
        return 1 - KNOWN_SPREAD * (1 - predicted) if known[tail] else self.options.ceiling * predicted

    def _logits(self, head: int, relation: int) -> np.ndarray:
        half = self.entities.shape[1] // 2
        first, step = (vector[:half] + 1j * vector[half:] for vector in (self.entities[head], self.relations[relation]))
        tails = self.entities[:, :half] + 1j * self.entities[:, half:]
        return np.real((first * step * tails.conj()).sum(axis=1)) + self.options.popularity * self._popularity()

    def _popularity(self) -> np.ndarray:
        degrees = np.bincount([*self.graph.heads, *self.graph.tails], minlength=self.graph.num_entities)
        return np.log(1 + degrees) - np.mean([np.log(1 + degrees[entity]) for entity in self.candidates])

    def _scaled(self, logits: np.ndarray, degree: int) -> np.ndarray:
        inside = logits[sorted(self.candidates)]
        if self.options.scale == "min-max":
            return (logits - inside.min()) / (inside.max() - inside.min())
        if self.options.scale == "softmax":
            return np.minimum(1, max(1, degree) * np.exp(logits) / np.exp(inside).sum())
        return 1 / (1 + np.exp(-logits))

    def _is_edge(self, head: int, relation: int, tail: int) -> bool:
        ends = (tail, head) if is_inverse(relation) else (head, tail)
        return (ends[0], undirected_relation(relation), ends[1]) in self.edges

    def _both(self, left: float, right: float) -> float:
        return left * right if self.options.logic == "product" else min(left, right)

    def _either(self, left: float, right: float) -> float:
        return left + right - left * right if self.options.logic == "product" else max(left, right)


def _variables(query: Query, path: Path) -> list[Path]:
    """The projections from a variable, by the way to them; those under a negation have their own maximum."""
    if isinstance(query, Not):
        return []
    own = [path] if isinstance(query, Project) and not isinstance(query.source, Anchor) else []
    inner = [found for place, part in enumerate(query.children) for found in _variables(part, (*path, place))]
    return own + inner
