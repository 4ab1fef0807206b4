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

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from unseen.errors import QueryRefused, QuerySyntaxError, shorten
from unseen.graph.prefixes import PLAIN_NAMESPACE, WELL_KNOWN
from unseen.logic.formula import Variable
from unseen.logic.pattern import Pattern
from unseen.logic.sparql.grammar import Unparsed, parse_tree
from unseen.logic.sparql.meaning import pattern_of, query_of
from unseen.logic.sparql.reader import read_select
from unseen.logic.sparql.words import checked_tokens, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.logic.algebra import Query
    from unseen.logic.ordering import Ordering
    from unseen.logic.sparql.patterns import Group
    from unseen.logic.sparql.reader import GraphNames, Select
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


@dataclass(frozen=True)
class SparqlPattern:
    """What a SELECT asks for: a query or a pattern with names, the names of its answer variables, how many answers."""

    query: Query | Pattern
    variables: tuple[str, ...]
    limit: int | None = None
    order: tuple[Ordering, ...] = ()


def parse_select(
    text: str, prefixes: Mapping[str, str] | None = None, names: GraphNames | None = None
) -> SparqlPattern:
    """As `parse_sparql`; a SELECT with several variables, or one that is not a tree, is a pattern.

    `names` are those of the attributes and relations of the graph: they tell which variables stand for values.
    """
    return _parse_select(text, tuple(sorted((prefixes or {}).items())), names)


@lru_cache(maxsize=256)
def _parse_select(text: str, prefixes: tuple[tuple[str, str], ...], names: GraphNames | None) -> SparqlPattern:
    select, plain = _read(text, prefixes, names)
    query = _query(select, plain)
    return SparqlPattern(query, tuple(answer.name for answer in select.answers), select.limit, select.order)


def _query(select: Select, text: str) -> Query | Pattern:
    """The query of a SELECT, or its pattern; variables that it is ordered by are answers that are not shown."""
    selected = {answer.name for answer in select.answers}
    hidden = dict.fromkeys(Variable(one.key) for one in select.order if one.is_variable and one.key not in selected)
    found = pattern_of(select.group, (*select.answers, *hidden), text)
    return replace(found, hidden=len(hidden)) if isinstance(found, Pattern) else found


@lru_cache(maxsize=256)
def _parse(text: str, prefixes: tuple[tuple[str, str], ...]) -> SparqlSelection:
    select, plain = _read(text, prefixes)
    if len(select.answers) > 1:
        shown = shorten(", ".join(f"?{answer.name}" for answer in select.answers))
        place = plain.upper().find("SELECT")
        raise QueryRefused(f"it needs exactly one answer variable, and has {shown}", text=plain, position=place)
    answer = select.answers[0]
    return SparqlSelection(query_of(select.group, answer, plain), answer.name, select.limit)


def group_of(text: str, prefixes: Mapping[str, str], names: GraphNames | None = None) -> Group:
    """The group between the brackets of a SELECT."""
    return _read(text, tuple(sorted(prefixes.items())), names)[0].group


def _read(text: str, prefixes: tuple[tuple[str, str], ...], names: GraphNames | None = None) -> tuple[Select, str]:
    """The SELECT of a text, and the text that its places refer to."""
    plain = plain_text(text)
    tokens = checked_tokens(plain)
    return read_select(_parse_tree(plain, tokens), plain, tokens, NAMESPACES | dict(prefixes), names), plain


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
