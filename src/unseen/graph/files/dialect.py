"""How a text table is written: what separates its columns, and which of them are head, relation and tail."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SAMPLE_BYTES = 1 << 16
SAMPLE_LINES = 20
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "white space"}
WHITE_SPACE = re.compile(r"[ \t\v\f]+")
"""Separates names when the separator is " "; spaces beyond ASCII belong to names."""

ROLES = ("head", "relation", "tail")
_ROLE_OF = {
    **dict.fromkeys(("head", "subject", "source", "from", "h", "s", "entity"), "head"),
    **dict.fromkeys(("relation", "predicate", "property", "rel", "p", "r", "edge", "attribute"), "relation"),
    **dict.fromkeys(("tail", "object", "target", "to", "t", "o", "value"), "tail"),
}


@dataclass(frozen=True)
class Dialect:
    """The layout of one table; `header_lines`, in all `header_bytes` long, stand before the first triple."""

    separator: str
    columns: tuple[int, int, int] = (0, 1, 2)
    width: int = 3
    header_lines: int = 0
    header_bytes: int = 0

    @property
    def is_quoted(self) -> bool:
        """Whether a quote at the start of a name opens a quotation: with commas and semicolons only."""
        return self.separator in ",;"


def role_columns(words: Sequence[str]) -> tuple[int, int, int] | None:
    """Where head, relation and tail stand in a header; None if not each of them is named exactly once."""
    roles = roles_of(words)
    if any(roles.count(role) != 1 for role in ROLES):
        return None
    return roles.index("head"), roles.index("relation"), roles.index("tail")


def roles_of(words: Sequence[str]) -> list[str | None]:
    """What each word of a header says its column holds: head, relation, tail, or something else."""
    return [_ROLE_OF.get(word.strip().strip('"').lower()) for word in words]


def detected(stream: BinaryIO, table_format: str) -> Dialect:
    """The dialect of the table that starts here, by its first lines."""
    lines = _first_lines(stream)
    filled = [position for position, line in enumerate(lines) if line.strip()][:SAMPLE_LINES]
    texts = [lines[position].decode("utf-8", "replace") for position in filled]
    separator = _separator(texts, ",;\t " if table_format == "csv" else "\t,; ")
    header = split_rows(texts[:1], separator)
    columns = role_columns(header[0]) if header else None
    if columns is None:
        return Dialect(separator)
    before = lines[: filled[0] + 1]
    return Dialect(separator, columns, len(header[0]), len(before), sum(map(len, before)))


def split_rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    """The fields of each line; a quoted field may span several lines."""
    if separator in ",;":
        return list(csv.reader(lines, delimiter=separator))
    return [split_line(line, separator) for line in lines]


def split_line(line: str, separator: str) -> list[str]:
    """The fields of a line that has no quotations."""
    if separator == " ":
        return WHITE_SPACE.split(line.strip(" \t\v\f\r\n"))
    return line.rstrip("\r\n").split(separator)


def _first_lines(stream: BinaryIO) -> list[bytes]:
    """Whole lines from the start of the stream; one that is longer than the sample is cut."""
    sample = stream.read(SAMPLE_BYTES)
    lines = sample.splitlines(keepends=True)
    return lines[:-1] if len(sample) == SAMPLE_BYTES and len(lines) > 1 else lines


def _separator(lines: list[str], preferred: str) -> str:
    """The first separator that makes a header, or three fields of at least half the lines; else the most usual one."""
    for separator in preferred:
        rows = split_rows(lines, separator)
        triples = sum(len(row) == len(ROLES) for row in rows)
        if rows and (role_columns(rows[0]) is not None or 2 * triples >= len(rows)):
            return separator
    return preferred[0]
