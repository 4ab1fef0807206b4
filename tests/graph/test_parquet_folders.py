"""Folders of Parquet files as one graph: plain ones, partitioned ones, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import unseen
from unseen.errors import GraphError


def write(path: Path, **columns: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)


def test_all_parts_are_one_graph(tmp_path: Path) -> None:
    write(tmp_path / "part-00000.snappy.parquet", head=["Ada"], relation=["knows"], tail=["Ben"])
    write(tmp_path / "part-00001.snappy.parquet", head=["Ben", "Ada"], relation=["knows"] * 2, tail=["Cleo", "Ben"])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-00000.snappy.parquet.crc").touch()
    write(tmp_path / "_temporary" / "part-00009.parquet", head=["x"], relation=["y"], tail=["z"])
    assert list(unseen.load(tmp_path).triples()) == [("Ada", "knows", "Ben"), ("Ben", "knows", "Cleo")]


def test_a_folder_beside_a_file(tmp_path: Path) -> None:
    write(tmp_path / "folder" / "one.parquet", head=["Ada"], relation=["knows"], tail=["Ben"])
    (tmp_path / "more.tsv").write_text("Ben\tknows\tCleo\n")
    assert unseen.load(tmp_path / "folder", tmp_path / "more.tsv").num_triples == 2


def test_relations_as_folders(tmp_path: Path) -> None:
    write(tmp_path / "relation=knows" / "part-0.parquet", head=["Ada"], tail=["Ben"])
    write(tmp_path / "relation=works%20with" / "part-0.parquet", head=["Ada"], tail=["Cleo"])
    assert set(unseen.load(tmp_path).triples()) == {("Ada", "knows", "Ben"), ("Ada", "works with", "Cleo")}


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="without Parquet files; name the files in it"):
        unseen.load(tmp_path)
    write(tmp_path / "relation=__HIVE_DEFAULT_PARTITION__" / "part-0.parquet", head=["Ada"], tail=["Ben"])
    with pytest.raises(GraphError, match="a name is missing"):
        unseen.load(tmp_path)
