"""Text tables (TSV, CSV, plain text), read in parallel blocks by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from unseen.graph.dialect import Dialect, detected
from unseen.graph.lines import read_lines
from unseen.graph.parts import Part, has_bad_name, part_of_columns

if TYPE_CHECKING:
    from unseen.graph.sources import Source

BLOCK_BYTES = 1 << 22


def read_text_table(source: Source, *, skip_errors: bool) -> Part:
    """The triples of a TSV, CSV or plain text file.

    Arrow reads it first. Only what Arrow refuses, or what yields a name that cannot be one, is read again line by
    line, which either finds the line at fault or, with `skip_errors`, leaves such lines out.
    """
    with source.open_text() as stream:
        dialect = detected(stream, source.format)
    part = _read_in_blocks(source, dialect)
    return part or read_lines(source, dialect, skip_errors=skip_errors)


def _read_in_blocks(source: Source, dialect: Dialect) -> Part | None:
    """The triples as Arrow sees them, or None if a line needs a closer look."""
    try:
        with source.open_text() as stream:
            stream.read(dialect.header_bytes)
            columns = _columns(stream, dialect)
    except pa.ArrowInvalid:
        return None
    if dialect.is_quoted and _ends_in_a_line_break(columns):
        return None
    part = part_of_columns(*columns)
    del columns
    doubtful = any(has_bad_name(names) or _hides_fields(names, dialect) for names in (part.entities, part.relations))
    return None if doubtful else part


def _columns(stream: BinaryIO, dialect: Dialect) -> list[pa.ChunkedArray]:
    """Heads, relations and tails as texts."""
    names = [str(column) for column in range(dialect.width)]
    chosen = [names[column] for column in dialect.columns]
    table = csv.read_csv(
        stream,
        csv.ReadOptions(block_size=BLOCK_BYTES, column_names=names),
        csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char='"' if dialect.is_quoted else False,
            newlines_in_values=dialect.is_quoted,
        ),
        csv.ConvertOptions(include_columns=chosen, column_types=dict.fromkeys(chosen, pa.string())),
    )
    return list(table.columns)


def _ends_in_a_line_break(columns: list[pa.ChunkedArray]) -> bool:
    """Whether a name of the last row holds a line break: perhaps a quotation that was never closed."""
    return any("\n" in column[-1].as_py() for column in columns if len(column))


def _hides_fields(names: pa.Array, dialect: Dialect) -> bool:
    """Whether a name holds white space that separates fields: Arrow splits at single spaces only."""
    hides: bool | None = dialect.separator == " " and pc.any(pc.match_substring_regex(names, r"[\t\v\f]")).as_py()
    return bool(hides)
