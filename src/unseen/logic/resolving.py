"""What a question leaves to the graph: recorded kinds and variables of which nothing is said, as given sets.

`x a Country` is what the graph records: who is said to be a country is one, nobody else, so it becomes the set of these
entities. The relation is `rdf:type`, or one that the user names. Only members of a named kind are given so; which kind
something has (`?k : France a k`) can be predicted like any other relation.

A variable of which nothing is said (`exists y . capital(x, y)`) ranges over the entities that have been at its end of
the relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused, UnknownName
from unseen.graph.distinct import union
from unseen.graph.vocabulary import directed_relation, inverse_relation
from unseen.logic.algebra import (
    Anchor,
    Anything,
    Given,
    Loop,
    Members,
    Project,
    Query,
    Repeat,
    Valued,
    disjunction,
    rebuild,
)
from unseen.logic.formula import TYPE
from unseen.logic.joins.repetition import reached
from unseen.logic.traverse import answers, step
from unseen.logic.values.by_values import entities_by_values, text_of

PREDICTED_STEPS = 2
"""Predicted links that a repeated relation may take beyond what the graph joins."""

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names
    from unseen.graph.vocabulary import Lookup, Vocabulary


def type_relation_of(graph: KnowledgeGraph, named: str | None) -> int | None:
    """The id of the relation that tells kinds: the one named, else `rdf:type`; None if there is none."""
    if named is not None:
        return graph.vocabulary.relations.find(named)
    found = int(graph.vocabulary.relations.find_keys([TYPE[1:-1]])[0])
    return found if found >= 0 else None


class KindNames:
    """Names looked up in a vocabulary, where the relation of `x a Kind` may be another than `rdf:type`."""

    def __init__(self, names: Vocabulary | Lookup, type_relation: int | None, attributes: Names | None = None) -> None:
        self._names, self._type_relation, self._attributes = names, type_relation, attributes

    def entity_id(self, name: str) -> int:
        """As in the vocabulary."""
        return self._names.entity_id(name)

    def relation_id(self, name: str, inverse: bool = False) -> int:
        """As in the vocabulary, but for `rdf:type`: an error where the graph has no relation for it."""
        if name != TYPE:
            return self._relation_id(name, inverse)
        if self._type_relation is None:
            reason = "the graph has no rdf:type: name the relation that tells kinds by --type-relation (type_relation=)"
            raise QueryRefused(f"{reason}, or restrict answers by --answers-like (kind=)")
        return directed_relation(self._type_relation, inverse)

    def _relation_id(self, name: str, inverse: bool) -> int:
        try:
            return self._names.relation_id(name, inverse)
        except UnknownName:
            if self._attributes is None or not len(self._attributes) or self._attributes.find_all([name])[0] < 0:
                raise
            reason = f"`{name}` is an attribute, it leads to values and not to entities: write `{name}(x) > ...`"
            raise QueryRefused(reason) from None


def resolved(  # noqa: PLR0911  # one for each kind of node
    query: Query, graph: KnowledgeGraph, type_relation: int | None, *, ends: bool = True, predict: bool = False
) -> Query:
    """The query, which carries ids, with given sets for recorded kinds and for variables of which nothing is said.

    Such a variable ranges over the ends of its relation; without `ends` over everything that has an edge. With
    `predict` values that are not recorded are predicted.
    """
    match query:
        case Project(relation=int(directed), source=Anchor(entity=int(kind))) if is_kind(query, type_relation):
            return Given(Members(step(graph, directed, np.array([kind], np.int32))), _kind_text(graph, kind))
        case Project(relation=int(directed), source=Anything()) if ends:
            return rebuild(query, (Given(Members(graph.range_of(int(inverse_relation(directed)))[0])),))
        case Repeat():
            source = resolved(query.source, graph, type_relation, ends=ends, predict=predict)
            return _repeated(query, source, graph)
        case Loop():
            return Given(Members(answers(graph, query)))
        case Valued():
            return _by_values(graph, query, predict=predict)
        case Anything():
            return Given(Members(graph.connected_entities))
    return rebuild(
        query,
        tuple(resolved(child, graph, type_relation, ends=ends, predict=predict) for child in query.children),
    )


def _by_values(graph: KnowledgeGraph, query: Valued, *, predict: bool) -> Query:
    recorded = Given(Members(entities_by_values(graph, query)), text_of(query))
    if not predict:
        return recorded
    from unseen.logic.value_prediction.query_parts import with_predictions  # only where it is wanted

    return with_predictions(graph, query, recorded)


def _repeated(query: Repeat, source: Query, graph: KnowledgeGraph) -> Query:
    """All that known steps lead to, and up to `PREDICTED_STEPS` steps from there that may be predicted."""
    directed = int(query.relation)
    if query.sign == "?":
        return disjunction([source, Project(directed, source, variable=query.variable)])
    name, is_inverse = graph.vocabulary.relation_name(directed)
    said = f"is reached by {'^' if is_inverse else ''}{name}+"
    known = Given(Members(reached(graph, directed, answers(graph, source))), said)
    begins: Query = disjunction([source, known])
    if isinstance(source, Anchor | Given):
        begins = Given(Members(union(known.members.ids, answers(graph, source)).astype(np.int32)))
    parts: list[Query] = [known] if query.sign == "+" else [source, known]
    for _ in range(PREDICTED_STEPS):
        begins = Project(directed, begins)
        parts.append(begins)
    return disjunction(parts)


def is_kind(query: Query, type_relation: int | None) -> bool:
    """Whether a query with ids is `x a Kind` for a named kind."""
    return (
        type_relation is not None
        and isinstance(query, Project)
        and isinstance(query.source, Anchor)
        and query.relation == directed_relation(type_relation, inverse=True)
    )


def _kind_text(graph: KnowledgeGraph, kind: int) -> str:
    from unseen.logic.text_writer import quoted

    return f"a {quoted(graph.vocabulary.entity_name(kind))}"


def starts_from_anything(query: Query) -> bool:
    """Whether a variable of a query has nothing said about it."""
    return isinstance(query, Anything) or any(map(starts_from_anything, query.children))
