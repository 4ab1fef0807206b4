"""A SELECT cut into its parts, by its words, so that some of them can be left out.

Everything between two brackets belongs together, and every part of a group but triples begins with a keyword. So the
words suffice, and each part keeps its place in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.sparql.words import tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.logic.sparql.words import Token

AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_KEYWORDS = ("OPTIONAL", "MINUS", "FILTER", "BIND", "VALUES", "GRAPH", "SERVICE")
_MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


@dataclass(frozen=True)
class Piece:
    """Some words of a text that belong together."""

    kind: str
    """A keyword in capitals; `TRIPLES`, `GROUP`, `SUBQUERY` or `EXISTS` (a FILTER that tests patterns)."""
    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.tokens[0].position

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.tokens[-1].position + len(self.tokens[-1].text)

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables in it."""
        return frozenset(token.text[1:] for token in self.tokens if token.kind == "variable")

    def has(self, *words: str) -> bool:
        """Whether it contains one of some keywords."""
        return any(token.kind == "word" and token.text.upper() in words for token in self.tokens)

    def of(self, text: str) -> str:
        """Its words as written."""
        return text[self.start : self.end]


@dataclass(frozen=True)
class SelectParts:
    """A SELECT in pieces."""

    text: str
    select: Token
    is_distinct: bool
    items: tuple[Piece, ...]
    """What is selected: variables, and expressions with a name; none for `*`."""
    group: Piece
    """All from `{` to `}`."""
    parts: tuple[Piece, ...]
    """What stands in the group."""
    modifiers: dict[str, Piece]
    """GROUP, HAVING, ORDER, LIMIT, OFFSET, each with its keyword."""

    @property
    def prologue(self) -> str:
        """The text before SELECT."""
        return self.text[: self.select.position]

    def number(self, word: str) -> int | None:
        """The number of LIMIT or OFFSET."""
        piece = self.modifiers.get(word)
        digits = piece.tokens[-1].text if piece else ""
        return int(digits) if digits.isdecimal() and len(digits) < 19 else None


def select_parts(text: str) -> SelectParts | None:
    """The pieces of a text; None if it is no SELECT with brackets in pairs."""
    tokens = list(tokens_of(text))
    words = [token.text.upper() if token.kind == "word" else token.text for token in tokens]
    if "SELECT" not in words:
        return None
    first = words.index("SELECT")
    opening = next((i for i in range(first, len(words)) if words[i] == "{"), None)
    closing = None if opening is None else _closing(tokens, opening)
    if opening is None or closing is None:
        return None
    head = [t for t in tokens[first + 1 : opening] if not (t.kind == "word" and t.text.upper() == "WHERE")]
    is_distinct = bool(head) and head[0].kind == "word" and head[0].text.upper() in ("DISTINCT", "REDUCED")
    items = _items(text, head[is_distinct:])
    group = Piece("GROUP", tuple(tokens[opening : closing + 1]))
    parts = tuple(_parts(text, tokens[opening + 1 : closing]))
    return SelectParts(text, tokens[first], is_distinct, items, group, parts, _modifiers(text, tokens[closing + 1 :]))


def _closing(tokens: Sequence[Token], opening: int) -> int | None:
    """The place of the bracket that closes one."""
    open_ones: list[str] = []
    for place in range(opening, len(tokens)):
        token = tokens[place]
        if token.kind != "bracket":
            continue
        if token.text in _CLOSING:
            open_ones.append(_CLOSING[token.text])
        elif open_ones.pop() != token.text:
            return None
        if not open_ones:
            return place
    return None


def _items(text: str, tokens: Sequence[Token]) -> tuple[Piece, ...]:
    items, place = [], 0
    while place < len(tokens):
        token, end = tokens[place], place
        if token.text == "(":
            end = _end(text, tokens, place)
            if tokens[end - 1].kind != "variable":
                _unfit(text, tokens[end])
            items.append(Piece("AS", tuple(tokens[place : end + 1])))
        elif token.kind == "variable":
            items.append(Piece("VARIABLE", (token,)))
        elif token.text != "*":
            _unfit(text, token)
        place = end + 1
    return tuple(items)


def _parts(text: str, tokens: Sequence[Token]) -> list[Piece]:
    found, place = [], 0
    while place < len(tokens):
        kind, end = _part(text, tokens, place)
        if kind:
            found.append(Piece(kind, tuple(tokens[place:end])))
        place = end
    return found


def _part(text: str, tokens: Sequence[Token], place: int) -> tuple[str, int]:
    """The kind of the part that begins at a place, and where the next one begins."""
    token = tokens[place]
    word = token.text.upper() if token.kind == "word" else ""
    if token.text == ".":
        return "", place + 1
    if token.text == "{":
        return _groups(text, tokens, place)
    if word not in _KEYWORDS:
        return "TRIPLES", _end_of_triples(text, tokens, place)
    opening = next((i for i in range(place, len(tokens)) if tokens[i].text in ("{", "(")), None)
    if opening is None:
        _unfit(text, token)
    end = _end(text, tokens, opening) + 1
    if word == "VALUES" and tokens[opening].text == "(":
        if end >= len(tokens) or tokens[end].text != "{":
            _unfit(text, token)
        end = _end(text, tokens, end) + 1
    is_test = word == "FILTER" and any(t.text.upper() == "EXISTS" for t in tokens[place:opening])
    return "EXISTS" if is_test else word, end


def _groups(text: str, tokens: Sequence[Token], place: int) -> tuple[str, int]:
    """A group, with those that UNION joins with it."""
    is_select = place + 1 < len(tokens) and tokens[place + 1].text.upper() == "SELECT"
    end = _end(text, tokens, place) + 1
    while end + 1 < len(tokens) and tokens[end].text.upper() == "UNION" and tokens[end + 1].text == "{":
        end = _end(text, tokens, end + 1) + 1
        is_select = False
    return "SUBQUERY" if is_select else "GROUP", end


def _end_of_triples(text: str, tokens: Sequence[Token], place: int) -> int:
    while place < len(tokens):
        token = tokens[place]
        if token.text == "{" or (token.kind == "word" and token.text.upper() in _KEYWORDS):
            break
        place = _end(text, tokens, place) + 1 if token.text in _CLOSING else place + 1
    return place


def _modifiers(text: str, tokens: Sequence[Token]) -> dict[str, Piece]:
    """What comes after the group, by its keyword."""
    starts = [i for i, t in enumerate(tokens) if t.kind == "word" and t.text.upper() in _MODIFIERS]
    if tokens and (not starts or starts[0] > 0):
        _unfit(text, tokens[0])
    ends = [*starts[1:], len(tokens)][: len(starts)]
    pieces = (
        Piece(tokens[start].text.upper(), tuple(tokens[start:end])) for start, end in zip(starts, ends, strict=True)
    )
    return {piece.kind: piece for piece in pieces}


def _end(text: str, tokens: Sequence[Token], opening: int) -> int:
    closing = _closing(tokens, opening)
    if closing is None:
        _unfit(text, tokens[opening])
    return closing


def _unfit(text: str, token: Token) -> NoReturn:
    raise QuerySyntaxError(f"`{token.text}` does not fit here", text=text, position=token.position)


def refuse(text: str, reason: str, token: Token) -> NoReturn:
    """Refuse a text at a word of it."""
    raise QueryRefused(reason, text=text, position=token.position)
