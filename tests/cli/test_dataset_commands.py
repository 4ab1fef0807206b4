"""`split`, `dataset import`, `dataset export` and `download` as commands."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from tests.datasets.small_dataset import assert_same, inductive_dataset
from unseen.cli import dataset_commands
from unseen.datasets.dataset import Dataset
from unseen.errors import DatasetError, GraphError, UnknownMethod, UnseenError

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command("split")(dataset_commands.split)
app.command("import")(dataset_commands.import_)
app.command("export")(dataset_commands.export)
app.command("download")(dataset_commands.download)


def run(*words: object) -> Any:
    """The outcome of a command; an error that the user can mend is raised as it is."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(result.exception, UnseenError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_a_graph_is_split_into_a_dataset_folder(tmp_path: Path) -> None:
    told = json.loads(run("split", "countries", "--ratio", 150, "-o", tmp_path / "c", "--json").stdout)
    dataset = Dataset.open(tmp_path / "c")
    assert (dataset.name, dataset.manifest["ratio"], dataset.manifest["seed"]) == ("c", 150, 42)
    assert told["entities"] == dataset.vocabulary.num_entities
    assert told["observed"]["test"] == dataset.observed("test").num_triples


def test_a_disjoint_split_says_so_in_its_manifest(tmp_path: Path) -> None:
    run("split", "countries", "--ratio", 200, "--disjoint", "--seed", 7, "-o", tmp_path / "c")
    dataset = Dataset.open(tmp_path / "c")
    assert (dataset.manifest["kind"], dataset.manifest["seed"], dataset.split.disjoint) == ("disjoint", 7, True)


def test_a_bad_ratio_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="between 101 and 1000"):
        run("split", tmp_path / "no such file.tsv", "--ratio", 50, "-o", tmp_path / "c")


def test_nothing_is_replaced_without_force(tmp_path: Path) -> None:
    run("split", "countries", "-o", tmp_path / "c")
    with pytest.raises(DatasetError, match="already exists"):
        run("split", "countries", "--seed", 1, "-o", tmp_path / "c")
    run("split", "countries", "--seed", 1, "-o", tmp_path / "c", "--force")
    assert Dataset.open(tmp_path / "c").manifest["seed"] == 1


def test_a_dataset_goes_out_and_comes_back(tmp_path: Path) -> None:
    inductive_dataset().save(tmp_path / "here")
    run("export", tmp_path / "here", "-o", tmp_path / "there.zip")
    result = run("import", tmp_path / "there.zip", "-o", tmp_path / "back", "--name", "again")
    assert_same(inductive_dataset(), Dataset.open(tmp_path / "back"))
    assert Dataset.open(tmp_path / "back").name == "again"
    assert "queries" in result.stderr


def test_what_an_import_has_to_remark_stands_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "stats.txt").write_text("numentity: 3\nnumrelations: 2\n")
    for name, value in {
        "test_triples_1c": [((0, (1,), 0), "1-chain")],
        "test_ans_1c_hard": {((0, (1,)),): {2}},
    }.items():
        (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(value))
    result = run("import", tmp_path, "-o", tmp_path / "out", "--json")
    assert json.loads(result.stdout)["queries"] == 1
    assert "easy answers of the 1p queries are unknown" in result.stderr
    assert "--graph" in result.stderr


def test_the_layout_that_was_taken_is_said_and_kept(tmp_path: Path) -> None:
    texts = {
        "train": "a r b\nb r c\nc s a\na s c\n",
        "msg": "x r y\ny q z\nz r x\n",
        "valid": "a r c\n",
        "test": "y r x\n",
    }
    (tmp_path / "art").mkdir()
    for name, text in texts.items():
        (tmp_path / "art" / f"{name}.txt").write_text(text)
    result = run("split", "--given", tmp_path / "art", "-o", tmp_path / "d", "--json")
    told = json.loads(result.stdout)
    assert [told[key] for key in ("layout", "validation", "observe", "ask")] == [
        "wikitopics",
        "training graph",
        "train",
        "test",
    ]
    assert "layout wikitopics: of valid.txt's triples 100% have names of train.txt" in result.stderr
    assert Dataset.open(tmp_path / "d").manifest["layout"] == "wikitopics"
    with pytest.raises(DatasetError, match="is not of the layout ingram"):
        run("split", "--given", tmp_path / "art", "-o", tmp_path / "e", "--layout", "ingram")


