"""Tables of scores: Parquet, TSV or JSON lines, written completely or not at all; or lines on a stream."""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from unseen.errors import UnseenError
from unseen.graph.files.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

    Write = Callable[[pa.Table], None]

KINDS = (".parquet", ".tsv", ".jsonl")


def kind_of(output: Path) -> str:
    """The kind of an output, by the end of its name before any `.gz`."""
    bare = output.with_suffix("") if output.suffix == ".gz" else output
    if bare.suffix not in KINDS or output.name.endswith(".parquet.gz"):
        raise UnseenError(f"{output}: scores are written as .parquet, .tsv or .jsonl (the last two also .gz)")
    return bare.suffix


@contextmanager
def score_writer(output: Path) -> Iterator[Write]:
    """What writes tables of the columns head, relation, tail, probability, known, error, one after the other."""
    kind = kind_of(output)
    with replacing(output) as stream:
        if kind == ".parquet":
            with _parquet_writer(stream) as write:
                yield write
        elif output.suffix == ".gz":
            with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as packed:
                yield line_writer(cast("BinaryIO", packed), kind)
        else:
            yield line_writer(stream, kind)


def line_writer(stream: BinaryIO, kind: str) -> Write:
    """What writes tables as lines: `.tsv` with a header, or `.jsonl`."""
    if kind == ".tsv":
        stream.write(b"head\trelation\ttail\tprobability\tknown\terror\n")

    def write(table: pa.Table) -> None:
        lines = map(
            _as_tsv if kind == ".tsv" else _as_json, zip(*(column.to_pylist() for column in table.columns), strict=True)
        )
        stream.write("".join(lines).encode())

    return write


Row = tuple[str, str, str, "float | None", bool, "str | None"]


def _as_tsv(row: Row) -> str:
    head, relation, tail, probability, known, error = row
    shown = "" if probability is None else f"{probability:.6g}"
    return f"{head}\t{relation}\t{tail}\t{shown}\t{str(known).lower()}\t{_on_one_line(error or '')}\n"


def _as_json(row: Row) -> str:
    head, relation, tail, probability, known, error = row
    plain = {"head": head, "relation": relation, "tail": tail, "probability": probability, "known": known}
    return json.dumps(plain | ({"error": error} if error else {}), ensure_ascii=False) + "\n"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


@contextmanager
def _parquet_writer(stream: BinaryIO) -> Iterator[Write]:
    from pyarrow import parquet

    with parquet.ParquetWriter(stream, schema()) as writer:
        yield lambda table: writer.write_table(table.cast(schema()))


def schema() -> pa.Schema:
    """The columns of a table of scores."""
    import pyarrow as pa

    text = pa.large_string()
    names = [("head", text), ("relation", text), ("tail", text)]
    return pa.schema([*names, ("probability", pa.float64()), ("known", pa.bool_()), ("error", text)])
