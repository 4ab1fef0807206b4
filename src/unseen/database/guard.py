"""What SPARQL texts are let through to the store: nothing that reaches out, nothing that is absurdly large.

The store's engine would fetch SERVICE and LOAD from the network. Its parser needs no blank after a keyword
(`SERVICESILENT<...>`, `LOAD:x`), so a text is refused when one of these words is part of any word, or of the prefix of
any name. And where `<` may be a comparison as well as the beginning of an IRI, the two readings of the rest of the text
differ, so there the letters alone are enough. The engine also recurses over what it parses: nesting is bounded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable

PREDICT_SERVICE = "urn:unseen:predict"
"""The IRI of the SERVICE that answers by prediction, here and nowhere else."""
MOST_NESTED = 100
MOST_GROUPS = 2_000
"""Groups and brackets of a query; the time to plan one grows with the square of them."""
MOST_SIGNS = 2_000
"""Operators and ends of triples of a query; a chain of many thousands is planned until the time is over."""
LONGEST_REMEMBERED = 10_000
"""Characters of a query whose check is remembered."""

_REASONS = {
    "SERVICE": f"SERVICE asks other servers, which is off; only SERVICE <{PREDICT_SERVICE}> works, and in queries only",
    "LOAD": "LOAD is off: this server fetches nothing; send the statements to /store",
}
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
    return _checked_words(text, tokens, None)


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
    _refuse_chains(text, tokens)
    return _checked_words(text, tokens, MOST_GROUPS)


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


def _refuse_chains(text: str, tokens: list[Token]) -> None:
    """Refuse a query of thousands of operators or triples. VALUES may have many numbers, whose signs do not count."""
    signs = [token for token in tokens if token.kind == "sign" and token.text != ","]
    signs = [token for token in signs if not _is_of_a_number(text, token)]
    if len(signs) > MOST_SIGNS:
        reason = f"it has more than {MOST_SIGNS:,} operators and triples; ask with VALUES, or with several queries"
        raise QueryRefused(reason, text=text, position=signs[MOST_SIGNS].position)


def _is_of_a_number(text: str, token: Token) -> bool:
    before, after = text[token.position - 1 : token.position], text[token.position + 1 : token.position + 2]
    return token.text in "+-" and after.isdigit() and (before.isspace() or before in "({")


def _checked_words(text: str, tokens: list[Token], most_groups: int | None) -> frozenset[str]:
    words: set[str] = set()
    depth = groups = 0
    for token in tokens:
        if token.kind == "word":
            words.add(token.text.upper())
        elif token.kind == "bracket":
            opens = token.text in "{(["
            depth += 1 if opens else -1
            groups += opens
            if depth > MOST_NESTED:
                raise _nested(text, token)
            if most_groups is not None and groups > most_groups:
                reason = f"it has more than {most_groups:,} groups and brackets"
                raise QueryRefused(reason, text=text, position=token.position)
    return frozenset(words)
