"""Text tables line by line: slower than `tables`, but it knows the line that is wrong and can leave it out."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from unseen.errors import MalformedLine
from unseen.graph.files.dialect import ROLES, SEPARATORS, Dialect, split_line
from unseen.graph.files.parts import LONGEST_NAME, Part, PartBuilder, Problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unseen.graph.files.sources import Source

LONGEST_LINE = 1 << 26
REMEDY = "--skip-errors leaves such lines out"
_END_OF_FILE = "\0end of file"


class Row(NamedTuple):
    """The fields that start on a line, or what kept them from being told apart."""

    line: int
    fields: list[str]
    problem: str | None = None


def read_lines(source: Source, dialect: Dialect, *, skip_errors: bool) -> Part:
    """The triples of a table; the first bad line is an error, or every bad line is left out."""
    builder, problems = PartBuilder(), Problems()
    with source.open_text() as stream:
        stream.read(dialect.header_bytes)
        lines = _lines(stream, dialect.header_lines, source.path)
        rows = _quoted_rows(lines, dialect) if dialect.is_quoted else _plain_rows(lines, dialect)
        builder.add_all(_triples(rows, dialect, source.path, problems if skip_errors else None))
    return builder.part(problems)


def _triples(
    rows: Iterator[Row], dialect: Dialect, path: Path, problems: Problems | None
) -> Iterator[tuple[str, str, str]]:
    """The rows that are triples; any other goes to `problems`, or is an error."""
    head, relation, tail = dialect.columns
    for line, fields, broken in rows:
        problem = broken or _problem_with(fields, dialect)
        if problem is None:
            yield fields[head], fields[relation], fields[tail]
        elif problems is None:
            raise MalformedLine(problem, path=path, line=line, remedy=REMEDY)
        else:
            problems.add(MalformedLine(problem, path=path, line=line))


def _lines(stream: BinaryIO, number: int, path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; bytes that are not UTF-8 become lone surrogates, to be found later."""
    while chunk := stream.readline(LONGEST_LINE):
        if len(chunk) == LONGEST_LINE:
            raise MalformedLine(f"longer than {LONGEST_LINE:,} bytes; this is not a table", path=path, line=number + 1)
        for line in chunk.splitlines(keepends=True):
            number += 1
            yield number, line.decode("utf-8", "surrogateescape")


def _plain_rows(lines: Iterator[tuple[int, str]], dialect: Dialect) -> Iterator[Row]:
    """The fields of each line that is not blank."""
    for number, line in lines:
        if line.strip(" \r\n"):
            yield Row(number, split_line(line, dialect.separator))


def _quoted_rows(lines: Iterator[tuple[int, str]], dialect: Dialect) -> Iterator[Row]:
    """The fields of each record that is not blank, by its first line; a quotation that never ends is a problem."""
    reader = csv.reader(_with_end_marked(lines), delimiter=dialect.separator)
    while True:
        start = dialect.header_lines + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(start, [], str(error))
            continue
        if fields == [_END_OF_FILE]:
            return
        if fields and fields[-1].endswith(_END_OF_FILE):
            yield Row(start, [], "a quotation is opened but never closed")
        elif len(fields) > 1 or "".join(fields).strip(" "):
            yield Row(start, fields)


def _with_end_marked(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """The lines and one more, which a quotation that is still open would swallow."""
    last = "\n"
    for _, last in lines:
        yield last
    if not last.endswith(("\n", "\r")):
        yield "\n"
    yield _END_OF_FILE


def _problem_with(fields: list[str], dialect: Dialect) -> str | None:
    """Why the fields of a line are not a triple, or None."""
    if len(fields) != dialect.width:
        return _problem_with_text("\n".join(fields)) or _wrong_number(len(fields), dialect)
    for role, column in zip(ROLES, dialect.columns, strict=True):
        name = fields[column]
        problem = _problem_with_text(name)
        if not name or len(name) > LONGEST_NAME:
            problem = f"is longer than {LONGEST_NAME:,} characters" if name else "is empty"
        if problem is not None:
            return f"the {role} {problem}"
    return None


def _problem_with_text(text: str) -> str | None:
    """Why no name can hold this text, or None."""
    if "\0" in text:
        return "holds a NUL byte; is this a text file?"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not UTF-8; convert the file first"
    return None


def _wrong_number(found: int, dialect: Dialect) -> str:
    """The sentence for a line with too few or too many columns."""
    problem = f"expected {dialect.width} columns separated by {SEPARATORS[dialect.separator]}, found {found}"
    if found > len(ROLES) and dialect.header_lines == 0:
        problem += "; more than three need a header that names head, relation and tail"
    return problem
