"""Zip archives and .npz files that are damaged, or out to do harm."""

from __future__ import annotations

import stat
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.datasets.published_files import exported
from tests.datasets.small_dataset import inductive_dataset
from unseen.datasets.published import import_dataset
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path


class TestArchives:
    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        return exported(inductive_dataset(), tmp_path / "x.zip", "inductiveqe")

    @pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil", "a/../../evil", "C:/evil", "a\\..\\evil"])
    def test_names_that_lead_out(self, archive: Path, name: str) -> None:
        with zipfile.ZipFile(archive, "a") as added:
            info = zipfile.ZipInfo("placeholder")
            info.filename = info.orig_filename = name
            added.writestr(info, "x")
        with pytest.raises(DatasetError, match="leads out of the archive"):
            import_dataset(archive)

    def test_a_link(self, archive: Path) -> None:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(archive, "a") as added:
            added.writestr(info, "/etc/passwd")
        with pytest.raises(DatasetError, match="is a link"):
            import_dataset(archive)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_name_twice(self, archive: Path) -> None:
        with zipfile.ZipFile(archive, "a") as added:
            added.writestr("stats.txt", "numentity: 1")
        with pytest.raises(DatasetError, match="one name twice"):
            import_dataset(archive)

    def test_a_zip_bomb(self, archive: Path) -> None:
        with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as added:
            added.writestr("test_answers_extra.pkl", bytes(200_000_000))
        with pytest.raises(DatasetError, match="zip bomb"):
            import_dataset(archive)

    def test_a_member_that_grows_beyond_what_it_says(self, archive: Path) -> None:
        content = bytearray(archive.read_bytes())
        with zipfile.ZipFile(archive) as opened:
            size = opened.getinfo("test_answers_easy.pkl").file_size
        old, new = size.to_bytes(4, "little"), (size // 2).to_bytes(4, "little")
        place = content.rfind(old)
        content[place : place + 4] = new
        archive.write_bytes(content)
        with pytest.raises(DatasetError):
            import_dataset(archive)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_a_truncated_archive(self, archive: Path, share: float) -> None:
        content = archive.read_bytes()
        archive.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(DatasetError, match="not a complete zip archive"):
            import_dataset(archive)

    def test_a_damaged_member(self, archive: Path) -> None:
        content = bytearray(archive.read_bytes())
        content[len(content) // 2] ^= 0xFF
        archive.write_bytes(content)
        with pytest.raises(DatasetError):
            import_dataset(archive)


class TestNpz:
    @pytest.fixture
    def arrays(self) -> dict[str, np.ndarray]:
        edges = np.array([[0, 0, 1], [1, 1, 2]], np.int32)
        parts = ("train_graph", "val_inference", "val_predict", "test_inference", "test_predict")
        return {f"graph/{part}": edges for part in parts} | {"test/1p": np.array([[0, 0], [2, 3]], np.int32)}

    def test_inverse_relations_are_numbered_in_blocks(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez_compressed(tmp_path / "x.npz", **arrays)
        table = import_dataset(tmp_path / "x.npz").tables["test"]["1p"]
        assert table.slots.tolist() == [[0, 0], [2, 3]]
        assert [table.easy.row(row).tolist() for row in range(2)] == [[1], [1]]

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("test/1p", np.array([[9, 0]]), "entity id beyond"),
            ("test/1p", np.array([[0, 4]]), "relation id beyond"),
            ("test/1p", np.array([[0, -1]]), "not rows of 2 ids"),
            ("test/1p", np.array([[0, 0, 0]]), "not rows of 2 ids"),
            ("test/1p", np.array([[0.5, 0]]), "does not hold the numbers"),
            ("test/9z", np.array([[0, 0]]), "unknown shape '9z'"),
            ("graph/train_graph", np.array([[0, 0, 2**40]]), "not rows of 3 ids"),
            ("graph/train_graph", np.array([None]), "does not hold the numbers"),
        ],
    )
    def test_arrays_that_are_not_ids(self, tmp_path, arrays, name: str, value: np.ndarray, message: str) -> None:
        np.savez(tmp_path / "x.npz", **{**arrays, name: value})
        with pytest.raises(DatasetError, match=message):
            import_dataset(tmp_path / "x.npz")

    def test_a_header_that_promises_terabytes(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez(tmp_path / "x.npz", **arrays)
        with zipfile.ZipFile(tmp_path / "y.npz", "w") as target, zipfile.ZipFile(tmp_path / "x.npz") as source:
            for name in source.namelist():
                member = source.read(name)
                promising = member.replace(b"(2, 2), }            ", b"(2000000000000, 2), }")
                assert (promising != member) == ("1p" in name)
                target.writestr(name, promising)
        with pytest.raises(DatasetError, match="damaged"):
            import_dataset(tmp_path / "y.npz")

    def test_an_array_missing(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        del arrays["graph/test_predict"]
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(DatasetError, match="has no array 'test_predict'"):
            import_dataset(tmp_path / "x.npz")

    def test_names_cannot_be_given(self, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(DatasetError, match="leave out --graph"):
            import_dataset(tmp_path / "x.npz", graph_files=[tmp_path / "x.tsv"])
