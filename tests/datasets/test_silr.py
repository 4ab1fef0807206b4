"""SILR's JSON files: what is read from them, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from unseen.datasets.published import import_dataset
from unseen.errors import DatasetError
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from pathlib import Path

LINKS = [[3, [0]], [5, [2]]]
QUERIES = {
    "1c": ("1-chain", [3, [1]], "1p", [3, 1]),
    "2c": ("2-chain", [3, [0, 5]], "2p", [3, 0, 5]),
    "3c": ("3-chain", [3, [0, 5, 2]], "3p", [3, 0, 5, 2]),
    "2i": ("2-inter", LINKS, "2i", [3, 0, 5, 2]),
    "3i": ("3-inter", [*LINKS, [1, [1]]], "3i", [3, 0, 5, 2, 1, 1]),
    "ip": ("inter-chain", [*LINKS, 4], "ip", [3, 0, 5, 2, 4]),
    "pi": ("chain-inter", [[3, [0, 1]], [5, [2]]], "pi", [3, 0, 1, 5, 2]),
    "2u": ("2-union", LINKS, "2u", [3, 0, 5, 2]),
    "up": ("union-chain", [*LINKS, 4], "up", [3, 0, 5, 2, 4]),
    "4c": ("4-chain", [3, [0, 5, 2, 1]], "4p", [3, 0, 5, 2, 1]),
    "3ip": ("3-inter-chain", [*LINKS, [1, [1]], 4], "3ip", [3, 0, 5, 2, 1, 1, 4]),
    "i2p": ("inter-2-chain", [*LINKS, 4, 3], "i2p", [3, 0, 5, 2, 4, 3]),
}


def entry(kind: str, query: list[Any], answers: list[int], hard: list[int] | None = None) -> dict[str, Any]:
    found = {"id": 0, "type": kind, "query": query, "ans": answers, "query_text": [], "ans_text": []}
    return found if hard is None else {**found, "hard_ans": hard}


def written(folder: Path, file: str, *entries: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "stats.txt").write_text("numentity: 8\nnumrelations: 6\nnumtypes: 99")
    (folder / f"{file}.json").write_text(json.dumps({"data": entries}))
    return folder


@pytest.mark.parametrize("file", QUERIES)
def test_every_type_is_read_in_its_form(tmp_path: Path, file: str) -> None:
    kind, query, shape, slots = QUERIES[file]
    dataset = import_dataset(written(tmp_path / "silr", f"test_{file}", entry(kind, query, [1, 2], [6])))
    assert dataset.manifest["source"]["format"] == "silr"
    table = dataset.tables["test"][shape]
    assert table.slots.tolist() == [slots]
    assert (table.easy.row(0).tolist(), table.hard.row(0).tolist()) == ([1, 2], [6])
    assert table.shape == SHAPES.get(shape, table.shape)
    joined = any("joined two queries" in remark for remark in dataset.manifest["notes"])
    assert joined == (shape not in SHAPES)


def test_easy_answers_are_those_that_are_not_hard(tmp_path: Path) -> None:
    """SILR's inductive files have easy answers under `ans`, its transductive ones all of them."""
    rows = [entry("1-chain", [3, [1]], [1, 2], [6]), entry("1-chain", [4, [1]], [6, 1, 2, 2], [6])]
    table = import_dataset(written(tmp_path / "silr", "dev_1c", *rows)).tables["valid"]["1p"]
    assert [table.easy.row(row).tolist() for row in (0, 1)] == [[1, 2], [1, 2]]


def test_training_queries_and_files_of_several_types(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "silr", "train_addunion", entry("1-chain", [3, [1]], [2]), entry("2-union", LINKS, [1, 1])
    )
    written(folder, "train_1c", entry("1-chain", [3, [1]], [2]), entry("1-chain", [4, [1]], [0]))
    tables = import_dataset(folder).tables["train"]
    assert {name: len(table) for name, table in tables.items()} == {"1p": 2, "2u": 1}
    assert tables["2u"].easy.row(0).tolist() == [1]


def test_texts_become_labels(tmp_path: Path) -> None:
    folder = written(tmp_path / "silr", "test_1c", entry("1-chain", [3, [1]], [], [6]))
    (folder / "entity_text.json").write_text(json.dumps({str(number): f"the {number}th" for number in range(8)}))
    assert import_dataset(folder).vocabulary.entity_name(3) == "the 3th"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([entry("6-chain", [3, [1]], [])], "query 0 has the type '6-chain', not one of 1-chain"),
        ([entry("1-chain", [3, [1]], [], []), 7], "query 1 has the type 'None'"),
        ([entry("2-chain", [3, [1]], [], [])], r"query 0 does not have the form of a 2-chain: \[3, \[1\]\]"),
        ([entry("1-chain", [True, [1]], [], [])], "does not have the form"),
        ([entry("1-chain", [-3, [1]], [], [])], "does not have the form"),
        ([entry("1-chain", [8, [1]], [], [])], "entity id beyond 7"),
        ([entry("1-chain", [3, [6]], [], [])], "relation id beyond 5"),
        ([entry("1-chain", [3, [1]], [8], [])], r"ans of query 0 is not a list of entity ids \(0 … 7\)"),
        ([entry("1-chain", [3, [1]], [1])], "hard_ans of query 0 is not a list"),
        ([entry("1-chain", [3, [1]], [1], []), entry("1-chain", [3, [1]], [2], [])], "twice with different answers"),
    ],
)
def test_what_is_not_silrs_is_refused_with_its_place(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        import_dataset(written(tmp_path / "silr", "test_1c", *rows))
    assert caught.value.path.name == "test_1c.json"


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[" * 100_000, "is not JSON"), ("[]", "not a JSON object"), ("{}", '"data"')],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    folder = written(tmp_path / "silr", "test_1c")
    (folder / "test_1c.json").write_text(text)
    with pytest.raises(DatasetError, match=message):
        import_dataset(folder)


def test_a_graph_beside_the_files_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path / "silr", "test_1c", entry("1-chain", [3, [0]], [1], [6]))
    for name, text in {"train": "3\t0\t1\n1\t1\t3", "valid": "", "test": "3\t0\t6\n6\t1\t3"}.items():
        (folder / f"{name}.txt").write_text(text)
    dataset = import_dataset(folder)
    assert (dataset.observed("test").num_triples, dataset.complete("test").num_triples) == (1, 2)
    assert "notes" not in dataset.manifest
