"""Pointers of Git LFS in place of data: every reader says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.datasets.published_files import exported
from tests.datasets.small_dataset import inductive_dataset, transductive_dataset
from unseen.datasets.dataset import Dataset
from unseen.datasets.given_files import given_files
from unseen.datasets.given_split import given_split
from unseen.datasets.published import import_dataset
from unseen.errors import DatasetError, GraphError, RunFolderError
from unseen.graph.files.readers import read_graph
from unseen.models.checkpoint import read_json, read_tensors

if TYPE_CHECKING:
    from pathlib import Path

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
MESSAGE = "is a Git LFS pointer, not the data: run `git lfs pull`"


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a.nt", "a.ttl", "a.parquet", "a.zip", "a.jsonld", "a.csv"])
def test_graph_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(GraphError, match=MESSAGE):
        read_graph(tmp_path / name)


@pytest.mark.parametrize("name", ["a.zip", "a.npz"])
def test_archives(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(DatasetError, match=MESSAGE):
        import_dataset(tmp_path / name)


@pytest.mark.parametrize("file", ["train_graph.txt", "test_queries.pkl", "og_mappings.pkl", "stats.txt"])
def test_files_of_a_published_dataset(tmp_path: Path, file: str) -> None:
    folder = exported(inductive_dataset(), tmp_path / "x", "inductiveqe")
    (folder / file).write_text(POINTER)
    with pytest.raises(DatasetError, match=f"{file}: {MESSAGE}"):
        import_dataset(folder)


@pytest.mark.parametrize("file", ["train.txt", "valid-hard-answers.pkl"])
def test_files_of_a_growing_graph(tmp_path: Path, file: str) -> None:
    folder = exported(transductive_dataset(), tmp_path / "x", "betae")
    (folder / file).write_text(POINTER)
    with pytest.raises(DatasetError, match=f"{file}: {MESSAGE}"):
        import_dataset(folder)


@pytest.mark.parametrize("file", ["manifest.json", "graphs.safetensors"])
def test_dataset_folders(tmp_path: Path, file: str) -> None:
    inductive_dataset().save(tmp_path / "d")
    (tmp_path / "d" / file).write_text(POINTER)
    with pytest.raises(DatasetError, match=f"{file}: {MESSAGE}"):
        Dataset.open(tmp_path / "d")


def test_given_splits(tmp_path: Path) -> None:
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.txt").write_text(POINTER)
    with pytest.raises(GraphError, match=MESSAGE):
        given_split(given_files([tmp_path]))


def test_models(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(POINTER)
    for reader in (read_json, read_tensors):
        with pytest.raises(RunFolderError, match=MESSAGE):
            reader(tmp_path / "file")
