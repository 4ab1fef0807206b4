"""IRIs that belong to the database itself: no update, document or parameter may name them.

One graph holds the trace of an update, another the numbers of the changes that the triples hold (`numbering`). Anyone
who could write or drop them could make the database forget an update.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unseen.logic.sparql.words import Token

RESERVED = "urn:unseen-store:"
TOUCHED = f"{RESERVED}touched"
"""The graph into which an update writes what it touches."""
ANYTHING = f"{RESERVED}anything"
"""What an update writes there if that may be anything."""
STATE = f"{RESERVED}state"
"""The graph with the numbers of the changes that the triples hold."""
CHANGE, NUMBER, LOADED = f"{RESERVED}change", f"{RESERVED}number", f"{RESERVED}loaded"
OWN_GRAPHS = (TOUCHED, STATE)
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|%([0-9A-Fa-f]{2})|\\(.)")


def refuse_reserved(text: str, tokens: Sequence[Token] = (), prefixes: Mapping[str, str] | None = None) -> None:
    """Refuse a text that names one of our IRIs: spelled out anywhere, or as a prefixed name among its tokens."""
    if RESERVED in _written_out(text).lower() or any(map(_is_reserved, _names(tokens, prefixes or {}))):
        raise QueryRefused(f"IRIs that begin with {RESERVED} belong to the database itself")


def _names(tokens: Sequence[Token], prefixes: Mapping[str, str]) -> Iterator[str]:
    """The IRIs of the prefixed names of a SPARQL text, if any of its namespaces can lead to ours."""
    known = [*prefixes.items()]
    known += [
        (name.text[:-1], _written_out(iri.text[1:-1]))
        for name, iri in pairwise(tokens)
        if name.kind == "name" and name.text.endswith(":") and iri.kind == "iri"
    ]
    leading = [(prefix, iri) for prefix, iri in known if RESERVED.startswith(iri.lower())]
    for token in tokens if leading else ():
        prefix, _, local = token.text.partition(":") if token.kind == "name" else ("", "", "")
        for known_prefix, iri in leading:
            if prefix.lower().endswith(known_prefix.lower()):
                yield iri + _written_out(local)


def _is_reserved(iri: str) -> bool:
    return iri.lower().startswith(RESERVED)


def _written_out(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return str(match[4])
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else ""
