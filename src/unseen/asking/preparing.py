"""From a question as written to one with the ids of a graph: parsing, names, and who may be an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.asking.answers import DEFAULT_TOP, Question
from unseen.errors import QueryRefused, QuestionTooLarge, UnseenError, ValuesMissing
from unseen.logic.algebra import Anchor, Loop, Project, Query, Repeat, Valued, bind, walk
from unseen.logic.events import At
from unseen.logic.formula import Atom, constants_of, links_of
from unseen.logic.impossible_joins import impossible_joins, impossible_pairs
from unseen.logic.joins.best_tuples import PatternNames
from unseen.logic.joins.bound_pattern import BoundPattern
from unseen.logic.ordering import Ordering, check_orderings, orderings_of
from unseen.logic.outer_form import OuterForm
from unseen.logic.pattern import Pattern
from unseen.logic.resolving import KindNames, resolved, starts_from_anything, type_relation_of
from unseen.logic.restricting import ends_like, related_to_named, without_given
from unseen.logic.values.attributes_shown import shown_attributes
from unseen.logic.values.unfit_comparisons import unfit_comparisons
from unseen.logic.variables import ANSWER, with_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names
    from unseen.graph.vocabulary import Lookup

    Ids = NDArray[np.int32]

_FIRST_VARIABLE = re.compile(r"(?:^|[\s(,!~])\?(\w+)")
_OUTER = re.compile(
    r"\b(OPTIONAL|BIND|GROUP|HAVING|ORDER|OFFSET|AS|UNDEF|FILTER|SELECT\b.*\bSELECT)\b", re.IGNORECASE | re.DOTALL
)
_SPARQL = re.compile(
    r"\s*(#[^\n]*\n\s*)*(PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|WITH)\b", re.IGNORECASE
)

_RESTRICTIONS = ("kind", "new", "order_by", "predict_values")
"""Wishes that go with questions for entities only."""


def prepare(  # noqa: PLR0913  # as for `ask`
    graph: KnowledgeGraph,
    question: str | Query | Pattern | OuterForm,
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
    if isinstance(parsed, OuterForm):
        wishes = {"kind": kind, "new": new or None, "order_by": order_by, "predict_values": predict_values or None}
        return _prepared_table(graph, parsed, top, predicted_only, wishes)
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
    valued = [node.part for node in walk(query) if isinstance(node, Valued)]
    related = related_to_named(graph, query, types) if new else None
    query = resolved(query, graph, types, predict=predict_values)
    warnings = (
        *impossible_joins(graph, query),
        *_unbounded(parsed),
        *_unpredictable(graph, attributes, predict_values),
        *unfit_comparisons(graph, valued),
    )
    query, candidates = _restricted(graph, query, kind, related)
    shown = {"variable": variable, "order": order, "attributes": attributes, "predict_values": predict_values}
    return Question(str(question), query, top, explain, predicted_only, candidates, warnings, **shown)  # type: ignore[arg-type]


def prepare_exactly(graph: KnowledgeGraph, question: str | Query, **wishes: Any) -> Question:
    """As `prepare`, where nothing is to be predicted: an engine answers the SELECTs that could not be."""
    if isinstance(question, str) and is_sparql(question) and not any(map(wishes.get, _RESTRICTIONS)):
        try:
            parsed = parse(question, graph)[0]
            if isinstance(parsed, OuterForm):
                parsed.core.question(parsed.needed, {})
        except (QuestionTooLarge, ValuesMissing):
            raise
        except QueryRefused as refusal:
            from unseen.asking.exact_selects import exact_select

            found = exact_select(graph, question, refusal, wishes.get("top"))
            if found is None:
                raise
            return found
    return prepare(graph, question, **wishes)


def _prepared_table(
    graph: KnowledgeGraph, form: OuterForm, top: int | None, predicted_only: bool, restrictions: Mapping[str, object]
) -> Question:
    """A question whose answers are a table; what it predicts is prepared once to find what is wrong with it."""
    for name in (name for name, value in restrictions.items() if value is not None):
        raise QueryRefused(f"`{name}` goes with questions for entities, not with counts and tables")
    core = prepare(graph, form.core.question(form.needed, {}))
    wanted = next(count for count in (top, form.limit, DEFAULT_TOP) if count is not None)
    return Question(form.text, core.query, wanted, predicted_only=predicted_only, warnings=core.warnings, table=form)


def _prepared_pattern(
    graph: KnowledgeGraph, bound: BoundPattern, text: str, wishes: tuple[int, bool, bool], kind: str | None, new: bool
) -> Question:
    """A question that is not a tree, with the ids of a graph."""
    if (kind is not None or new) and len(bound.pattern.answers) > 1:
        raise QueryRefused("`kind` and `new` go with one answer variable: say what kind each variable is by `x a Kind`")
    named = bound.named(graph)
    related = related_to_named(graph, named, bound.names.type_relation) if new else None
    _, candidates = _restricted(graph, named, kind, related)
    parts = bound.pattern.parts
    warnings = (*impossible_pairs(graph, parts, bound.names.relation_id), *unfit_comparisons(graph, parts))
    return Question(text, bound.relations(graph), *wishes, candidates, warnings, pattern=bound)


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


def _restricted(graph: KnowledgeGraph, query: Query, kind: str | None, related: Ids | None) -> tuple[Query, Ids | None]:
    """The query without what only restricts its answers, and who may be an answer: nobody `related`."""
    rest, candidates = without_given(query, graph.num_entities)
    if kind is not None:
        alike = ends_like(graph, kind, query)
        candidates = alike if candidates is None else np.intersect1d(candidates, alike)
    if related is not None:
        everyone = graph.candidates if candidates is None else candidates
        candidates = np.setdiff1d(everyone, related)
    return rest, candidates


def lookup_for(
    graph: KnowledgeGraph, queries: Sequence[Query | Pattern | OuterForm], *, suggest: bool = True
) -> Lookup:
    """The names of several questions, found in one pass over the graph's vocabulary; `suggest` as in `Lookup`."""
    from unseen.graph.vocabulary import Lookup

    nodes = [node for query in queries if isinstance(query, Query) for node in walk(query)]
    formulas = [query.formula for query in queries if isinstance(query, Pattern)]
    entities = [node.entity for node in nodes if isinstance(node, Anchor | At) and isinstance(node.entity, str)]
    relations = [
        node.relation for node in nodes if isinstance(node, Project | Repeat | Loop) and isinstance(node.relation, str)
    ]
    entities += [constant.name for formula in formulas for constant in constants_of(formula)]
    relations += [link.relation for formula in formulas for link in links_of(formula) if isinstance(link, Atom)]
    return Lookup(graph.vocabulary, entities, relations, suggest=suggest)


