from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from unseen.cli.main import app
from unseen.datasets.dataset import Dataset
from unseen.datasets.split import inductive_split
from unseen.errors import DatasetError, QuerySyntaxError, UnknownMethod

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph import KnowledgeGraph

FEW = ("--types", "1p,2p,2in", "--train", "30", "--valid", "20", "--test", "20", "--test", "2in=10")


@pytest.fixture(scope="module")
def split(countries: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("datasets") / "split"
    Dataset("countries", inductive_split(countries, 175)).save(path)
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2
    return result.output


def test_sample_writes_as_many_queries_as_asked_for(split: Path, tmp_path: Path) -> None:
    output = run("sample", split, "-o", tmp_path / "d", *FEW)
    dataset = Dataset.open(tmp_path / "d")
    sizes = {side: {name: len(table) for name, table in tables.items()} for side, tables in dataset.tables.items()}
    assert sizes["train"] == {"1p": 30, "2p": 30, "2in": 30}
    assert sizes["test"] == {"1p": 20, "2p": 20, "2in": 10}
    assert set(dataset.training_answers) == {"valid", "test"}
    assert "wrote 200 queries" in output
    assert not any(Dataset.open(split).tables.values())


def test_the_same_seed_writes_the_same_files(split: Path, tmp_path: Path) -> None:
    for name, threads, seed in (("a", 1, 5), ("b", 2, 5), ("c", 2, 6)):
        run("sample", split, "-o", tmp_path / name, *FEW, "--threads", threads, "--seed", seed)
    a, b, c = ((tmp_path / name / "queries" / "test.safetensors").read_bytes() for name in "abc")
    assert a == b != c


def test_own_shapes_are_sampled_by_name(split: Path, tmp_path: Path) -> None:
    shapes = ("--shape", "4p=e/r/r/r/r", "--shape", "4i = e/r & e/r & e/r & e/r")
    run("sample", split, "-o", tmp_path / "d", "--types", "4p,4i", *shapes, "--train", 5, "--valid", 5, "--test", 5)
    table = Dataset.open(tmp_path / "d").tables["test"]["4i"]
    assert table.slots.shape == (5, 8)
    assert (table.hard.lengths > 0).all()


def test_asked_for_more_than_there_are_it_says_how_many(split: Path, tmp_path: Path) -> None:
    few = ("--types", "1p", "--train", 1, "--valid", 1)
    output = run("sample", split, "-o", tmp_path / "d", *few, "--test", "1p=1,000,000")
    found = len(Dataset.open(tmp_path / "d").tables["test"]["1p"])
    assert f"test 1p: {found:,} of 1,000,000 queries: there are no more" in output


def test_queries_are_not_replaced_unless_said(split: Path, tmp_path: Path) -> None:
    run("sample", split, "-o", tmp_path / "d", *FEW)
    with pytest.raises(DatasetError, match="--force"):
        run("sample", tmp_path / "d", *FEW)
    run("sample", tmp_path / "d", *FEW, "--seed", 1, "--force", "--hard", "--compatible")
    manifest = Dataset.open(tmp_path / "d").manifest
    assert manifest["answers"] == "published"
    assert manifest["sampling"] == {"seed": 1, "compatible": True, "hard": True}


def test_stats_prints_the_three_tables(split: Path, tmp_path: Path) -> None:
    run("sample", split, "-o", tmp_path / "d", *FEW)
    numbers = json.loads(run("dataset", "stats", tmp_path / "d", "--json"))
    dataset = Dataset.open(tmp_path / "d")
    assert numbers["graphs"]["train_triples"] == 2 * len(dataset.split.train_graph)
    assert numbers["queries"]["test"] == {"1p": 20, "2p": 20, "2in": 10}
    one_link = dataset.tables["train"]["1p"].easy, dataset.training_answers["test"]["1p"]
    differs = [not np.array_equal(one_link[0].row(i), one_link[1].row(i)) for i in range(30)]
    assert numbers["new_answers"]["1p"]["test"] == sum(differs)
    shown = run("dataset", "stats", tmp_path / "d")
    assert all(word in shown for word in ("graphs", "queries", "training queries whose answers differ", "2in"))


def test_an_unknown_type_is_an_error_that_lists_the_known_ones(split: Path) -> None:
    with pytest.raises(UnknownMethod, match=r"there is no query type '9p'.*1p"):
        run("sample", split, "--types", "9p")


def test_a_template_that_does_not_parse_is_shown_with_its_place(split: Path) -> None:
    with pytest.raises(QuerySyntaxError, match="template"):
        run("sample", split, "--shape", "x=e/r/")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shape", "4p"), "NAME=TEMPLATE"),
        (("--shape", "2p=e/r"), "type of the paper"),
        (("--test", "many"), "number of queries"),
        (("--test", "-3"), "number of queries"),
        (("--types", "1p", "--test", "2p=3"), "not one of the types"),
    ],
)
def test_words_that_make_no_sense_are_refused(split: Path, words: tuple[str, ...], message: str) -> None:
    assert message in " ".join(refused("sample", split, *words).replace("│", " ").split())