def test_types_are_exported_by_name(tmp_path: Path) -> None:
    inductive_dataset().save(tmp_path / "here")
    run("export", tmp_path / "here", "-o", tmp_path / "there.npz", "--types", "1p, 2in")
    run("import", tmp_path / "there.npz", "-o", tmp_path / "back")
    assert set(Dataset.open(tmp_path / "back").tables["test"]) == {"1p", "2in"}
    with pytest.raises(DatasetError, match="no queries of type 7x"):
        run("export", tmp_path / "here", "-o", tmp_path / "other.npz", "--types", "7x")


def test_downloads_are_listed_by_name(tmp_path: Path) -> None:
    lines = run("download").stdout.splitlines()
    assert any(line.startswith("inductiveqe-175 ") for line in lines)
    assert "fb15k-237" in json.loads(run("download", "--json").stdout)
    with pytest.raises(UnknownMethod, match="available: betae, fb15k-237"):
        run("download", "nothing", "-o", tmp_path)


def test_a_given_split_becomes_a_dataset_that_can_be_asked(tmp_path: Path) -> None:
    triples = [f"e{i % 20} r{i // 20} e{(7 * i + 3) % 20}" for i in range(60)]
    for name, part in {"train": triples[:40], "valid": triples[40:50], "test": triples[50:]}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(part) + "\n")
    result = run("split", "--given", tmp_path, "-o", tmp_path / "d", "--observe", "train", "--json")
    told = json.loads(result.stdout)
    assert (told["observed"]["test"], told["complete"]["test"], told["to_predict"]["test"]) == (40, 60, 10)
    assert "at test the training triples are observed" in result.stderr
    dataset = Dataset.open(tmp_path / "d")
    assert (dataset.manifest["kind"], dataset.manifest["observe"]) == ("transductive", "train")
    assert dataset.manifest["source"]["files"] == ["train.txt", "valid.txt", "test.txt"]


def test_a_given_split_and_a_drawn_one_have_their_own_options(tmp_path: Path) -> None:
    for words in (("--given", "--ratio", 150), ("--given", "--disjoint"), ("--observe", "train")):
        result = CliRunner().invoke(app, ["split", "countries", "-o", str(tmp_path / "c"), *map(str, words)])
        assert result.exit_code == 2
        assert next(str(word) for word in words[-2:] if word not in ("--given", "train", 150)) in result.output


def test_an_inference_graph_beside_a_folder_is_hinted_at(tmp_path: Path) -> None:
    for folder, letter in (("v1", "a"), ("v1_ind", "b")):
        (tmp_path / folder).mkdir()
        names = [f"{letter}{i} r {letter}{i % 3}" for i in range(9)]
        for place, name in enumerate(("train", "valid", "test")):
            text = (
                names[3 * place : 3 * place + 3]
                if place
                else names[:9:2] + [f"{letter}{i} s {letter}{i - 1}" for i in range(1, 9)]
            )
            (tmp_path / folder / f"{name}.txt").write_text("\n".join(text) + "\n")
    hinted = run("split", "--given", tmp_path / "v1", "-o", tmp_path / "one")
    assert "--inference" in hinted.stderr
    run("split", "--given", tmp_path / "v1", "--inference", tmp_path / "v1_ind", "-o", tmp_path / "two")
    assert Dataset.open(tmp_path / "two").split.disjoint
