"""Dataset folders: what is written is what is read, and nothing damaged or foreign is."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from tests.datasets.small_dataset import (
    PARTS,
    assert_same,
    disjoint_dataset,
    inductive_dataset,
    random_graph,
    transductive_dataset,
)
from unseen.datasets import dataset_folder
from unseen.datasets.dataset import Dataset
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import inductive_split
from unseen.datasets.tensor_file import read_tensors
from unseen.errors import DatasetError
from unseen.graph import KnowledgeGraph
from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes
from unseen.graph.vocabulary import Vocabulary
from unseen.logic.shapes import SHAPES, Shape

if TYPE_CHECKING:
    from pathlib import Path

FILES = dataset_folder.FILES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inductive_dataset().save(tmp_path / "small")
    return tmp_path / "small"


def rewrite(folder: Path, file: str, **changes: np.ndarray) -> None:
    """Change arrays of a file and the manifest with it, as someone who knows the format could."""
    tensors = {**load_file(folder / file), **changes}
    save_file(tensors, folder / file)
    content = (folder / file).read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][file] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest))


class TestRoundTrip:
    @pytest.mark.parametrize("make", [inductive_dataset, disjoint_dataset, transductive_dataset])
    def test_what_is_saved_is_what_is_opened(self, tmp_path: Path, make) -> None:
        make().save(tmp_path / "x")
        assert_same(make(), Dataset.open(tmp_path / "x"))

    def test_a_dataset_without_queries_is_one(self, tmp_path: Path) -> None:
        bare = Dataset("bare", inductive_split(random_graph(), 150), manifest={"ratio": 150, "seed": 42})
        bare.save(tmp_path / "bare")
        again = Dataset.open(tmp_path / "bare")
        assert_same(bare, again)
        assert again.tables == {"train": {}, "valid": {}, "test": {}}
        assert (again.manifest["ratio"], again.manifest["seed"]) == (150, 42)

    def test_labels_missing_labels_and_prefixes_are_kept(self, tmp_path: Path) -> None:
        keys = [f"http://example.org/{i}" for i in range(40)]
        labels = text_array([f"Thing {i} – ü" if i % 3 else None for i in range(40)])
        entities = Names("entity", text_array(keys), labels, Prefixes({"ex": "http://example.org/"}))
        columns = np.random.default_rng(0).integers(0, [40, 2, 40], (200, 3)).astype(np.int32).T
        graph = KnowledgeGraph(*columns, Vocabulary(entities, Names("relation", text_array(["r", "s"]))))
        dataset = Dataset("named", inductive_split(graph, 150))
        dataset.save(tmp_path / "named")
        vocabulary = Dataset.open(tmp_path / "named").vocabulary
        count = vocabulary.num_entities
        assert [vocabulary.entity_name(i) for i in range(count)] == [
            dataset.vocabulary.entity_name(i) for i in range(count)
        ]
        assert any(vocabulary.entity_name(i).startswith("ex:") for i in range(count))
        assert vocabulary.entity_id("ex:1") == dataset.vocabulary.entity_id("ex:1")

    def test_a_shape_of_ones_own_is_kept(self, tmp_path: Path) -> None:
        shape = Shape("my/own & odd", "e/r/r & !e/r/r")
        table = QueryTable(shape, np.zeros((1, 6), np.int32), Ragged.from_rows([[1, 2]]), Ragged.empty(1))
        inductive_dataset().with_queries({"test": {shape.name: table}}, {}).save(tmp_path / "own")
        again = Dataset.open(tmp_path / "own").tables["test"][shape.name]
        assert again.shape == shape
        assert again.query(0) == table.query(0)

    def test_equal_data_give_equal_bytes(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            inductive_dataset().save(tmp_path / name)
        for file in (*FILES, "manifest.json"):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

    def test_the_safetensors_library_reads_the_same_arrays(self, folder: Path) -> None:
        for file in FILES:
            theirs, ours = load_file(folder / file), read_tensors(folder / file)
            assert set(theirs) == set(ours)
            assert all(np.array_equal(theirs[name], ours[name]) for name in ours)

    def test_arrays_are_mapped_and_cannot_be_written(self, folder: Path) -> None:
        values = Dataset.open(folder).tables["test"]["2p"].easy.values
        assert not values.flags.writeable
        assert not values.flags.owndata


class TestGraphs:
    def test_each_split_sees_its_own_part_of_the_world(self) -> None:
        dataset, split = inductive_dataset(), inductive_dataset().split
        sizes = {part: len(getattr(split, part)) for part in PARTS}
        assert dataset.observed("train").num_triples == dataset.complete("train").num_triples == sizes["train_graph"]
        for side in ("valid", "test"):
            observed = sizes["train_graph"] + sizes[f"{side}_inference"]
            assert dataset.observed(side).num_triples == observed
            assert dataset.complete(side).num_triples == observed + sizes[f"{side}_predict"]

    def test_a_disjoint_inference_graph_stands_alone(self) -> None:
        dataset = disjoint_dataset()
        assert dataset.observed("test").num_triples == len(dataset.split.test_inference)
        assert not set(dataset.candidates("test")) & set(dataset.candidates("train"))

    def test_graphs_are_made_once(self) -> None:
        assert inductive_dataset().observed("test") is inductive_dataset().observed("test")

    def test_candidates_are_the_sorted_entities_with_an_edge(self) -> None:
        dataset = inductive_dataset()
        edges = np.concatenate([dataset.split.train_graph, dataset.split.test_inference])
        assert np.array_equal(dataset.candidates("test"), np.unique(edges[:, [0, 2]]))


class TestSaving:
    def test_an_older_dataset_is_replaced(self, folder: Path) -> None:
        disjoint_dataset().save(folder)
        assert_same(disjoint_dataset(), Dataset.open(folder))
        assert [file.name for file in folder.parent.iterdir()] == ["small"]

    def test_a_mapped_dataset_can_be_saved_over_itself(self, folder: Path) -> None:
        Dataset.open(folder).save(folder)
        assert_same(inductive_dataset(), Dataset.open(folder))

    def test_something_else_is_not_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "thesis.tex").write_text("years")
        with pytest.raises(DatasetError, match="not a dataset; choose another place"):
            inductive_dataset().save(tmp_path / "precious")
        assert (tmp_path / "precious" / "thesis.tex").read_text() == "years"

    def test_a_file_in_the_way_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DatasetError, match="is a file"):
            inductive_dataset().save(tmp_path / "file")

    @pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
    def test_a_save_that_breaks_off_leaves_nothing(self, tmp_path: Path, monkeypatch, failure) -> None:
        written = []

        def broken(path, tensors) -> None:
            written.append(path)
            if len(written) == 3:
                raise failure

        monkeypatch.setattr(dataset_folder, "write_tensors", broken)
        with pytest.raises((KeyboardInterrupt, DatasetError)):
            inductive_dataset().save(tmp_path / "x")
        assert list(tmp_path.iterdir()) == []

    def test_a_save_that_breaks_off_leaves_the_older_dataset(self, folder: Path, monkeypatch) -> None:
        monkeypatch.setattr(dataset_folder, "_write_files", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            disjoint_dataset().save(folder)
        assert_same(inductive_dataset(), Dataset.open(folder))
        assert [file.name for file in folder.parent.iterdir()] == ["small"]


class TestRefusals:
    @pytest.mark.parametrize("file", FILES)
    def test_a_changed_byte(self, folder: Path, file: str) -> None:
        content = bytearray((folder / file).read_bytes())
        content[-1] ^= 1
        (folder / file).write_bytes(content)
        with pytest.raises(DatasetError, match=r"checksum is not the one in the manifest") as caught:
            Dataset.open(folder)
        assert caught.value.path == folder / file

    @pytest.mark.parametrize("file", FILES)
    @pytest.mark.parametrize("verify", [True, False])
    def test_a_truncated_file(self, folder: Path, file: str, verify: bool) -> None:
        (folder / file).write_bytes((folder / file).read_bytes()[:-4])
        with pytest.raises(DatasetError, match="truncated or changed"):
            Dataset.open(folder, verify=verify)

    @pytest.mark.parametrize("file", FILES)
    def test_a_missing_file(self, folder: Path, file: str) -> None:
        (folder / file).unlink()
        with pytest.raises(DatasetError, match="is missing"):
            Dataset.open(folder)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="no such folder"):
            Dataset.open(tmp_path / "nowhere")

    def test_a_folder_without_a_manifest(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"has no manifest\.json"):
            Dataset.open(tmp_path)

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "other"}', b"\xff\xfe", b"[" * 100_000])
    def test_a_foreign_manifest(self, folder: Path, content: bytes) -> None:
        (folder / "manifest.json").write_bytes(content)
        with pytest.raises(DatasetError):
            Dataset.open(folder)

    @pytest.mark.parametrize("version", [2, 99, "1", None])
    def test_a_newer_format(self, folder: Path, version: object) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps({**manifest, "format_version": version}))
        with pytest.raises(DatasetError, match="upgrade unseen"):
            Dataset.open(folder)

    @pytest.mark.parametrize("key", ["name", "kind", "tables", "prefixes", "files"])
    def test_a_manifest_without_something(self, folder: Path, key: str) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        del manifest[key]
        (folder / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(DatasetError):
            Dataset.open(folder)

    @pytest.mark.parametrize(
        ("file", "name", "value"),
        [
            ("graphs.safetensors", "test_predict", np.array([[0, 0, 10_000]], np.int32)),
            ("graphs.safetensors", "test_predict", np.array([[0, -1, 0]], np.int32)),
            ("graphs.safetensors", "test_predict", np.array([[0, 0, 0]], np.int64)),
            ("graphs.safetensors", "test_predict", np.zeros((2, 4), np.int32)),
            ("queries/test.safetensors", "1p.slots", np.full((12, 2), 10_000, np.int32)),
            ("queries/test.safetensors", "1p.slots", np.zeros((12, 3), np.int32)),
            ("queries/test.safetensors", "1p.slots", np.zeros((1, 2), np.int32)),
            ("queries/test.safetensors", "1p.easy.offsets", np.zeros(3, np.int64)),
            ("queries/test.safetensors", "1p.easy.offsets", np.full(13, 10**9, np.int64)),
            ("queries/test.safetensors", "1p.hard.values", np.full(100, -1, np.int32)),
            ("queries/train.safetensors", "1p.on_test.values", np.full(5, 10_000, np.int32)),
            ("vocabulary.safetensors", "entity.keys.offsets", np.array([0, 10**9], np.int64)),
            ("vocabulary.safetensors", "entity.keys.bytes", np.full(10_000, 255, np.uint8)),
            ("vocabulary.safetensors", "entity.keys.offsets", np.zeros(0, np.int64)),
        ],
    )
    def test_arrays_that_do_not_fit_together(self, folder: Path, file: str, name: str, value: np.ndarray) -> None:
        rewrite(folder, file, **{name: value})
        with pytest.raises(DatasetError, match="is damaged"):
            Dataset.open(folder)

    @given(st.binary(max_size=200))
    def test_any_bytes_for_tensors(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        file = tmp_path_factory.mktemp("tensors") / "x.safetensors"
        file.write_bytes(content)
        with pytest.raises(DatasetError):
            read_tensors(file)

    @pytest.mark.parametrize(
        "entry",
        [
            {"dtype": "I32", "shape": [4], "data_offsets": [0, 8]},
            {"dtype": "I32", "shape": [-2, -1], "data_offsets": [0, 8]},
            {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
            {"dtype": "I32", "shape": [250], "data_offsets": [0, 1000]},
            {"dtype": "I32", "shape": [2], "data_offsets": [-8, 0]},
            {"dtype": "I32", "shape": ["2"], "data_offsets": [0, 8]},
            {"shape": [2]},
            [],
        ],
    )
    def test_a_header_that_lies(self, tmp_path: Path, entry: object) -> None:
        header = json.dumps({"x": entry}).encode()
        (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
        with pytest.raises(DatasetError, match="does not fit"):
            read_tensors(tmp_path / "x")


class TestRagged:
    @given(st.lists(st.lists(st.integers(0, 100), max_size=5), max_size=6), st.data())
    def test_rows_come_back_and_can_be_chosen(self, rows: list[list[int]], data: st.DataObject) -> None:
        ragged = Ragged.from_rows(rows)
        assert [ragged.row(i).tolist() for i in range(len(ragged))] == rows
        places = st.lists(st.integers(0, len(rows) - 1), max_size=5) if rows else st.just([])
        chosen = data.draw(places)
        taken = ragged.take(chosen)
        assert [taken.row(i).tolist() for i in range(len(taken))] == [rows[i] for i in chosen]

    def test_a_table_gives_its_queries_as_expressions(self) -> None:
        table = inductive_dataset().tables["test"]["pin"]
        assert table.query(3) == SHAPES["pin"].fill(table.slots[3].tolist())
        assert table.take([3, 0]).query(0) == table.query(3)
