"""Parquet files of triples: three columns of text, by name or because there are exactly three."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from unseen.errors import GraphError, shorten
from unseen.graph.files.dialect import ROLES, role_columns
from unseen.graph.files.formats import is_compressed
from unseen.graph.files.numbering import part_of_batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unseen.graph.files.parts import Part
    from unseen.graph.files.sources import Source

BATCH_ROWS = 1 << 17


def read_parquet(source: Source) -> Part:
    """The triples of a Parquet file; every name must be there, and be text."""
    with source.open() as stream:
        if not stream.read(1):
            raise GraphError("the file is empty", path=source.path)
    try:
        part = part_of_batches(_batches(source))
    except (pa.ArrowException, OSError) as error:
        problem = shorten(str(error).partition("\n")[0], 200)
        raise GraphError(f"is not a Parquet file that can be read: {problem}", path=source.path) from error
    return part.checked(source.path)


def _batches(source: Source) -> Iterator[pa.RecordBatch]:
    """Heads, relations and tails, batch by batch."""
    from pyarrow import parquet  # slow to import, and no other format needs it

    with source.open_native() as (stream, position):
        file = parquet.ParquetFile(pa.BufferReader(stream.read()) if is_compressed(source.path) else stream)
        names = _triple_columns(file.schema_arrow, source.path)
        for batch in file.iter_batches(BATCH_ROWS, columns=names):
            columns = [batch[name] for name in names]
            if any(column.null_count for column in columns):
                raise GraphError("a name is missing (null); every triple needs all three", path=source.path)
            yield pa.record_batch([column.cast(pa.string()) for column in columns], list(ROLES))
            source.meter.reached(position())


def _triple_columns(schema: pa.Schema, path: Path) -> list[str]:
    """The names of the columns of heads, relations and tails."""
    positions = role_columns(schema.names)
    if positions is None and len(schema.names) != len(ROLES):
        found = shorten(", ".join(schema.names), 200)
        raise GraphError(f"needs columns named head, relation and tail, or exactly three; it has {found}", path=path)
    fields = [schema.field(position) for position in positions or (0, 1, 2)]
    for field in fields:
        if not _is_text(field.type):
            problem = f"column {shorten(field.name)!r} holds {shorten(str(field.type))}, not text; convert it first"
            raise GraphError(problem, path=path)
    if len({field.name for field in fields}) < len(fields):
        raise GraphError("two of its three columns have the same name; rename them head, relation, tail", path=path)
    return [field.name for field in fields]


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column holds strings, plain or as a dictionary."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return values in (pa.string(), pa.large_string(), pa.string_view())
