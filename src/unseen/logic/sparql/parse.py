"""SPARQL SELECT as a query.

    PREFIX wd: <http://www.wikidata.org/entity/>
    SELECT ?u WHERE { wd:Q90 :borders/^:part_of ?u . FILTER NOT EXISTS { ?u :speaks "German" } } LIMIT 5

Answered: one answer variable; triple patterns, nested groups, UNION, MINUS, FILTER (NOT) EXISTS, FILTER that compares a
variable with names, property paths of `/ ^ |`, blank nodes, VALUES, PREFIX, BASE, LIMIT. Everything else is refused
with its place. `:` stands for plain names (those of a TSV file), and a string is the readable name of an entity.

The way of a text: `words` checks its words, rdflib parses it (in `grammar`, and nowhere else), `reader` turns the
parse tree into patterns, `meaning` says what they mean as a formula, and `tree` makes a query of that. rdflib's
algebra is not used: it reorders patterns and forgets where groups begin and end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from unseen.errors import QueryRefused, QuerySyntaxError, shorten
from unseen.graph.prefixes import PLAIN_NAMESPACE, WELL_KNOWN
from unseen.logic.sparql.grammar import Unparsed, parse_tree
from unseen.logic.sparql.meaning import query_of
from unseen.logic.sparql.reader import read_select
from unseen.logic.sparql.words import checked_tokens, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.logic.algebra import Query
    from unseen.logic.sparql.words import Token

NAMESPACES = {**WELL_KNOWN, "": PLAIN_NAMESPACE}
"""Prefixes that need no declaration; those of the graph and of the question itself come first."""


@dataclass(frozen=True)
class SparqlSelection:
    """What a SELECT asks for: a query with names, the name of its answer variable, and how many answers."""

    query: Query
    variable: str
    limit: int | None = None


def parse_sparql(text: str, prefixes: Mapping[str, str] | None = None) -> SparqlSelection:
    """The query of a SPARQL SELECT; `prefixes` are those of the graph. The same text is parsed only once."""
    return _parse(text, tuple(sorted((prefixes or {}).items())))


@lru_cache(maxsize=256)
def _parse(text: str, prefixes: tuple[tuple[str, str], ...]) -> SparqlSelection:
    plain = plain_text(text)
    tokens = checked_tokens(plain)
    select = read_select(_parse_tree(plain, tokens), plain, tokens, NAMESPACES | dict(prefixes))
    return SparqlSelection(query_of(select.group, select.answer, plain), select.answer.name, select.limit)


def _parse_tree(text: str, tokens: list[Token]) -> Any:
    """The parse tree of rdflib: the declarations and the query."""
    try:
        return parse_tree(tokens)
    except Unparsed as error:
        raise _syntax_error(text, tokens, error.position) from None
    except RecursionError:
        raise QueryRefused("it has too many patterns in one group for the parser: put some into { }") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # a literal that rdflib cannot handle
        raise QueryRefused(f"the parser cannot read it: {shorten(str(error))}") from None


def _syntax_error(text: str, tokens: list[Token], position: int) -> QuerySyntaxError:
    """The error that shows the first word or sign which does not fit."""
    for token in tokens:
        if token.position + len(token.text) > position:
            problem = f"`{shorten(token.text)}` does not fit here"
            return QuerySyntaxError(problem, text=text, position=token.position)
    return QuerySyntaxError("the question ends here, but it is not complete", text=text, position=len(text))
