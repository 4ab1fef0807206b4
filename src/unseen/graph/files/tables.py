"""Text tables (TSV, CSV, plain text), read in blocks by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from unseen.graph.files.dialect import Dialect, detected
from unseen.graph.files.lines import read_lines
from unseen.graph.files.numbering import part_of_batches
from unseen.graph.files.parts import Part, has_bad_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph.files.sources import Source

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
    """The triples as Arrow sees them, or None if something needs a closer look."""
    try:
        part = part_of_batches(batches(source, dialect))
    except (pa.ArrowInvalid, OSError):
        return None
    doubtful = any(has_bad_name(names) or _hides_fields(names, dialect) for names in (part.entities, part.relations))
    return None if doubtful else part


def batches(source: Source, dialect: Dialect) -> Iterator[pa.RecordBatch]:
    """Heads, relations and tails, block by block."""
    last = None
    with source.open_native(BLOCK_BYTES) as (stream, position):
        for last in _opened(stream, dialect):
            yield last
            source.meter.reached(position())
    if dialect.is_quoted and last is not None and _ends_in_a_line_break(last):
        raise pa.ArrowInvalid("a quotation was perhaps never closed")


def _ends_in_a_line_break(batch: pa.RecordBatch) -> bool:
    """Whether a name of the last row holds a line break."""
    return any(b"\n" in column[-1].as_buffer().to_pybytes() for column in batch.columns if len(column))


def _opened(stream: pa.NativeFile, dialect: Dialect) -> pa.RecordBatchReader:
    """Arrow's reader of a table; all it does is split: `NA` stays a name, and distinct names are checked later."""
    names = [str(column) for column in range(dialect.width)]
    chosen = [names[column] for column in dialect.columns]
    return csv.open_csv(
        stream,
        csv.ReadOptions(block_size=BLOCK_BYTES, column_names=names, skip_rows=dialect.header_lines),
        csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char='"' if dialect.is_quoted else False,
            newlines_in_values=dialect.is_quoted,
        ),
        csv.ConvertOptions(include_columns=chosen, column_types=dict.fromkeys(chosen, pa.string()), check_utf8=False),
    )


def _hides_fields(names: pa.Array, dialect: Dialect) -> bool:
    """Whether a name holds white space that separates fields: Arrow splits at single spaces only."""
    return dialect.separator == " " and bool(pc.any(pc.match_substring_regex(names, r"[\t\v\f]")).as_py())
