"""rdflib's grammar of SPARQL queries, used by one thread at a time.

pyparsing's grammars are not safe to share. When a parse action is called for the first time, pyparsing finds out by
trial how many arguments it takes, and keeps that in the grammar; two threads that do so at once spoil it for good. A
lock around all parsing costs little: the parser is Python, which runs one thread at a time anyway. Nobody waits for
long, since texts are bounded: five thousand words (`words`) take about a second.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import Any

from unseen.errors import MissingExtra

_LOCK = Lock()


class Unparsed(Exception):
    """The text does not fit the grammar, at a position."""

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(position)


def parse_tree(text: str) -> Any:
    """The parse tree of a query: its declarations and the query itself."""
    with _LOCK, ThreadPoolExecutor(max_workers=1) as pool:
        # in a thread of its own, so that how deep it may recurse does not depend on who asks
        return pool.submit(_parsed, text).result()


def _parsed(text: str) -> Any:
    try:
        from pyparsing import ParseBaseException  # an extra: only who asks in SPARQL needs it
        from rdflib.plugins.sparql import parser
    except ImportError:
        raise MissingExtra("SPARQL", "rdf", "rdflib") from None
    try:
        return parser.Query.parse_string(text, parse_all=True)
    except ParseBaseException:
        raise Unparsed(_observed(parser).furthest_failure(text)) from None


class _Observed:
    """A copy of the grammar that notes how far a text fits; that of rdflib belongs to all of rdflib.

    pyparsing itself reports where the last thing that it could skip begins, which may be the whole group.
    """

    def __init__(self, grammar: Any) -> None:
        from pyparsing import Token

        self._grammar = copy.deepcopy(grammar)
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
    return _Observed(parser.Query)


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
