"""Example questions made from a graph: each has a known answer, and is small enough to be read.

A question is built backwards from an entity that will be an answer to it: an edge that leads to the entity gives a
relation and a named thing, two edges give an *and*, an edge before an edge gives a second step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, unbind
from unseen.logic.text_writer import quoted, quoted_relation, to_formula
from unseen.logic.traverse import Traversal
from unseen.scoring.bound_statements import is_statement
from unseen.server.entity_edges import edges_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.graph import KnowledgeGraph

TRIES = 12
"""Entities that are tried for one kind of question, to have two known answers and then to have one."""
MOST_ANSWERS = 60
"""A question with more known answers is a poor example."""
MOST_CHARACTERS = 160


def example_questions(graph: KnowledgeGraph, count: int = 10) -> list[dict[str, Any]]:
    """Questions with what they show, as formulas; the same ones each time, fewer if the graph is small."""
    if graph.num_triples == 0:
        return []
    maker = _Maker(graph)
    found: dict[str, dict[str, Any]] = {}
    more = (maker.pairs(), maker.how_many(), maker.how_likely())
    others = [example for example in more if example is not None]
    for kind, make in maker.kinds * 2:
        if len(found) + len(others) >= count:
            break
        example = maker.example(kind, make, set(found))
        if example is not None:
            found[example["question"]] = example
    return [*found.values(), *others][:count]


class _Maker:
    """Questions about one graph."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.chance = np.random.default_rng(7)
        self.kinds: list[tuple[str, Callable[[int], Query | None]]] = [
            ("one relation", self.step_to),
            ("both", self.both),
            ("two steps", self.two_steps),
            ("but not", self.but_not),
            ("either", self.either),
            ("two steps, and another", self.two_steps_and),
            ("from both, one step on", self.both_then_step),
        ]

    def example(self, kind: str, make: Callable[[int], Query | None], taken: set[str]) -> dict[str, Any] | None:
        """A question of a kind that is not taken yet and has a few known answers."""
        for least in [2] * TRIES + [1] * TRIES:
            query = make(self.some_entity())
            if query is None:
                continue
            text = self.text(query)
            known = len(Traversal(self.graph).members(query))
            if text not in taken and least <= known <= MOST_ANSWERS and len(text) <= MOST_CHARACTERS:
                return {"question": text, "shows": kind, "known": known}
        return None

    def pairs(self) -> dict[str, Any] | None:
        """A question with two answer variables: both ends of the second of two steps."""
        for _ in range(TRIES):
            query = self.two_steps(self.some_entity())
            if not isinstance(query, Project) or not isinstance(query.source, Project):
                continue
            traversal = Traversal(self.graph)
            between = traversal.members(query.source).tolist()
            if len(between) > MOST_ANSWERS:
                continue
            known = sum(len(traversal.members(Project(query.relation, Anchor(one)))) for one in between)
            named = Project(query.relation, query.source, variable="x")
            text = self.text(named, "y").replace("?y : exists x . ", "?x, y : ")
            if 2 <= known <= MOST_ANSWERS and len(text) <= MOST_CHARACTERS:
                return {"question": text, "shows": "pairs", "known": known}
        return None

    def how_many(self) -> dict[str, Any] | None:
        """A question for a number."""
        found = self.example("how many", self.step_to, set())
        return found and found | {"question": found["question"].replace("?x :", "count x :")}

    def how_likely(self) -> dict[str, Any] | None:
        """A statement about two things that are at the ends of a relation, but not of one fact."""
        names = self.graph.vocabulary
        for _ in range(TRIES):
            relation = int(self.chance.choice(np.flatnonzero(np.diff(self.graph.by_head.offsets))))
            heads, tails = self.graph.by_head.of_relation(relation)
            place, other = self.chance.integers(len(heads), size=2).tolist()
            head, tail = int(heads[place]), int(tails[other])
            if tail not in (head, *tails[heads == head].tolist()):
                ends = ", ".join(quoted(names.entity_name(one)) for one in (head, tail))
                text = f"{quoted_relation(names.relations.name(relation))}({ends})"
                if is_statement(text) and len(text) <= MOST_CHARACTERS:
                    return {"question": text, "shows": "how likely", "known": 0}
        return None

    def text(self, query: Query, answer: str = "x") -> str:
        """The question as a formula."""
        vocabulary = self.graph.vocabulary
        return to_formula(unbind(query, vocabulary.entity_name, vocabulary.relation_name), answer)

    def some_entity(self) -> int:
        """An end of an edge, whose relation is chosen first so that rare ones come up too."""
        graph = self.graph
        edges = np.flatnonzero(np.diff(graph.by_head.offsets))
        row = graph.by_head.of_relation(int(self.chance.choice(edges)))[int(self.chance.integers(2))]
        return int(self.chance.choice(row))

    def steps_to(self, entity: int, count: int) -> list[Project]:
        """Different steps that lead to an entity, by different relations if possible."""
        edges = list(edges_of(self.graph, entity).items())
        self.chance.shuffle(edges)
        steps = [Project(inverse_relation(away), Anchor(int(self.chance.choice(others)))) for away, others in edges]
        return steps[:count]

    def step_to(self, entity: int) -> Query | None:
        """A step to an entity."""
        return next(iter(self.steps_to(entity, 1)), None)

    def both(self, entity: int) -> Query | None:
        """Two steps that meet in an entity."""
        steps = self.steps_to(entity, 2)
        return And(tuple(steps)) if len(steps) == 2 else None

    def two_steps(self, entity: int) -> Query | None:
        """A step that leads to an entity, from something that another step leads to."""
        for last in self.steps_to(entity, 3):
            between = int(last.source.entity)  # type: ignore[attr-defined]
            for first in self.steps_to(between, 3):
                if first.source != Anchor(entity):
                    return Project(last.relation, first)
        return None

    def but_not(self, entity: int) -> Query | None:
        """A step to several entities, without those that another step leads to."""
        for wanted in self.steps_to(entity, 4):
            members = Traversal(self.graph).members(wanted)
            if not 2 <= len(members) <= MOST_ANSWERS:
                continue
            for unwanted in self.steps_to(int(self.chance.choice(members)), 4):
                left = Traversal(self.graph).members(query := And((wanted, Not(unwanted))))
                if 0 < len(left) < len(members):
                    return query
        return None

    def either(self, entity: int) -> Query | None:
        """What one relation leads to from one thing or from another."""
        step = next(iter(self.steps_to(entity, 1)), None)
        if step is None or not isinstance(step.relation, int):
            return None
        other = int(self.chance.choice(self.graph.edges_from(step.relation)[0]))
        return None if step.source == Anchor(other) else Or((step, Project(step.relation, Anchor(other))))

    def two_steps_and(self, entity: int) -> Query | None:
        """Two steps, and another that meets them."""
        first, second = self.two_steps(entity), self.step_to(entity)
        return None if first is None or second is None else And((first, second))

    def both_then_step(self, entity: int) -> Query | None:
        """A step from where two others meet."""
        for last in self.steps_to(entity, 3):
            between = self.both(int(last.source.entity))  # type: ignore[attr-defined]
            if between is not None and Anchor(entity) not in [part.children[0] for part in between.children]:
                return Project(last.relation, between)
        return None
