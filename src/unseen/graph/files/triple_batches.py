"""The triples of a table by name, batch by batch, without numbering them: for tables that are about a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from unseen.errors import GraphError, shorten
from unseen.graph.files import parquet, tables
from unseen.graph.files.dialect import ROLES, detected
from unseen.graph.files.formats import TABLES, format_of
from unseen.graph.files.sources import sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unseen.graph.files.sources import Progress, Source


def triple_batches(path: Path, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
    """Batches with the columns head, relation and tail, in the order of a TSV, CSV, text or Parquet file."""
    found = format_of(path, (*TABLES, "parquet"))
    source = sources_of([path], progress)[0]
    batches = parquet.batches(source) if found == "parquet" else _text_batches(source)
    try:
        for batch in batches:
            named = pa.record_batch([column.cast(pa.large_string()) for column in batch.columns], list(ROLES))
            named.validate(full=True)
            yield named
    except (pa.ArrowException, OSError) as error:
        problem = shorten(str(error).partition("\n")[0], 200)
        raise GraphError(f"cannot be read as triples: {problem}", path=path) from None
    source.meter.finished(source.size)


def _text_batches(source: Source) -> Iterator[pa.RecordBatch]:
    with source.open_text() as stream:
        dialect = detected(stream, source.format)
    yield from tables.batches(source, dialect)
