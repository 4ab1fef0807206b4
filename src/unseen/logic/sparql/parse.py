"""SPARQL SELECT as a query.

    PREFIX wd: <http://www.wikidata.org/entity/>
    SELECT ?u WHERE { wd:Q90 :borders/^:part_of ?u . FILTER NOT EXISTS { ?u :speaks "German" } } LIMIT 5

Answered: one answer variable; triple patterns, nested groups, UNION, MINUS, FILTER (NOT) EXISTS, FILTER that compares a
variable with names, property paths of `/ ^ |`, blank nodes, VALUES, PREFIX, BASE, LIMIT. Everything else is refused
with its place. `:` stands for plain names (those of a TSV file), and a string is the readable name of an entity.

The way of a text: `words` checks its words, rdflib parses it (here, and nowhere else), `reader` turns the
parse tree into patterns, `meaning` says what they mean as a formula, and `tree` makes a query of that. rdflib's
algebra is not used: it reorders patterns and forgets where groups begin and end.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from unseen.errors import MissingExtra, QueryRefused, QuerySyntaxError, shorten
from unseen.graph.prefixes import PLAIN_NAMESPACE, WELL_KNOWN
from unseen.logic.sparql.meaning import query_of
from unseen.logic.sparql.reader import read_select
from unseen.logic.sparql.words import checked_tokens, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from unseen.logic.algebra import Query
    from unseen.logic.sparql.words import Token

NAMESPACES = {**WELL_KNOWN, "": PLAIN_NAMESPACE}
"""Prefixes that need no declaration; those of the graph and of the question itself come first."""


@dataclass(frozen=True)
class Selection:
    """What a SELECT asks for: a query with names, the name of its answer variable, and how many answers."""

    query: Query
    variable: str
    limit: int | None = None


def parse_sparql(text: str, prefixes: Mapping[str, str] | None = None) -> Selection:
    """The query of a SPARQL SELECT; `prefixes` are those of the graph. The same text is parsed only once."""
    return _parse(text, tuple(sorted((prefixes or {}).items())))


@lru_cache(maxsize=256)
def _parse(text: str, prefixes: tuple[tuple[str, str], ...]) -> Selection:
    plain = plain_text(text)
    tokens = checked_tokens(plain)
    select = read_select(_parse_tree(plain, tokens), plain, tokens, NAMESPACES | dict(prefixes))
    return Selection(query_of(select.group, select.answer, plain), select.answer.name, select.limit)


def _parse_tree(text: str, tokens: list[Token]) -> Any:
    """The parse tree of rdflib: the declarations and the query."""
    try:
        from pyparsing import ParseBaseException  # an extra: only who asks in SPARQL needs it
        from rdflib.plugins.sparql import parser
    except ImportError:
        raise MissingExtra("SPARQL", "rdf", "rdflib") from None
    try:
        return _on_own_stack(lambda: parser.Query.parse_string(text, parse_all=True))
    except ParseBaseException:
        raise _syntax_error(text, tokens, _on_own_stack(lambda: _furthest_failure(parser.Query, text))) from None
    except RecursionError:
        raise QueryRefused("it has too many patterns in one group for the parser: put some into { }") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # a literal that rdflib cannot handle
        raise QueryRefused(f"the parser cannot read it: {shorten(str(error))}") from None


def _on_own_stack(action: Callable[[], Any]) -> Any:
    """What the call gives, run in a thread: how deep it may recurse then does not depend on who asks."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(action).result()


def _syntax_error(text: str, tokens: list[Token], position: int) -> QuerySyntaxError:
    """The error that shows the first word or sign which does not fit."""
    for token in tokens:
        if token.position + len(token.text) > position:
            problem = f"`{shorten(token.text)}` does not fit here"
            return QuerySyntaxError(problem, text=text, position=token.position)
    return QuerySyntaxError("the question ends here, but it is not complete", text=text, position=len(text))


def _furthest_failure(grammar: Any, text: str) -> int:
    """The furthest position at which any word of the grammar was expected and not found.

    The parser itself reports where the last thing that it could skip begins, which may be the whole group. The grammar
    is copied because it belongs to all of rdflib.
    """
    from pyparsing import ParseBaseException, Token

    furthest = 0

    def note(_text: str, _start: int, _element: Any, error: Any) -> None:
        nonlocal furthest
        furthest = max(furthest, error.loc)

    observed = copy.deepcopy(grammar)
    for element in _elements(observed):
        if isinstance(element, Token):
            element.set_fail_action(note)
    try:
        observed.parse_string(text, parse_all=True)
    except ParseBaseException as error:
        return max(furthest, error.loc)
    return furthest


def _elements(grammar: Any) -> list[Any]:
    """Every element of a grammar, once."""
    found = {id(grammar): grammar}
    pending = [grammar]
    while pending:
        for element in pending.pop().recurse():
            if id(element) not in found:
                found[id(element)] = element
                pending.append(element)
    return list(found.values())
