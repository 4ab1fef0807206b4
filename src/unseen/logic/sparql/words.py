"""A SPARQL text before it is parsed: its words, its brackets, and what is never answered.

Outside of names, variables and strings every word of SPARQL is a keyword. So a construct that is refused is found by
its word, with the exact place, and a text that is too long or nested too deeply never reaches the parser.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from unseen.errors import QueryRefused, QuerySyntaxError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_LENGTH = 100_000
"""Longest text accepted, in characters."""
MAX_TOKENS = 5_000
"""Most words and signs accepted: one to two seconds of parsing, twice that for one with an error at its end."""
MAX_DIGITS = 100
"""Longest number accepted."""
MAX_NESTING = 16
"""Deepest nesting of brackets accepted: the parser calls itself some thirty times for each."""

_ACCEPTED = re.compile(
    "SELECT|DISTINCT|REDUCED|WHERE|UNION|MINUS|FILTER|NOT|EXISTS|IN|VALUES|PREFIX|BASE|LIMIT|TRUE|FALSE|(?-i:a)|"
    "ORDER|BY|ASC|DESC|REGEX|STRSTARTS|STRENDS|CONTAINS|LANG|LANGMATCHES|STR|ISLITERAL|ISIRI|ISURI|ISBLANK|ISNUMERIC",
    re.IGNORECASE,
)
_CHANGES = "it would change the graph: only SELECT is answered"
_AGGREGATE = "an aggregate is selected under a name, as in (COUNT(?x) AS ?n)"
_REFUSED = {
    "OPTIONAL": "OPTIONAL is not supported: every pattern must hold",
    "BIND": "BIND is not supported: use VALUES to name a constant",
    "SERVICE": "SERVICE is not supported: only this graph is asked",
    "GRAPH": "GRAPH is not supported: there is one graph",
    "FROM": "FROM is not supported: the graph is the one that was loaded",
    "UNDEF": "UNDEF is not supported: every value must be named",
    "GROUP": "GROUP BY is not supported: a question asks for entities",
    "HAVING": "HAVING is not supported: a question asks for entities",
    "OFFSET": "OFFSET is not supported: use LIMIT",
    "AS": "expressions in SELECT are not supported: select one variable",
    "ASK": "ASK is a statement: `unseen score`, `unseen.score` or `/score` says how likely it is",
    **{word: f"{word} is not supported: only SELECT is answered" for word in ("CONSTRUCT", "DESCRIBE")},
    **dict.fromkeys(("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"), _AGGREGATE),
    **dict.fromkeys(("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"), _CHANGES),
}
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_LOCAL = r"(?:[\w:·-]++|%[0-9A-Fa-f]{2}|\\.)"
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+|\#[^\r\n]*)
  | (?P<iri><(?:[^<>"{{}}|^`\\\x00-\x20]++|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}})*+>)
  | (?P<quote>\"{{3}}|'{{3}}|"|')
  | (?P<variable>[?$]\w+)
  | (?P<name>(?:_|[^\W\d_][\w.·-]{{0,256}}+(?<!\.))?:(?:{_LOCAL}(?:\.*+{_LOCAL})*+)?)
  | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<bracket>[{{}}()\[\]])
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRINGS = {
    '"' * 3: (re.compile(r'(?:"{0,2}+(?:[^"\\]++|\\.))*+', re.DOTALL), re.compile('"{3}')),
    "'" * 3: (re.compile(r"(?:'{0,2}+(?:[^'\\]++|\\.))*+", re.DOTALL), re.compile("'{3}")),
    '"': (re.compile(r'(?:[^"\\\r\n]++|\\.)*+', re.DOTALL), re.compile('"')),
    "'": (re.compile(r"(?:[^'\\\r\n]++|\\.)*+", re.DOTALL), re.compile("'")),
}
"""By its quotation mark, what is inside of a string and what ends it."""
_CODE_POINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


class Token(NamedTuple):
    """One word or sign of a text; `kind` is the name of a group of the pattern above."""

    kind: str
    text: str
    position: int


def plain_text(text: str) -> str:
    r"""The text with `\uXXXX` written out and with spaces for tabs, which is what the parser's positions refer to."""
    if len(text) > MAX_LENGTH:
        raise QueryRefused(f"it is longer than {MAX_LENGTH:,} characters")
    return _CODE_POINT.sub(_character, text).replace("\t", " ")


