"""SPARQL ASK as a statement: whether its pattern matches.

    ASK { :France :borders ?x . ?x :speaks :German }

The pattern may have what that of a SELECT may have. The parser only knows SELECT, so the word is put in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.sparql.meaning import closed_formula
from unseen.logic.sparql.parse import group_of
from unseen.logic.sparql.words import MAX_LENGTH, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.logic.formula import Formula

_SELECT = "SELECT ?ask"
_FORMS = ("ASK", "SELECT", "CONSTRUCT", "DESCRIBE")


def place_of_ask(text: str) -> int | None:
    """Where the word ASK stands, if a SPARQL text is an ASK."""
    if len(text) > MAX_LENGTH:
        raise QueryRefused(f"it is longer than {MAX_LENGTH:,} characters")
    words = ((token.text.upper(), token.position) for token in tokens_of(text) if token.kind == "word")
    form, position = next(((word, place) for word, place in words if word in _FORMS), ("", 0))
    return position if form == "ASK" else None


def parse_ask(text: str, prefixes: Mapping[str, str]) -> Formula:
    """The closed formula of an ASK; `prefixes` are those of the graph."""
    place = place_of_ask(text)
    if place is None:
        raise QueryRefused("it is not an ASK, and only that asks whether something holds", text=text, position=0)
    selecting = text[:place] + _SELECT + text[place + len("ASK") :]
    try:
        return closed_formula(group_of(selecting, prefixes), selecting)
    except QuerySyntaxError as error:
        raise QuerySyntaxError(error.problem, text=text, position=_before(error.position, place)) from None
    except QueryRefused as error:
        at = None if error.position is None else _before(error.position, place)
        raise QueryRefused(error.reason, text=text, position=at, place=error.place) from None


def _before(position: int, place: int) -> int:
    """A position of the text that was parsed, in the text as written."""
    shift = len(_SELECT) - len("ASK")
    return position if position <= place else max(place, position - shift)
