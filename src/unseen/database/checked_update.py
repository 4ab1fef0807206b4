"""A SPARQL update before it is run: what must not be run is refused, the rest is rewritten so that it traces itself.

The text is parsed by the engine here, also in its rewritten form, and nothing is run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.guard import check_update, nested_tokens
from unseen.database.reserved import refuse_reserved
from unseen.database.update_text import TracedUpdate, failing_first, traced, untraced, with_patterns
from unseen.errors import QueryRefused, QuerySyntaxError, shorten
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLACE = re.compile(r"^error at (\d+):(\d+): (.*)", re.DOTALL)


def checked_update(
    text: str,
    prefixes: Mapping[str, str],
    *,
    using: Sequence[str] = (),
    using_named: Sequence[str] = (),
    is_rehearsed: bool = False,
) -> TracedUpdate:
    """The update to run; an error if it is not allowed, or not an update.

    With `is_rehearsed`, it is run on an empty store first: whoever plans it for too long there never holds the writer.
    """
    tokens = nested_tokens(text)
    check_update(text, tokens)
    refuse_reserved(text, tokens, prefixes)
    check_syntax(prefixes, text, tokens)
    clauses = [str(graph_name(iri)) for iri in using]
    clauses += [f"NAMED {graph_name(iri)}" for iri in using_named]
    if is_rehearsed and (patterns := with_patterns(text, tokens)):
        _parses(prefixes, patterns)
    rewritten = traced(text, clauses, tokens)
    if _parses(prefixes, failing_first(rewritten.text, list(tokens_of(rewritten.text)))):
        return rewritten
    return untraced(text, clauses)


def check_syntax(prefixes: Mapping[str, str], text: str, tokens: list[Token]) -> None:
    """Refuse an update that is not SPARQL, without running it: it stands behind an operation that always fails."""
    if not _parses(prefixes, failing_first(text, tokens)):
        _parses(prefixes, text, report=True)


def graph_name(iri: str) -> Any:
    """The name of a graph that a request may use."""
    refuse_reserved(iri)
    try:
        return pyoxigraph.NamedNode(iri)
    except ValueError:
        raise QueryRefused(f"the name of a graph must be an IRI, not {shorten(repr(iri))}") from None


def syntax_error(error: SyntaxError, text: str) -> QuerySyntaxError:
    """A complaint of pyoxigraph's parser with its place in the text."""
    match = _PLACE.match(str(error))
    if match is None:
        return QuerySyntaxError(shorten(" ".join(str(error).split()), 120), text=text, position=0)
    line, column, problem = int(match[1]), int(match[2]), " ".join(match[3].split())
    lines = text.splitlines(keepends=True)
    position = min(sum(map(len, lines[: line - 1])) + column - 1, len(text))
    if problem.startswith("expected"):
        problem = "the text is not complete" if position >= len(text.rstrip()) else "this does not fit here"
    return QuerySyntaxError(shorten(problem, 120), text=text, position=position)


def _parses(prefixes: Mapping[str, str], text: str, *, report: bool = False) -> bool:
    """Whether a text is an update; if it is none, the error says where, if asked for."""
    try:
        pyoxigraph.Store().update(text, prefixes=dict(prefixes))
    except SyntaxError as error:
        if report:
            raise syntax_error(error, text) from None
        return False
    except (RuntimeError, ValueError, OSError):
        return True  # what it does is for the real run to say
    return True
