"""`unseen evaluate` on the files of published splits as they are: the link prediction protocol, end to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

import unseen
from tests.datasets.small_dataset import inductive_dataset
from unseen.api import device_of, open_method
from unseen.cli.main import app
from unseen.errors import DatasetError, UnseenError
from unseen.logic.algebra import Anchor, Project

if TYPE_CHECKING:
    from pathlib import Path

    Triple = tuple[str, str, str]

RELATIONS = ("likes", "knows", "helps")


def drawn(letter: str, seed: int, count: int) -> list[Triple]:
    """Different triples among ten people."""
    places = np.random.default_rng(seed).permutation(300)[:count].tolist()
    return [(f"{letter}{place % 10}", RELATIONS[place // 100], f"{letter}{place // 10 % 10}") for place in places]


def write(path: Path, rows: list[Triple]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


OLD, NEW = drawn("a", 1, 40), drawn("b", 2, 40)
OLD_PARTS, NEW_PARTS = (OLD[:30], OLD[30:35], OLD[35:]), (NEW[:26], NEW[26:33], NEW[33:])


def evaluated(*words: object) -> tuple[dict, str]:
    result = CliRunner().invoke(app, ["evaluate", "edge-type", *map(str, words), "--json", "-"])
    if isinstance(result.exception, UnseenError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


def by_hand(observed: list[Triple], asked: list[Triple], true: list[Triple], folder: Path) -> float:
    """Filtered MRR over both ends of every triple: candidates are all entities, ties count half."""
    write(folder / "all.tsv", true)
    everything = unseen.load(folder / "all.tsv")
    graph = everything.restricted_to(
        np.isin([" ".join(t) for t in everything.triples()], [" ".join(t) for t in observed])
    )
    facts, method, reciprocal = set(true), open_method("edge-type"), []
    names = everything.vocabulary.entities.keys.to_pylist()
    for head, relation, tail in asked:
        for anchor, wanted, inverse in ((head, tail, False), (tail, head, True)):
            directed = everything.vocabulary.relation_id(relation, inverse)
            query = Project(directed, Anchor(names.index(anchor)))
            scores = method.answer(graph, [query])[0].tolist()
            mine = scores[names.index(wanted)]
            pool = [
                score
                for name, score in zip(names, scores, strict=True)
                if ((name, relation, anchor) if inverse else (anchor, relation, name)) not in facts
            ]
            better, equal = sum(score > mine for score in pool), sum(score == mine for score in pool)
            reciprocal.append(1 / (1 + better + equal / 2))
    return float(np.mean(reciprocal))


def test_two_folders_as_grail_has_them(tmp_path: Path) -> None:
    for folder, parts in (("v1", OLD_PARTS), ("v1_ind", NEW_PARTS)):
        for name, rows in zip(("train", "valid", "test"), parts, strict=True):
            write(tmp_path / folder / f"{name}.txt", rows)
    words = (tmp_path / "v1", "--inference", tmp_path / "v1_ind")
    train, valid, test = NEW_PARTS
    value, told = evaluated(*words)
    assert value["links"]["mrr"] == pytest.approx(by_hand(train, test, NEW, tmp_path))
    assert "--ask valid+test asks for it too" in told
    value, told = evaluated(*words, "--ask", "valid+test")
    assert value["links"]["mrr"] == pytest.approx(by_hand(train, valid + test, NEW, tmp_path))
    assert (value["links"]["triples"], value["links"]["answers"]) == (14, 28)
    assert value["provenance"] | {"layout": "grail", "ask": "valid+test", "observe": "train"} == value["provenance"]
    value, _ = evaluated(*words, "--split", "valid")
    assert value["links"]["mrr"] == pytest.approx(by_hand(OLD_PARTS[0], OLD_PARTS[1], OLD[:35], tmp_path))


def test_one_folder_as_ilpc_and_ingram_have_them(tmp_path: Path) -> None:
    ilpc = ("inference", "inference_validation", "inference_test")
    for folder, names in (("ilpc", ilpc), ("ingram", ("msg", "valid", "test"))):
        write(tmp_path / folder / "train.txt", OLD)
        for name, rows in zip(names, NEW_PARTS, strict=True):
            write(tmp_path / folder / f"{name}.txt", rows)
        value, _ = evaluated(tmp_path / folder)
        assert value["links"]["mrr"] == pytest.approx(by_hand(NEW_PARTS[0], NEW_PARTS[2], NEW, tmp_path))
        assert (value["provenance"]["layout"], value["candidates"]) == (folder, 10)


def test_one_folder_as_wikitopics_has_it(tmp_path: Path) -> None:
    train, valid, _ = OLD_PARTS
    observed, test = NEW_PARTS[0], NEW_PARTS[2]
    for name, rows in {"train": train, "valid": valid, "msg": observed, "test": test}.items():
        write(tmp_path / "art" / f"{name}.txt", rows)
    value, told = evaluated(tmp_path / "art")
    assert value["links"]["mrr"] == pytest.approx(by_hand(observed, test, observed + test, tmp_path))
    assert value["provenance"]["layout"] == "wikitopics"
    assert "layout wikitopics" in told
    value, _ = evaluated(tmp_path / "art", "--split", "valid")
    assert value["links"]["mrr"] == pytest.approx(by_hand(train, valid, train + valid, tmp_path))


def test_one_graph_and_single_files(tmp_path: Path) -> None:
    for name, rows in zip(("train", "valid", "test"), OLD_PARTS, strict=True):
        write(tmp_path / "one" / f"{name}.txt", rows)
    value, _ = evaluated(tmp_path / "one")
    assert value["links"]["mrr"] == pytest.approx(by_hand(OLD_PARTS[0], OLD_PARTS[2], OLD, tmp_path))
    write(tmp_path / "graph.tsv", NEW_PARTS[0])
    write(tmp_path / "samples.tsv", NEW_PARTS[2])
    named = (
        tmp_path / "one" / "train.txt",
        "--inference",
        tmp_path / "graph.tsv",
        "--inference",
        tmp_path / "samples.tsv",
    )
    value, _ = evaluated(*named)
    assert value["links"]["mrr"] == pytest.approx(
        by_hand(NEW_PARTS[0], NEW_PARTS[2], NEW_PARTS[0] + NEW_PARTS[2], tmp_path)
    )


def test_the_table_counts_triples_once_and_ranks_twice(tmp_path: Path) -> None:
    for name, rows in zip(("train", "valid", "test"), OLD_PARTS, strict=True):
        write(tmp_path / "one" / f"{name}.txt", rows)
    shown = CliRunner().invoke(app, ["evaluate", "edge-type", str(tmp_path / "one")]).stdout
    assert "5 hidden test triples from both ends" in shown
    header, both, tails, heads = shown.splitlines()[1:5]
    assert header.split()[:5] == ["asked", "for", "triples", "ranks", "questions"]
    assert [line.split()[1:3] for line in (both, tails, heads)] == [["5", "10"], ["5", "5"], ["5", "5"]]


def test_files_that_are_no_split_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "only" / "train.txt", OLD)
    with pytest.raises(DatasetError, match="no file of test triples"):
        evaluated(tmp_path / "only")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="no files called train, valid and test"):
        evaluated(tmp_path / "empty")


def test_a_dataset_folder_has_no_files_to_say_something_about(tmp_path: Path) -> None:
    inductive_dataset().save(tmp_path / "d")
    for words in (("--layout", "grail"), ("--ask", "test"), ("--inference", tmp_path)):
        with pytest.raises(DatasetError, match="is a dataset folder: --inference, --layout and --ask are about files"):
            evaluated(tmp_path / "d", *words)


def test_the_device_is_chosen_and_told() -> None:
    assert device_of(open_method("edge-type", "cpu")) == device_of(open_method("default", "cpu")) == "cpu"
    with pytest.raises(UnseenError, match="edge-type computes on the CPU, not on cuda"):
        open_method("edge-type", "cuda")
    with pytest.raises(UnseenError, match="there is no device 'quantum'"):
        open_method("default", "quantum")