def checked_tokens(text: str) -> list[Token]:
    """The words and signs of a plain text, brackets in pairs and every keyword one that is answered."""
    tokens = _tokens(text)
    if not tokens:
        raise QuerySyntaxError("the question is empty", text=text, position=0)
    _check_brackets(tokens, text)
    for index, token in enumerate(tokens):
        if token.kind == "word":
            _check_word(token, tokens[index + 1 : index + 2], text)
        elif token.text in ('"', "'"):
            raise QuerySyntaxError("this quotation mark is never closed", text=text, position=token.position)
        elif token.kind == "number" and len(token.text) > MAX_DIGITS:
            raise QueryRefused(f"a number has more than {MAX_DIGITS} digits", text=text, position=token.position)
    _check_single_select(tokens, text)
    return tokens


def _character(match: re.Match[str]) -> str:
    code = int(match.group(1) or match.group(2), 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise QuerySyntaxError("there is no such character", text=match.string, position=match.start())
    return chr(code)


def tokens_of(text: str) -> Iterator[Token]:
    """Every word and sign of a SPARQL text, query or update, valid or not; spaces and comments are left out.

    The time grows with the length of the text and no faster: a quotation mark that is found to be unclosed up to some
    place is not looked after again before that place (a text may open a string at every second character).
    """
    unclosed = dict.fromkeys(_STRINGS, 0)
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind = str(match.lastgroup)
        if kind == "quote":
            start = match.start()
            position = _end_of_string(text, start, unclosed)
            kind = "string" if position > start + 1 else "sign"
            yield Token(kind, text[start:position], start)
        elif kind != "space":
            yield Token(kind, match.group(), match.start())


def named_in(tokens: Iterable[Token], prefixes: Mapping[str, str]) -> Iterator[tuple[Token, str]]:
    """The IRIs and prefixed names among words, each with its full IRI; `prefixes` are those that are not declared."""
    known = dict(prefixes)
    declared: str | None = None
    for before, token in pairwise([Token("space", "", 0), *tokens]):
        if before.text.upper() == "PREFIX":
            declared = token.text[:-1]
        elif declared is not None:
            known[declared], declared = token.text[1:-1], None
        elif token.kind == "iri":
            yield token, token.text[1:-1]
        elif token.kind == "name":
            prefix, _, local = token.text.partition(":")
            yield token, known.get(prefix, f"{prefix}:") + local


def _end_of_string(text: str, start: int, unclosed: dict[str, int]) -> int:
    """Where the string that a quotation mark opens ends; if none does, the place after the mark."""
    sign = text[start]
    for mark in (sign * 3, sign):
        if start >= unclosed[mark] and text.startswith(mark, start):
            inside, closing = _STRINGS[mark]
            body = inside.match(text, start + len(mark))
            end = start + len(mark) if body is None else body.end()
            if closed := closing.match(text, end):
                return closed.end()
            unclosed[mark] = end
    return start + 1


def _tokens(text: str) -> list[Token]:
    found = list(islice(tokens_of(text), MAX_TOKENS + 1))
    if len(found) > MAX_TOKENS:
        raise QueryRefused(f"it has more than {MAX_TOKENS:,} words and signs", text=text, position=found[-1].position)
    return found


def _check_brackets(tokens: list[Token], text: str) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.kind != "bracket":
            continue
        if token.text in _CLOSING:
            opened.append(token)
        elif not opened or _CLOSING[opened.pop().text] != token.text:
            raise QuerySyntaxError(f"nothing is open that `{token.text}` closes", text=text, position=token.position)
        if len(opened) > MAX_NESTING:
            reason = f"it is nested deeper than {MAX_NESTING} levels"
            raise QueryRefused(reason, text=text, position=token.position)
    if opened:
        raise QuerySyntaxError(f"this `{opened[-1].text}` is never closed", text=text, position=opened[-1].position)


def is_answered(word: str) -> bool:
    """Whether a keyword may stand in a question."""
    return _ACCEPTED.fullmatch(word) is not None


def _check_word(token: Token, following: list[Token], text: str) -> None:
    if is_answered(token.text):
        return
    if reason := _REFUSED.get(token.text.upper()):
        raise QueryRefused(reason, text=text, position=token.position)
    shown = shorten(token.text)
    if following and following[0].text == "(":
        reason = f"the function {shown} is not supported: FILTER compares values or names, or tests (NOT) EXISTS"
        raise QueryRefused(reason, text=text, position=token.position)
    problem = f"`{shown}` is not a word of SPARQL; names are written `:{shown}` or as an <iri>"
    raise QuerySyntaxError(problem, text=text, position=token.position)


def _check_single_select(tokens: list[Token], text: str) -> None:
    selects = [token for token in tokens if token.kind == "word" and token.text.upper() == "SELECT"]
    if len(selects) > 1:
        raise QueryRefused("subqueries are not supported", text=text, position=selects[1].position)
