"""`benchmarks/transfer.py`: what is kept is found again for the same files alone, and what a model has seen is told."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from unseen.datasets.dataset import Dataset
from unseen.errors import DatasetError

TRAIN, VALID, TEST = "a r b\nb r c\nc s a\na s c\n", "a r c\n", "b s a\nc r a\n"
OTHER_TRAIN, OTHER_VALID, OTHER_TEST = "x r y\ny r z\nz r x\n", "x r z\n", "y r x\n"


@pytest.fixture(scope="module")
def transfer() -> Any:
    file = Path(__file__).parents[2] / "benchmarks" / "transfer.py"
    spec = importlib.util.spec_from_file_location("transfer", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder: Path, *texts: str) -> str:
    folder.mkdir(parents=True)
    for name, text in zip(("train", "valid", "test"), texts, strict=True):
        (folder / f"{name}.txt").write_text(text)
    return str(folder)


def options(keep: Path, observe: str | None = None) -> argparse.Namespace:
    return argparse.Namespace(keep=str(keep), observe=observe, count=0, threads=1)


def test_a_graph_and_its_pair_with_an_inference_graph_are_kept_apart(transfer: Any, tmp_path: Path) -> None:
    one, other = (
        written(tmp_path / "v1", TRAIN, VALID, TEST),
        written(tmp_path / "v1_ind", OTHER_TRAIN, OTHER_VALID, OTHER_TEST),
    )
    keep = tmp_path / "kept"
    alone, pair = transfer.prepared([one, f"{one}:{other}"], options(keep))
    assert (alone.name, pair.name) == ("v1", "v1_to_v1_ind")
    assert sorted(path.name for path in keep.iterdir()) == ["v1", "v1_to_v1_ind"]
    again = transfer.prepared([f"{one}:{other}"], options(keep))[0]
    assert (again.split.disjoint, again.manifest["observe"]) == (True, "train")
    assert len(transfer.prepared([], options(keep))) == 2
    kept = transfer.prepared([str(keep / "v1")], options(keep))[0]
    assert kept.manifest["sources"] == alone.manifest["sources"]


def test_what_is_kept_is_taken_only_if_the_same_is_observed(
    transfer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, keep = written(tmp_path / "v1", TRAIN, VALID, TEST), tmp_path / "kept"
    for observe, is_made in (("train", True), ("train", False), (None, True), ("train+valid", False), ("train", True)):
        found = transfer.prepared([source], options(keep, observe))[0]
        assert found.manifest["observe"] == (observe or "train+valid")
        assert ("transfer preparation" in capsys.readouterr().out) == is_made, observe


def test_another_folder_of_the_same_name_is_refused(transfer: Any, tmp_path: Path) -> None:
    first = written(tmp_path / "a" / "x", TRAIN, VALID, TEST)
    second = written(tmp_path / "b" / "x", OTHER_TRAIN, OTHER_VALID, OTHER_TEST)
    same = written(tmp_path / "c" / "x", TRAIN, VALID, TEST)
    transfer.prepared([first, same], options(tmp_path / "kept"))
    with pytest.raises(DatasetError, match="x: is kept from other files"):
        transfer.prepared([second], options(tmp_path / "kept"))
    assert Dataset.open(tmp_path / "kept" / "x").observed("train").num_triples == 4


def model(folder: Path, *graphs: str, start: str | None = None) -> str:
    folder.mkdir()
    facts = dict.fromkeys(("method", "steps", "seed", "commit", "metrics", "licence"))
    card = {**facts, "settings": {}, "data": [{"name": graph} for graph in graphs], "start": start}
    (folder / "card.json").write_text(json.dumps(card))
    return str(folder)


def test_a_model_has_learned_from_what_its_beginning_has_seen(transfer: Any, tmp_path: Path) -> None:
    first = model(tmp_path / "first", "one", "two")
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"dataset": "three", "start": first}))
    assert transfer.learned_from(model(tmp_path / "last", "one", start=str(run))) == ["one", "three", "two"]
    lost = model(tmp_path / "lost", "one", start="gone")
    assert transfer.learned_from(lost) == ["one", "what gone had learned from"]
    itself = model(tmp_path / "itself", "one", start=str(tmp_path / "itself"))
    assert transfer.learned_from(itself) == ["one", f"what {itself} had learned from"]
