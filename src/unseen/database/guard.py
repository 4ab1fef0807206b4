"""What SPARQL texts are let through to the store: nothing that reaches out, nothing that is absurdly large.

The store's engine would fetch SERVICE and LOAD from the network; both are found by their words, as nothing else in
SPARQL outside of strings, names and comments can spell them. It also recurses over what it parses: nesting is bounded.
"""

from __future__ import annotations

from functools import lru_cache

from unseen.errors import QueryRefused
from unseen.logic.sparql.words import tokens_of

PREDICT_SERVICE = "urn:unseen:predict"
"""The IRI of the SERVICE that answers by prediction, here and nowhere else."""
MOST_NESTED = 100
MOST_GROUPS = 2_000
"""Groups and brackets of a query; the time to plan one grows with the square of them."""


@lru_cache(maxsize=1024)
def check_query(text: str) -> frozenset[str]:
    """Refuse a query that must not be run; the words it uses, in capitals, if it may."""
    words = _checked_words(text, MOST_GROUPS)
    if "SERVICE" in words:
        raise _refused(
            text, "SERVICE", f"SERVICE asks other servers, which is off; only SERVICE <{PREDICT_SERVICE}> works"
        )
    return words


def check_update(text: str) -> frozenset[str]:
    """Refuse an update that must not be run; the words it uses, in capitals, if it may."""
    words = _checked_words(text, None)
    if "SERVICE" in words:
        raise _refused(text, "SERVICE", "SERVICE is not supported in updates")
    if "LOAD" in words:
        raise _refused(text, "LOAD", "LOAD is off: this server fetches nothing; send the statements to /store")
    return words


def _checked_words(text: str, most_groups: int | None) -> frozenset[str]:
    words: set[str] = set()
    depth = groups = 0
    for token in tokens_of(text):
        if token.kind == "word":
            words.add(token.text.upper())
        elif token.kind == "bracket":
            opens = token.text in "{(["
            depth += 1 if opens else -1
            groups += opens
            if depth > MOST_NESTED:
                raise QueryRefused(f"it is nested deeper than {MOST_NESTED} levels", text=text, position=token.position)
            if most_groups is not None and groups > most_groups:
                reason = f"it has more than {most_groups:,} groups and brackets"
                raise QueryRefused(reason, text=text, position=token.position)
    return frozenset(words)


def _refused(text: str, word: str, reason: str) -> QueryRefused:
    position = next(t.position for t in tokens_of(text) if t.kind == "word" and t.text.upper() == word)
    return QueryRefused(reason, text=text, position=position)