def parse(
    question: str | Query | Pattern | OuterForm, graph: KnowledgeGraph
) -> tuple[Query | Pattern | OuterForm, int | None]:
    """The query of a question, with names, its pattern where it is not a tree, its form where its answers are a table.

    And its LIMIT, if it has one.
    """
    return parsed_question(question, graph)[:2]


def parsed_question(
    question: str | Query | Pattern | OuterForm, graph: KnowledgeGraph
) -> tuple[Query | Pattern | OuterForm, int | None, tuple[Ordering, ...], str]:
    """As `parse`, with the order that it asks for and what it calls its first answer variable."""
    if not isinstance(question, str):
        return question, None, (), question.names[0] if isinstance(question, Pattern) else ANSWER
    if is_sparql(question):
        asked, limit, variables, order = parsed_sparql(question, graph)
        return asked, limit, order, variables[0] if variables else ANSWER
    from unseen.logic.counting_text import parse_counted  # which is quick to find out

    counted = parse_counted(question)
    if counted is not None:
        return counted, None, (), ANSWER
    from unseen.logic.text import parse_question

    found = _FIRST_VARIABLE.search(question)
    return parse_question(question), None, (), found.group(1) if found else ANSWER


def parsed_sparql(
    text: str, graph: KnowledgeGraph
) -> tuple[Query | Pattern | OuterForm, int | None, tuple[str, ...], tuple[Ordering, ...]]:
    """What a SELECT asks, its LIMIT, what it calls its answers, and their order.

    A table has no names for its answers: its columns come later.
    """
    from unseen.logic.sparql import parse_select  # rdflib is optional

    prefixes = prefixes_of(graph)
    try:
        parsed = parse_select(text, prefixes, names_of(graph))
    except QuestionTooLarge:
        raise
    except QueryRefused as refusal:
        if isinstance(refusal, ValuesMissing) and not _is_relation(graph, refusal.name):
            raise
        from unseen.logic.sparql.outer_select import outer_select

        if not has_outer_words(text):
            raise
        form = outer_select(text, prefixes, partial(entity_term, graph), names_of(graph))
        if form is None:
            raise
        return form, form.limit, (), ()
    return parsed.query, parsed.limit, parsed.variables, parsed.order


def _is_relation(graph: KnowledgeGraph, name: str) -> bool:
    return bool(name) and int(graph.vocabulary.relations.find_all([name])[0]) >= 0


def entity_term(graph: KnowledgeGraph, name: str) -> str:
    """An entity, given by a name that a person reads, as a term of SPARQL; nothing if there is none."""
    from unseen.database.triple_forms import statement_of_keys

    found = int(graph.vocabulary.entities.find_all([name])[0])
    return statement_of_keys(("s", "p", graph.vocabulary.entities.key(found)))[2] if found >= 0 else ""


def has_outer_words(text: str) -> bool:
    """Whether a SELECT may be more than a pattern."""
    return _OUTER.search(text) is not None


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
