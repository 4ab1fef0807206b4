"""rdflib's grammar of SPARQL queries, cut down to what is answered, and used by one thread at a time.

pyparsing's grammars are not safe to share. When a parse action is called for the first time, pyparsing finds out by
trial how many arguments it takes, and keeps that in the grammar; two threads that do so at once spoil it for good. So
all parsing is done under a lock: the parser is Python, which runs one thread at a time anyway.

The time grows with the number of words and no faster: each `{` or `(` is tried as a few things, none of which reads on
before it fails. But a word costs a tenth of a millisecond or more, because pyparsing tries alternatives one by one,
by exceptions, and looks for a comment before each of them. Ours is a copy of the grammar without comments (`words` has
found them) and without alternatives that begin with a word that is refused, such as the sixty functions: half of the
time. The longest texts accepted (`words`) still take one to two seconds, and as much again if they do not fit. Parsing
asks after each word whether it has to stop (`stopping`).
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from unseen.errors import MissingExtra
from unseen.logic.sparql.words import is_answered
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.logic.sparql.words import Token

_LOCK = Lock()


class Unparsed(Exception):
    """The text does not fit the grammar, at a position."""

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(position)


def parse_tree(tokens: Sequence[Token]) -> Any:
    """The parse tree of a query, given by its words: its declarations and the query itself."""
    with _LOCK, ThreadPoolExecutor(max_workers=1) as pool:
        # in a thread of its own, so that how deep it may recurse does not depend on who asks
        return pool.submit(copy_context().run, _parsed, _without_comments(tokens)).result()


def _without_comments(tokens: Sequence[Token]) -> str:
    """The text of some words, each in its place."""
    parts, end = [], 0
    for token in tokens:
        parts += [" " * (token.position - end), token.text]
        end = token.position + len(token.text)
    return "".join(parts)


def _parsed(text: str) -> Any:
    try:
        from pyparsing import ParseBaseException  # an extra: only who asks in SPARQL needs it
        from rdflib.plugins.sparql import parser
    except ImportError:
        raise MissingExtra("SPARQL", "rdf", "rdflib") from None
    try:
        return _grammar(parser).parse_string(text, parse_all=True)
    except ParseBaseException:
        raise Unparsed(_observed(parser).furthest_failure(text)) from None


@lru_cache(maxsize=1)
def _grammar(parser: Any) -> Any:
    """The part of rdflib's grammar that is answered, as a copy: that of rdflib belongs to all of rdflib."""
    from pyparsing import MatchFirst, Token

    grammar = _copied(parser.Query)
    for element in _elements(grammar):
        element.ignoreExprs = []
        if isinstance(element, MatchFirst):
            element.exprs = [one for one in element.exprs if not _is_refused(one)] or element.exprs
        elif isinstance(element, Token):
            element.parseAction = [*element.parseAction, _look_up]
    return grammar


def _copied(grammar: Any) -> Any:
    """A copy of a grammar; the object that stands for an option not taken is known by its identity, and stays."""
    defaults = [element.defaultValue for element in _elements(grammar) if hasattr(element, "defaultValue")]
    return copy.deepcopy(grammar, {id(value): value for value in defaults})


def _look_up(_text: str, _start: int, _found: Any) -> None:
    """A word was found: a place to stop."""
    check_stop()


def _is_refused(element: Any) -> bool:
    """Whether an alternative begins with a keyword that no text has when it comes here."""
    from pyparsing import And, CaselessKeyword, Forward, MatchFirst, TokenConverter

    while isinstance(element, And | Forward | TokenConverter):
        element = element.exprs[0] if isinstance(element, And) else element.expr
    if isinstance(element, MatchFirst):
        return all(map(_is_refused, element.exprs))
    return isinstance(element, CaselessKeyword) and not is_answered(element.match)


class _Observed:
    """A copy of the grammar that notes how far a text fits.

    pyparsing itself reports where the last thing that it could skip begins, which may be the whole group.
    """

    def __init__(self, grammar: Any) -> None:
        from pyparsing import Token

        self._grammar = _copied(grammar)
        self._furthest = 0
        for element in _elements(self._grammar):
            if isinstance(element, Token):
                element.set_fail_action(self._note)

    def _note(self, _text: str, _start: int, _element: Any, error: Any) -> None:
        """A word of the grammar was expected and not found."""
        self._furthest = max(self._furthest, error.loc)

    def furthest_failure(self, text: str) -> int:
        """The furthest position at which any word of the grammar was expected and not found."""
        from pyparsing import ParseBaseException

        self._furthest = 0
        try:
            self._grammar.parse_string(text, parse_all=True)
        except ParseBaseException as error:
            return max(self._furthest, error.loc)
        return self._furthest


@lru_cache(maxsize=1)
def _observed(parser: Any) -> _Observed:
    return _Observed(_grammar(parser))


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
