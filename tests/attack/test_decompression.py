"""Small files that become large are refused while they are read, and a setting allows them."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from unseen.errors import GraphError
from unseen.graph.files import unpacking
from unseen.graph.files.readers import read_graph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FREE = 1 << 20


@pytest.fixture(autouse=True)
def small_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of a hundredth, so that bombs can be small too."""
    monkeypatch.setattr(unpacking, "FREE_BYTES", FREE)
    monkeypatch.delenv(unpacking.SETTING, raising=False)


def gzip_bomb(line: bytes) -> bytes:
    return gzip.compress(line * (10 * FREE // len(line)), mtime=0)


def table() -> bytes:
    return gzip_bomb(b"a\tr\tb\n")


def broken_table() -> bytes:
    return gzip.compress(b"a\tr\n" + b"a\tr\tb\n" * (2 * FREE), mtime=0)


def n_triples() -> bytes:
    return gzip_bomb(b"<http://e/a> <http://e/p> <http://e/b> .\n")


def turtle() -> bytes:
    return gzip_bomb(b"<a> <b> <c> .\n")


def xml() -> bytes:
    return gzip.compress(b"<a>" + bytes(10 * FREE).replace(b"\0", b"x") + b"</a>", mtime=0)


def json() -> bytes:
    return gzip_bomb(b"[ ] \n")


def ogb() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kg/raw/edge.csv.gz", gzip_bomb(b"0,1\n"))
        archive.writestr("kg/raw/edge_reltype.csv.gz", gzip_bomb(b"0\n"))
    return output.getvalue()


def parquet_of(rows: int, **names: str) -> bytes:
    columns = {
        role: pa.array([names.get(role, role)] * rows).dictionary_encode() for role in ("head", "relation", "tail")
    }
    output = io.BytesIO()
    parquet.write_table(pa.table(columns), output, compression="zstd")
    return output.getvalue()


def parquet_of_rows() -> bytes:
    return parquet_of(300_000)


def parquet_of_text() -> bytes:
    names = pa.array([f"{i:06d}" + "x" * 8000 for i in range(3000)])
    output = io.BytesIO()
    table = pa.table(dict.fromkeys(("head", "relation", "tail"), names))
    parquet.write_table(table, output, compression="zstd", use_dictionary=False, write_statistics=False)
    return output.getvalue()


def packed_parquet() -> bytes:
    return gzip.compress(b"PAR1" + bytes(10 * FREE), mtime=0)


BOMBS: dict[str, Callable[[], bytes]] = {
    "table.tsv.gz": table,
    "table.csv.gz": table,
    "broken.tsv.gz": broken_table,
    "graph.nt.gz": n_triples,
    "graph.nq.gz": n_triples,
    "graph.ttl.gz": turtle,
    "graph.trig.gz": turtle,
    "graph.rdf.gz": xml,
    "graph.jsonld.gz": json,
    "graph.zip": ogb,
    "rows.parquet": parquet_of_rows,
    "text.parquet": parquet_of_text,
    "packed.parquet.gz": packed_parquet,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_becomes_large_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    assert path.stat().st_size * 100 < 10 * FREE
    with pytest.raises(GraphError, match=r"bytes become more than .* allow more, for example with UNSEEN_MAX_UNCOM"):
        read_graph(path, skip_errors=True)


@pytest.mark.parametrize("name", ["table.tsv.gz", "graph.nt.gz", "rows.parquet"])
def test_a_setting_allows_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    monkeypatch.setenv(unpacking.SETTING, "20M")
    assert read_graph(path).graph.num_triples == 1


def test_a_setting_that_is_no_amount_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tr\tb\n"))
    monkeypatch.setenv(unpacking.SETTING, "much")
    with pytest.raises(GraphError, match="is 'much', not a number of bytes such as 500M"):
        read_graph(path)


def test_repeated_long_names_of_a_parquet_file_are_unfolded_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.graph.files import parquet as reader

    monkeypatch.setattr(reader, "MOST_TEXT", 1 << 22)
    path = tmp_path / "long.parquet"
    path.write_bytes(parquet_of(2_000, head="x" * 60_000))
    before = pa.total_allocated_bytes()
    most = 0

    def note(done: int, total: int) -> None:
        nonlocal most
        most = max(most, pa.total_allocated_bytes() - before)

    assert read_graph(path, progress=note).graph.num_triples == 1
    assert most < 2_000 * 60_000 // 4


def test_a_name_of_a_parquet_file_that_is_far_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    path.write_bytes(parquet_of(1, head="x" * 300_000))
    with pytest.raises(GraphError, match="a name is longer than 65,536 characters"):
        read_graph(path)
