"""From a question as written to one with the ids of a graph: parsing, names, and who may be an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from unseen.answers import DEFAULT_TOP, Question
from unseen.errors import QueryRefused, UnseenError
from unseen.logic.algebra import Anchor, Loop, Project, Query, Repeat, bind, walk
from unseen.logic.impossible_joins import impossible_joins
from unseen.logic.joins.best_tuples import PatternNames
from unseen.logic.joins.bound_pattern import BoundPattern
from unseen.logic.pattern import Pattern
from unseen.logic.resolving import KindNames, resolved, starts_from_anything, type_relation_of
from unseen.logic.restricting import ends_like, related_to_named, without_given
from unseen.logic.variables import with_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup

    Ids = NDArray[np.int32]

_SPARQL = re.compile(
    r"\s*(#[^\n]*\n\s*)*(PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|WITH)\b", re.IGNORECASE
)


def prepare(  # noqa: PLR0913  # as for `ask`
    graph: KnowledgeGraph,
    question: str | Query | Pattern,
    *,
    top: int | None = None,
    explain: bool = False,
    predicted_only: bool = False,
    lookup: Lookup | None = None,
    kind: str | None = None,
    type_relation: str | None = None,
    new: bool = False,
) -> Question:
    """The question with the ids of a graph; an error if it does not parse, cannot be answered, or has unknown names.

    `lookup` holds names that were looked up before, see `lookup_for`. `warnings` of the question say why it can hardly
    have an answer.
    """
    if top is not None and top < 1:
        raise UnseenError(f"the number of answers must be at least 1, not {top}")
    parsed, limit = parse(question, graph)
    types = type_relation_of(graph, type_relation)
    names = KindNames(lookup or graph.vocabulary, types)
    top = next(count for count in (top, limit, DEFAULT_TOP) if count is not None)
    if isinstance(parsed, Pattern):
        bound = BoundPattern.of(parsed, PatternNames(names.entity_id, names.relation_id, types))
        text = str(parsed.text or question)
        return _prepared_pattern(graph, bound, text, (top, explain, predicted_only), kind, new)
    query = bind(with_variables(parsed, answer=""), names.entity_id, names.relation_id)
    _require_ids(query, graph)
    query = resolved(query, graph, types)
    warnings = (*impossible_joins(graph, query), *_unbounded(parsed))
    query, candidates = _restricted(graph, query, kind, new)
    return Question(str(question), query, top, explain, predicted_only, candidates, warnings)


def _prepared_pattern(
    graph: KnowledgeGraph, bound: BoundPattern, text: str, wishes: tuple[int, bool, bool], kind: str | None, new: bool
) -> Question:
    """A question that is no tree, with the ids of a graph."""
    if (kind is not None or new) and len(bound.pattern.answers) > 1:
        raise QueryRefused("`kind` and `new` go with one answer variable: say what kind each variable is by `x a Kind`")
    _, candidates = _restricted(graph, bound.named(graph), kind, new)
    return Question(text, bound.relations(graph), *wishes, candidates, pattern=bound)


def _unbounded(query: Query) -> Iterator[str]:
    if starts_from_anything(query):
        yield (
            "a variable has no name and nothing else said about it: predictions only start from entities "
            "that have been at its end of the relation"
        )


def _restricted(graph: KnowledgeGraph, query: Query, kind: str | None, new: bool) -> tuple[Query, Ids | None]:
    """The query without what only restricts its answers, and who may be an answer."""
    rest, candidates = without_given(query, graph.num_entities)
    if kind is not None:
        alike = ends_like(graph, kind, query)
        candidates = alike if candidates is None else np.intersect1d(candidates, alike)
    if new:
        everyone = graph.connected_entities if candidates is None else candidates
        candidates = np.setdiff1d(everyone, related_to_named(graph, query))
    return rest, candidates


def lookup_for(graph: KnowledgeGraph, queries: Sequence[Query]) -> Lookup:
    """The names of several queries, found in one pass over the graph's vocabulary."""
    from unseen.graph.vocabulary import Lookup

    nodes = [node for query in queries for node in walk(query)]
    entities = (node.entity for node in nodes if isinstance(node, Anchor) and isinstance(node.entity, str))
    steps = [node for node in nodes if isinstance(node, Project | Repeat | Loop)]
    relations = (node.relation for node in steps if isinstance(node.relation, str))
    return Lookup(graph.vocabulary, entities, relations)


def parse(question: str | Query | Pattern, graph: KnowledgeGraph) -> tuple[Query | Pattern, int | None]:
    """The query of a question, with names, or its pattern where it is no tree; and its LIMIT, if it has one."""
    if isinstance(question, Query | Pattern):
        return question, None
    if is_sparql(question):
        from unseen.logic.sparql import parse_select  # rdflib is optional

        parsed = parse_select(question, prefixes_of(graph))
        return parsed.query, parsed.limit
    from unseen.logic.text import parse_question

    return parse_question(question), None


def is_sparql(text: str) -> bool:
    """Whether a question is SPARQL rather than a formula."""
    return _SPARQL.match(text) is not None


def prefixes_of(graph: KnowledgeGraph) -> dict[str, str]:
    """The prefixes of a graph, which SPARQL need not declare."""
    return graph.vocabulary.relations.prefixes.namespaces | graph.vocabulary.entities.prefixes.namespaces


def _require_ids(query: Query, graph: KnowledgeGraph) -> None:
    """Refuse ids that the graph does not have; names have been looked up."""
    for node in walk(query):
        match node:
            case Anchor(entity=int(entity)) if not 0 <= entity < graph.num_entities:
                raise QueryRefused(f"the graph has no entity with the id {entity}")
            case Project(relation=int(relation)) if not 0 <= relation < graph.vocabulary.num_directed_relations:
                raise QueryRefused(f"the graph has no relation with the directed id {relation}")
