"""From a question as written to one with the ids of a graph: parsing, names, and who may be an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unseen.answers import DEFAULT_TOP, Question
from unseen.errors import QueryRefused, UnseenError
from unseen.logic.algebra import Anchor, Project, Query, bind, walk
from unseen.logic.events import At
from unseen.logic.formula import Atom, constants_of, links_of
from unseen.logic.impossible_joins import impossible_joins
from unseen.logic.joins.best_tuples import PatternNames
from unseen.logic.joins.bound_pattern import BoundPattern
from unseen.logic.ordering import Ordering, check_orderings, orderings_of
from unseen.logic.pattern import Pattern
from unseen.logic.resolving import KindNames, resolved, starts_from_anything, type_relation_of
from unseen.logic.restricting import ends_like, related_to_named, without_given
from unseen.logic.values.attributes_shown import shown_attributes
from unseen.logic.variables import ANSWER, with_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names
    from unseen.graph.vocabulary import Lookup

    Ids = NDArray[np.int32]

_FIRST_VARIABLE = re.compile(r"\s*\?(\w+)")
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
    order_by: str | Sequence[Ordering] | None = None,
    predict_values: bool = False,
) -> Question:
    """The question with the ids of a graph; an error if it does not parse, cannot be answered, or has unknown names.

    `order_by` says in which order the answers come (`population desc, name`); by default the most probable first.
    With `predict_values`, comparisons of values that are not recorded are predicted.
    `lookup` holds names that were looked up before, see `lookup_for`. `warnings` of the question say why it can hardly
    have an answer.
    """
    if top is not None and top < 1:
        raise UnseenError(f"the number of answers must be at least 1, not {top}")
    parsed, limit, order, variable = parsed_question(question, graph)
    order = (orderings_of(order_by) if isinstance(order_by, str) else tuple(order_by)) if order_by else order
    variable = next((one.key for one in order if one.is_variable and isinstance(parsed, Query)), variable)
    types = type_relation_of(graph, type_relation)
    names = KindNames(lookup or lookup_for(graph, [parsed]), types, graph.attributes.names)
    top = next(count for count in (top, limit, DEFAULT_TOP) if count is not None)
    if isinstance(parsed, Pattern):
        bound = BoundPattern.of(parsed, PatternNames(names.entity_id, names.relation_id, types, predict_values))
        text = str(parsed.text or question)
        check_orderings(graph, order, [answer.name for answer in parsed.answers])
        return replace(_prepared_pattern(graph, bound, text, (top, explain, predicted_only), kind, new), order=order)
    check_orderings(graph, order, [variable])
    query = bind(with_variables(parsed, answer=""), names.entity_id, names.relation_id)
    _require_ids(query, graph)
    attributes = shown_attributes(graph, query, order, variable)
    query = resolved(query, graph, types, predict=predict_values)
    warnings = (
        *impossible_joins(graph, query),
        *_unbounded(parsed),
        *_unpredictable(graph, attributes, predict_values),
    )
    query, candidates = _restricted(graph, query, kind, new)
    shown = {"variable": variable, "order": order, "attributes": attributes, "predict_values": predict_values}
    return Question(str(question), query, top, explain, predicted_only, candidates, warnings, **shown)  # type: ignore[arg-type]


def _prepared_pattern(
    graph: KnowledgeGraph, bound: BoundPattern, text: str, wishes: tuple[int, bool, bool], kind: str | None, new: bool
) -> Question:
    """A question that is no tree, with the ids of a graph."""
    if (kind is not None or new) and len(bound.pattern.answers) > 1:
        raise QueryRefused("`kind` and `new` go with one answer variable: say what kind each variable is by `x a Kind`")
    _, candidates = _restricted(graph, bound.named(graph), kind, new)
    return Question(text, bound.relations(graph), *wishes, candidates, pattern=bound)


def _unpredictable(graph: KnowledgeGraph, attributes: Sequence[tuple[str, int]], predict_values: bool) -> Iterator[str]:
    """Why values are not predicted, although that is wanted."""
    if not predict_values:
        return
    from unseen.logic.value_prediction.predictor import LEAST_VALUES, predicted_values

    for name, attribute in attributes:
        if predicted_values(graph, attribute) is None:
            yield f"values of `{name}` are not predicted: that takes {LEAST_VALUES} recorded numbers or dates"


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
        everyone = graph.candidates if candidates is None else candidates
        candidates = np.setdiff1d(everyone, related_to_named(graph, query))
    return rest, candidates


def lookup_for(graph: KnowledgeGraph, queries: Sequence[Query | Pattern], *, suggest: bool = True) -> Lookup:
    """The names of several questions, found in one pass over the graph's vocabulary; `suggest` as in `Lookup`."""
    from unseen.graph.vocabulary import Lookup

    nodes = [node for query in queries if isinstance(query, Query) for node in walk(query)]
    formulas = [query.formula for query in queries if isinstance(query, Pattern)]
    entities = [node.entity for node in nodes if isinstance(node, Anchor | At) and isinstance(node.entity, str)]
    relations = [node.relation for node in nodes if isinstance(node, Project) and isinstance(node.relation, str)]
    entities += [constant.name for formula in formulas for constant in constants_of(formula)]
    relations += [link.relation for formula in formulas for link in links_of(formula) if isinstance(link, Atom)]
    return Lookup(graph.vocabulary, entities, relations, suggest=suggest)


def parse(question: str | Query | Pattern, graph: KnowledgeGraph) -> tuple[Query | Pattern, int | None]:
    """The query of a question, with names, or its pattern where it is no tree; and its LIMIT, if it has one."""
    return parsed_question(question, graph)[:2]


def parsed_question(
    question: str | Query | Pattern, graph: KnowledgeGraph
) -> tuple[Query | Pattern, int | None, tuple[Ordering, ...], str]:
    """As `parse`, with the order that it asks for and what it calls its first answer variable."""
    if isinstance(question, Query | Pattern):
        return question, None, (), question.names[0] if isinstance(question, Pattern) else ANSWER
    if is_sparql(question):
        from unseen.logic.sparql import parse_select  # rdflib is optional

        parsed = parse_select(question, prefixes_of(graph), names_of(graph))
        return parsed.query, parsed.limit, parsed.order, parsed.variables[0]
    from unseen.logic.text import parse_question

    found = _FIRST_VARIABLE.match(question)
    return parse_question(question), None, (), found.group(1) if found else ANSWER


def is_sparql(text: str) -> bool:
    """Whether a question is SPARQL rather than a formula."""
    return _SPARQL.match(text) is not None


def prefixes_of(graph: KnowledgeGraph) -> dict[str, str]:
    """The prefixes of a graph, which SPARQL need not declare."""
    columns = (graph.attributes.names, graph.vocabulary.relations, graph.vocabulary.entities)
    return {prefix: name for column in columns for prefix, name in column.prefixes.namespaces.items()}


def names_of(graph: KnowledgeGraph) -> tuple[Names, Names]:
    """The names of attributes and relations, which tell SPARQL's variables for values from others."""
    return graph.attributes.names, graph.vocabulary.relations


def _require_ids(query: Query, graph: KnowledgeGraph) -> None:
    """Refuse ids that the graph does not have; names have been looked up."""
    for node in walk(query):
        match node:
            case Anchor(entity=int(entity)) if not 0 <= entity < graph.num_entities:
                raise QueryRefused(f"the graph has no entity with the id {entity}")
            case Project(relation=int(relation)) if not 0 <= relation < graph.vocabulary.num_directed_relations:
                raise QueryRefused(f"the graph has no relation with the directed id {relation}")
