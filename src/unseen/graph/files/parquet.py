"""Parquet files of triples: three columns of text, by name or because there are exactly three."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import GraphError, shorten
from unseen.graph.files.dialect import ROLES, role_columns
from unseen.graph.files.formats import is_compressed
from unseen.graph.files.numbering import part_of_batches
from unseen.graph.files.parts import LONGEST_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyarrow.parquet import FileMetaData, ParquetFile

    from unseen.graph.files.parts import Part
    from unseen.graph.files.sources import Source

BATCH_ROWS = 1 << 17
MOST_TEXT = 1 << 27
"""Bytes of the names of one batch, about."""

READ_ROWS = 1 << 10
"""Read at a time: a long name that many rows share is stored once but unfolded in every row."""

MOST_BYTES_OF_A_NAME = 4 * LONGEST_NAME
BYTES_OF_A_TRIPLE = 12
"""What a row becomes in memory at least: three ids."""


def read_parquet(source: Source, *, typed_values: bool = False) -> Part:
    """The triples of a Parquet file; every name must be there, and be text.

    With `typed_values` the third column may hold numbers, dates or booleans, which become text.
    """
    with source.open() as stream:
        if not stream.read(1):
            raise GraphError("the file is empty", path=source.path)
    try:
        part = part_of_batches(batches(source, typed_values=typed_values))
    except (pa.ArrowException, OSError) as error:
        problem = shorten(str(error).partition("\n")[0], 200)
        raise GraphError(f"is not a Parquet file that can be read: {problem}", path=source.path) from error
    return part.checked(source.path)


def batches(source: Source, *, typed_values: bool = False) -> Iterator[pa.RecordBatch]:
    """Heads, relations and tails, batch by batch."""
    with source.open_native() as (stream, position):
        file, names = _opened(source, stream, typed_values=typed_values)
        small: list[pa.RecordBatch] = []
        fixed = dict(source.fixed)
        for batch in file.iter_batches(READ_ROWS, columns=[name for name in names if name not in fixed]):
            columns = [_repeated(fixed[name], len(batch)) if name in fixed else batch[name] for name in names]
            small.append(_checked(columns, source.path))
            if len(small) * READ_ROWS >= BATCH_ROWS or sum(part.nbytes for part in small) > MOST_TEXT:
                yield _joined(small)
                small.clear()
                source.meter.reached(position())
        if small:
            yield _joined(small)


def _repeated(value: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), count)


def _checked(columns: list[pa.Array], path: Path) -> pa.RecordBatch:
    """Columns as one batch of plain text; a name that is missing or far too long is refused."""
    if any(column.null_count for column in columns):
        raise GraphError("a name is missing (null); every triple needs all three", path=path)
    batch = pa.record_batch([_as_text(column) for column in columns], list(ROLES))
    if batch.nbytes > MOST_BYTES_OF_A_NAME and _longest(batch) > MOST_BYTES_OF_A_NAME:
        raise GraphError(f"a name is longer than {LONGEST_NAME:,} characters", path=path)
    return batch


def _longest(batch: pa.RecordBatch) -> int:
    """The size of the longest name, in bytes."""
    return max(pc.max(pc.binary_length(column)).as_py() or 0 for column in batch.columns)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Some batches as one."""
    return pa.record_batch(
        [pa.concat_arrays([batch.column(place) for batch in batches]) for place in range(len(ROLES))], list(ROLES)
    )


def _opened(source: Source, stream: pa.NativeFile, *, typed_values: bool = False) -> tuple[ParquetFile, list[str]]:
    """The file, and its columns of heads, relations and tails."""
    from pyarrow import parquet  # slow to import, and no other format needs it

    content = _unpacked(source, stream) if is_compressed(source.path) else stream
    file = parquet.ParquetFile(content)
    _check_size(file.metadata, source)
    schema = file.schema_arrow
    for name, _ in source.fixed:
        if name not in schema.names:
            schema = schema.append(pa.field(name, pa.string()))
    return file, _triple_columns(schema, source.path, typed_values=typed_values)


def _unpacked(source: Source, stream: pa.NativeFile) -> pa.BufferReader:
    """All bytes of a file inside gzip, which must not be too many."""
    allowance = source.allowance()
    content = stream.read(allowance.most + 1)
    allowance.use(len(content))
    return pa.BufferReader(content)


def _check_size(metadata: FileMetaData, source: Source) -> None:
    """Refuse a file that promises far more than its size, in bytes or in rows."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    source.allowance().use(sum(group.total_byte_size for group in groups))
    source.allowance().use(BYTES_OF_A_TRIPLE * metadata.num_rows)


def _triple_columns(schema: pa.Schema, path: Path, *, typed_values: bool = False) -> list[str]:
    """The names of the columns of heads, relations and tails."""
    positions = role_columns(schema.names)
    if positions is None and len(schema.names) != len(ROLES):
        found = shorten(", ".join(schema.names), 200)
        raise GraphError(f"needs columns named head, relation and tail, or exactly three; it has {found}", path=path)
    fields = [schema.field(position) for position in positions or (0, 1, 2)]
    for place, field in enumerate(fields):
        if not _is_text(field.type) and not (typed_values and place == len(ROLES) - 1 and _is_value(field.type)):
            problem = f"column {shorten(field.name)!r} holds {shorten(str(field.type))}, not text; convert it first"
            raise GraphError(problem, path=path)
    if len({field.name for field in fields}) < len(fields):
        raise GraphError("two of its three columns have the same name; rename them head, relation, tail", path=path)
    return [field.name for field in fields]


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        zone = "Z" if column.type.tz else ""
        return pc.strftime(column.cast(pa.timestamp("us", column.type.tz)), f"%Y-%m-%dT%H:%M:%S{zone}", locale="C")
    return column.cast(pa.string())


def _is_value(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, dates or booleans."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_date)
    return pa.types.is_timestamp(kind) or any(test(kind) for test in tests)


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column holds strings, plain or as a dictionary."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return values in (pa.string(), pa.large_string(), pa.string_view())
