"""Turtle and TriG whose brackets nest deeper than any that people write.

Every level of `[`, `(`, `{|` and `<<` takes memory and time in each part of the way from a document to statements.
Strings, IRIs, comments and escaped letters are left out as the parser reads them; where the two could differ, the
parser finds a syntax error and reads no further.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unseen.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    Open = Callable[[], AbstractContextManager[BinaryIO]]

BRACKETED = ("TURTLE", "TRIG")
"""Formats, by the names of `pyoxigraph.RdfFormat`."""
DEEPEST_BRACKET = 1000
"""Levels of brackets: old writers nest the elements of a list in each other."""
_BLOCK = 1 << 18
_SKIPPED = (
    rb'"""(?:"{0,2}+(?:[^"\\]++|\\.))*+"""|"(?:[^"\\]++|\\.)++"|""(?=[^"])'
    rb"|'''(?:'{0,2}+(?:[^'\\]++|\\.))*+'''|'(?:[^'\\]++|\\.)++'|''(?=[^'])"
    rb"|<(?!<)[^>]*+>|\#[^\r\n]*+[\r\n]|\\."
)
"""Strings, IRIs, comments and escaped letters."""
_WHOLE = re.compile(rb"(?:" + _SKIPPED + rb"|<<|[^\"'<#\\]++)*+", re.DOTALL)
_NO_BRACKETS = re.compile(_SKIPPED + rb"|\"\"|''|<<\(|\)>>|[^\[\](){}<>\"'#\\]++", re.DOTALL)
"""All but brackets; the marks of triple terms have a limit of their own (`nesting`)."""


class DeepBrackets(GraphError):
    """A document whose brackets nest too deep."""

    def __init__(self) -> None:
        super().__init__(f"its brackets are nested more than {DEEPEST_BRACKET:,} levels deep")


def check_brackets(open_document: Open) -> None:
    """Refuse a document whose brackets nest too deep; one with few brackets is shallow whatever it says."""
    with open_document() as stream:
        if not _has_many(stream):
            return
    with open_document() as stream:
        _check(stream)


def _has_many(stream: BinaryIO) -> bool:
    count = 0
    while count <= DEEPEST_BRACKET and (block := stream.read(_BLOCK)):
        count += sum(map(block.count, (b"[", b"(", b"{", b"<<")))
    return count > DEEPEST_BRACKET


def _check(stream: BinaryIO) -> None:
    """Follow the depth; what is not complete at the end of a block waits for the next, which is as long again."""
    depth, rest = 0, b""
    while block := stream.read(max(_BLOCK, len(rest))):
        rest += block
        found = _WHOLE.match(rest)
        end = found.end() if found else 0
        depth = _depth_after(depth, _NO_BRACKETS.sub(b"", rest[:end]))
        rest = rest[end:]


def _depth_after(depth: int, brackets: bytes) -> int:
    """The depth after some brackets; `<<` and `>>` are two each."""
    opening = sum(map(brackets.count, (b"[", b"(", b"{", b"<")))
    if depth + opening <= DEEPEST_BRACKET:
        return depth + 2 * opening - len(brackets)
    for sign in brackets:
        depth += 1 if sign in b"[({<" else -1
        if depth > DEEPEST_BRACKET:
            raise DeepBrackets
    return depth
