"""What SPARQL texts are let through to the store: nothing that reaches out, nothing that is absurdly large.

The store's engine would fetch SERVICE and LOAD from the network. Its parser needs no blank after a keyword
(`SERVICESILENT<...>`, `LOAD:x`), so a text is refused when one of these words is part of any word, or of the prefix of
any name. And where `<` may be a comparison as well as the beginning of an IRI, the two readings of the rest of the text
differ, so there the letters alone are enough. The engine also recurses over what it parses: nesting is bounded. And
it plans what it has parsed: operators, triples and groups are bounded, but not the rows of DATA and VALUES.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREDICT_SERVICE = "urn:unseen:predict"
"""The IRI of the SERVICE that answers by prediction, here and nowhere else."""
MOST_NESTED = 100
MOST_GROUPS = 2_000
"""Groups and brackets of a text; the time to plan one grows with the square of them."""
MOST_SIGNS = 2_000
"""Operators and ends of triples of a text; a chain of many thousands is planned until the time is over."""
LONGEST_REMEMBERED = 10_000
"""Characters of a query whose check is remembered."""

_REASONS = {
    "SERVICE": f"SERVICE asks other servers, which is off; only SERVICE <{PREDICT_SERVICE}> works, and in queries only",
    "LOAD": "LOAD is off: this server fetches nothing; send the statements to /store",
}
_TOO_MANY_SIGNS = f"it has more than {MOST_SIGNS:,} operators and triples; ask with VALUES, or in several parts"
_TOO_MANY_GROUPS = f"it has more than {MOST_GROUPS:,} groups and brackets"
_UNCLEAR = "it cannot be told whether this `<` begins an IRI or compares; write a blank after it if it compares"
_PLAIN_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]*:[^'()#]*>")


def nested_tokens(text: str) -> list[Token]:
    """The words and signs of a text; one with a long row of signs that nest, as in `!!!?a`, is refused at once."""
    tokens: list[Token] = []
    row = 0
    for token in tokens_of(text):
        row = row + 1 if token.kind == "sign" and token.text in "!+-" else 0
        if row > MOST_NESTED:
            raise _nested(text, token)
        tokens.append(token)
    return tokens


def _nested(text: str, token: Token) -> QueryRefused:
    return QueryRefused(f"it is nested deeper than {MOST_NESTED} levels", text=text, position=token.position)


def check_query(text: str) -> frozenset[str]:
    """Refuse a query that must not be run; the words it uses, in capitals, if it may."""
    return _checked_query(text) if len(text) > LONGEST_REMEMBERED else _remembered_query(text)


def check_update(text: str, tokens: list[Token]) -> frozenset[str]:
    """Refuse an update that must not be run; the words it uses, in capitals, if it may."""
    _refuse_reaching_out(text, tokens, ("SERVICE", "LOAD"))
    return _checked_words(text, tokens)


def unclear_comparison(tokens: Iterable[Token]) -> Token | None:
    """The first token that was read as an IRI and may be a comparison with what follows it, `?a<?b)...>`."""
    depth, may_be_compared = 0, False
    for token in tokens:
        if token.text in "()" and token.kind == "bracket":
            depth += 1 if token.text == "(" else -1
        elif token.kind == "iri" and depth > 0 and may_be_compared and not _PLAIN_IRI.fullmatch(token.text):
            return token
        may_be_compared = token.text in (")", "]", "}", ">") or token.kind not in ("bracket", "sign")
    return None


def _checked_query(text: str) -> frozenset[str]:
    tokens = nested_tokens(text)
    _refuse_reaching_out(text, tokens, ("SERVICE",))
    return _checked_words(text, tokens)


_remembered_query = lru_cache(maxsize=1024)(_checked_query)


def _refuse_reaching_out(text: str, tokens: list[Token], words: tuple[str, ...]) -> None:
    """Refuse a text in which one of some words is spelled where a keyword can be."""
    for token in tokens:
        if token.kind in ("word", "name"):
            letters = token.text.partition(":")[0].upper()
            for word in words:
                if word in letters:
                    raise QueryRefused(_REASONS[word], text=text, position=token.position)
    unclear = unclear_comparison(tokens)
    if unclear is not None and any(word in text[unclear.position :].upper() for word in words):
        raise QueryRefused(_UNCLEAR, text=text, position=unclear.position)


def _checked_words(text: str, tokens: list[Token]) -> frozenset[str]:
    """The words of a text in capitals; one that is too deep, or has too much to plan, is refused."""
    words: set[str] = set()
    depth = 0
    for token in tokens:
        if token.kind == "word":
            words.add(token.text.upper())
        elif token.kind == "bracket":
            depth += 1 if token.text in "{([" else -1
            if depth > MOST_NESTED:
                raise _nested(text, token)
    _refuse_much_to_plan(text, tokens)
    return frozenset(words)


def _refuse_much_to_plan(text: str, tokens: list[Token]) -> None:
    """Refuse a query, or one operation of an update, with thousands of operators, triples or groups."""
    signs = groups = braces = 0
    for token in without_rows(tokens):
        if token.kind == "sign" and token.text == ";" and braces == 0:
            signs = groups = 0
        signs += token.kind == "sign" and token.text != ","
        if token.kind == "bracket":
            groups += token.text in "{(["
            braces += {"{": 1, "}": -1}.get(token.text, 0)
        if signs > MOST_SIGNS or groups > MOST_GROUPS:
            reason = _TOO_MANY_SIGNS if signs > MOST_SIGNS else _TOO_MANY_GROUPS
            raise QueryRefused(reason, text=text, position=token.position)


def without_rows(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens outside of the braces of `INSERT DATA`, `DELETE DATA` and VALUES, where everything is a constant."""
    last_word, depth = "", 0
    for token in tokens:
        is_opening = token.kind == "bracket" and token.text == "{"
        if token.kind == "word" and not depth:
            last_word = token.text.upper()
        if is_opening and (depth or last_word in ("DATA", "VALUES")):
            depth += 1
        elif depth:
            depth -= token.kind == "bracket" and token.text == "}"
        else:
            yield token
        if is_opening:
            last_word = ""
