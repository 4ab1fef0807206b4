"""A query into SPARQL, for any store that speaks it; what `parse_sparql` reads again."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused, shorten
from unseen.graph.prefixes import iri_of
from unseen.logic.algebra import Anchor, And, Anything, Not, Or, Project, Query, Valued
from unseen.logic.variables import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IRI = re.compile(r'<[^<>"{}|^`\\\x00-\x20]*>')
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def to_sparql(
    query: Query, entity_iri: Callable[[str], str] = iri_of, relation_iri: Callable[[str], str] = iri_of
) -> str:
    """The query, which carries names, as SPARQL text.

    A name of the form `<iri>` is used as it is. A query whose answers are only excluded, never named, is refused.
    """
    if not is_bound(query):
        reason = "negation must be bound: it says what an answer is not, never what it is"
        raise QueryRefused(reason, place=shorten(str(query)))
    body = _Writer(entity_iri, relation_iri).group(query, ANSWER)
    return f"SELECT DISTINCT ?{ANSWER} WHERE {body}"


def is_bound(query: Query) -> bool:
    """Whether a query names its answers, rather than only what they are not: if it does not, its negation does."""
    match query:
        case And():
            return any(is_bound(part) for part in query.parts)
        case Or():
            return all(is_bound(part) for part in query.parts)
        case Not():
            return not is_bound(query.part)
    return not isinstance(query, Anything)


class _Writer:
    """One text; every inner set gets a variable of its own."""

    def __init__(self, entity_iri: Callable[[str], str], relation_iri: Callable[[str], str]) -> None:
        self.entity_iri, self.relation_iri = entity_iri, relation_iri
        self.taken = {ANSWER}
        self.fresh = (f"v{number}" for number in count(1))

    def group(self, query: Query, variable: str) -> str:
        return f"{{ {' '.join(self.patterns(query, variable))} }}"

    def patterns(self, query: Query, variable: str) -> Iterator[str]:
        """Patterns that hold for the members of a query; if it is not bound, something before them must bind them."""
        if not is_bound(query):
            yield self.exclusion(_negated(query), variable)
            return
        match query:
            case Anchor():
                yield self.values((query,), variable)
            case Project():
                yield from self.step(query, variable)
            case And():
                for part in sorted(query.parts, key=is_bound, reverse=True):
                    yield from self.patterns(part, variable)
            case Or():
                yield self.union(query, variable)
            case Not():
                yield from self.patterns(_negated(query.part), variable)
            case Valued():
                raise QueryRefused("comparisons of values are not written as SPARQL", place=shorten(str(query)))

    def exclusion(self, query: Query, variable: str) -> str:
        if isinstance(query, Anchor):
            return f"FILTER(?{variable} != {self.entity(query)})"
        return f"FILTER NOT EXISTS {self.group(query, variable)}"

    def step(self, query: Project, variable: str) -> Iterator[str]:
        """The edge first: it binds the inner variable even if its set is only described by what it excludes."""
        if isinstance(query.source, Anchor):
            yield self.triple(query, self.entity(query.source), variable)
            return
        inner = self.new_variable(query.variable)
        yield self.triple(query, f"?{inner}", variable)
        if isinstance(query.source, Anything):
            return
        yield from self.patterns(query.source, inner)

    def triple(self, step: Project, source: str, variable: str) -> str:
        relation = _bracketed(step.relation, self.relation_iri)
        start, end = (f"?{variable}", source) if step.inverse else (source, f"?{variable}")
        return f"{start} {relation} {end} ."

    def union(self, query: Or, variable: str) -> str:
        anchors = tuple(part for part in query.parts if isinstance(part, Anchor))
        if len(anchors) == len(query.parts):
            return self.values(anchors, variable)
        return " UNION ".join(self.group(part, variable) for part in query.parts)

    def values(self, anchors: tuple[Anchor, ...], variable: str) -> str:
        return f"VALUES ?{variable} {{ {' '.join(self.entity(anchor) for anchor in anchors)} }}"

    def entity(self, anchor: Anchor) -> str:
        return _bracketed(anchor.entity, self.entity_iri)

    def new_variable(self, wanted: str | None) -> str:
        name = wanted if wanted and _VARIABLE.fullmatch(wanted) and wanted not in self.taken else None
        name = name or next(candidate for candidate in self.fresh if candidate not in self.taken)
        self.taken.add(name)
        return name


def _negated(query: Query) -> Query:
    """The negation of a query, with the sign moved inwards as far as it makes unbound parts bound."""
    match query:
        case Not():
            return query.part
        case And() if not is_bound(query):
            return Or(tuple(_negated(part) for part in query.parts))
        case Or() if not is_bound(query):
            return And(tuple(_negated(part) for part in query.parts))
    return Not(query)


def _bracketed(name: str | int, iri: Callable[[str], str]) -> str:
    if isinstance(name, int):
        raise TypeError(f"the query carries ids, not names: {name}")
    return name if _IRI.fullmatch(name) else f"<{iri(name)}>"
