"""What to do next: errors and empty answers in words that an agent can act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unseen.asking.preparing import is_sparql
from unseen.errors import (
    AmbiguousName,
    QueryRefused,
    QuerySyntaxError,
    ServerError,
    UnknownName,
    UnseenError,
    caret_line,
)
from unseen.graph.catalogue import may_tell_kinds
from unseen.logic.algebra import Anchor, Project, Query, rebuild, walk
from unseen.logic.text import parse_formula
from unseen.logic.text_writer import quoted, to_formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from unseen.agents.asked_graphs import AskedGraph

MOST_LISTED = 1000
MOST_LINKS = 8
"""Links of a question that are looked at for a wrong direction."""


def advice(error: UnseenError, graph: AskedGraph, question: str = "") -> str:
    """What was wrong, where, and what to try: a repaired question, or one that works on this graph."""
    lines = [str(error)]
    if isinstance(error, UnknownName):
        lines += _about_name(error, graph, question)
    elif isinstance(error, QueryRefused) and "type_relation" in error.reason:
        lines = _about_kinds(graph)
    elif isinstance(error, QuerySyntaxError | QueryRefused):
        lines += _about_syntax(graph) if not error.suggestion else []
    elif isinstance(error, ServerError) and error.retry_after:
        lines.append(f"Try again in {error.retry_after} seconds.")
    return "\n".join(lines)


def _about_name(error: UnknownName, graph: AskedGraph, question: str) -> Iterator[str]:
    place = question.find(error.name)
    if place >= 0 and error.position is None:
        yield caret_line(question, place)
    if error.closest and not error.suggestion and not isinstance(error, AmbiguousName):
        query = parsed(question, graph.prefixes)
        repaired = _with_other_text(error, question) if query is None else _with_other_name(error, query)
        if repaired:
            yield f"did you mean: {repaired}"
    if isinstance(error, AmbiguousName):
        yield "Write one of these names instead, a full IRI in <angle brackets>."
    yield f'If none of these names is meant, search: find_names(text="…", kind="{error.kind}").'


def _about_kinds(graph: AskedGraph) -> list[str]:
    """What to do where a graph has no `rdf:type`."""
    names = [one["name"] for one in graph.relations("", MOST_LISTED) if may_tell_kinds(one["iri"])]
    lines = ["This graph has no rdf:type, so `x a Kind` needs the name of the relation that tells kinds."]
    lines += [f'Try the same question with type_relation="{name}".' for name in names[:1]]
    return [*lines, 'Or give `kind` a relation: kind="borders" keeps what `borders` leads to somewhere in the graph.']


def _about_syntax(graph: AskedGraph) -> Iterator[str]:
    example = working_question(graph)
    if example:
        yield f"A question that works on this graph: {example}"
    yield "The resource unseen://grammar describes the language."


def working_question(graph: AskedGraph) -> str | None:
    """A question with a known answer, about the most frequent relation."""
    relation = next(iter(graph.relations("", 1)), None)
    fact = None if relation is None else graph.fact_of(relation)
    return None if fact is None else f"?x : {quoted(fact[1])}({quoted(fact[0], {'x'})}, x)"


def parsed(question: str, prefixes: Mapping[str, str]) -> Query | None:
    """The query of a question, with names; None where it cannot be parsed here."""
    try:
        if is_sparql(question):
            from unseen.logic.sparql import parse_sparql  # rdflib is optional

            query: Query = parse_sparql(question, prefixes).query
            return query
        return parse_formula(question)
    except (UnseenError, ImportError):
        return None


def _with_other_name(error: UnknownName, query: Query) -> str | None:
    """The question as a formula, with the closest name in place of the unknown one."""

    def renamed(node: Query) -> Query:
        if error.kind == "entity" and isinstance(node, Anchor) and node.entity == error.name:
            return Anchor(error.closest[0])
        if error.kind == "relation" and isinstance(node, Project) and node.relation == error.name:
            return Project(error.closest[0], node.source, node.inverse, node.variable)
        return node

    changed = _changed(query, renamed)
    return None if changed == query else to_formula(changed, "x")


def _with_other_text(error: UnknownName, question: str) -> str | None:
    """The text of a question that is not a tree, with the closest name in place of the unknown one."""
    closest, name = error.closest[0], error.name
    if is_sparql(question):
        is_plain = re.fullmatch(r"\w+", name) and re.fullmatch(r"\w+", closest)
        found = re.sub(rf":{re.escape(name)}\b", lambda _: f":{closest}", question) if is_plain else question
    else:
        written = rf'"{re.escape(name)}"|(?<![\w"]){re.escape(name)}(?![\w"])'
        found = re.sub(written, lambda _: quoted(closest), question)
    return None if found == question else found


def _changed(query: Query, change: Callable[[Query], Query]) -> Query:
    """The query with every node changed, children first."""
    return change(rebuild(query, tuple(_changed(child, change) for child in query.children)))


def direction_hints(graph: AskedGraph, question: str) -> list[str]:
    """For a question without known answers: links that the graph has in the other direction only."""
    query = parsed(question, graph.prefixes)
    if query is None:
        return []
    links = [node for node in walk(query) if isinstance(node, Project) and isinstance(node.source, Anchor)]
    return [hint for link in list(dict.fromkeys(links))[:MOST_LINKS] for hint in _direction_hint(graph, query, link)]


def _direction_hint(graph: AskedGraph, query: Query, link: Project) -> Iterator[str]:
    other = Project(link.relation, link.source, not link.inverse, link.variable)
    written, reverse = to_formula(link, "x"), to_formula(other, "x")
    if graph.ask(written, top=1, exact=True).known:
        return
    count = graph.ask(reverse, top=1, exact=True).known
    if count:
        turned = to_formula(_changed(query, lambda node: other if node == link else node), "x")
        yield (
            f"The graph has no fact for `{written}`, and {count:,} for `{reverse}`. "
            f"If the direction was mistaken, try: {turned}"
        )
