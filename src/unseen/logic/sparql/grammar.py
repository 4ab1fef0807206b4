"""rdflib's grammar of SPARQL queries, used by one thread at a time.

pyparsing's grammars are not safe to share. When a parse action is called for the first time, pyparsing finds out by
trial how many arguments it takes, and keeps that in the grammar; two threads that do so at once spoil it for good. A
lock around all parsing costs little: the parser is Python, which runs one thread at a time anyway. Nobody waits for
long, since texts are bounded in words (`words`), and parsing in time.
"""

from __future__ import annotations

import copy
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import Any

from unseen.errors import MissingExtra

MOST_SECONDS = 5.0
"""Processor time for one text; the parser tries some nested patterns again and again."""
_EVERY = 500
"""Words that did not fit, between two looks at the clock."""
_LOCK = Lock()


class Unparsed(Exception):
    """The text does not fit the grammar, at a position."""

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(position)


class TooSlow(Exception):
    """Parsing took longer than it may."""


def parse_tree(text: str) -> Any:
    """The parse tree of a query: its declarations and the query itself."""
    with _LOCK, ThreadPoolExecutor(max_workers=1) as pool:
        # in a thread of its own, so that how deep it may recurse does not depend on who asks
        return pool.submit(_grammar().parse, text).result()


class _Grammar:
    """A copy of the grammar, since that of rdflib belongs to all of rdflib; it notes how far a text fits.

    pyparsing itself reports where the last thing that it could skip begins, which may be the whole group.
    """

    def __init__(self) -> None:
        try:
            from pyparsing import ParseBaseException, Token  # an extra: only who asks in SPARQL needs it
            from rdflib.plugins.sparql import parser
        except ImportError:
            raise MissingExtra("SPARQL", "rdf", "rdflib") from None
        self._failure = ParseBaseException
        self._query: Any = copy.deepcopy(parser.Query)
        self._furthest = self._count = 0
        self._deadline = 0.0
        for element in _elements(self._query):
            if isinstance(element, Token):
                element.set_fail_action(self._note)

    def parse(self, text: str) -> Any:
        self._furthest = self._count = 0
        self._deadline = time.thread_time() + MOST_SECONDS
        try:
            return self._query.parse_string(text, parse_all=True)
        except self._failure as error:
            raise Unparsed(max(self._furthest, error.loc)) from None

    def _note(self, _text: str, _start: int, _element: Any, error: Any) -> None:
        """A word of the grammar was expected and not found."""
        self._furthest = max(self._furthest, error.loc)
        self._count += 1
        if self._count % _EVERY == 0 and time.thread_time() > self._deadline:
            raise TooSlow


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    return _Grammar()


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
