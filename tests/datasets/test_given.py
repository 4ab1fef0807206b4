"""Splits that come as files: which file is what, what is observed at test, and what is refused."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from unseen.datasets.dataset import Dataset
from unseen.datasets.given_files import given_files
from unseen.datasets.given_split import given_split
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph import KnowledgeGraph

TRAIN = "a r b\nb r c\nc s a\na s c\n"
VALID = "a r c\n"
TEST = "b s a\nc r a\n"
OTHER_TRAIN = "x r y\ny q z\nz r x\n"
OTHER_VALID = "x r z\n"
OTHER_TEST = "y r x\nz q y\n"


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def triples(graph: KnowledgeGraph) -> set[str]:
    return {" ".join(triple) for triple in graph.triples()}


def lines(*texts: str) -> set[str]:
    return {line for text in texts for line in text.splitlines()}


def dataset(*sources: object, inference: tuple[Path, ...] = (), observe: str | None = None) -> Dataset:
    found = given_split(given_files(sources, inference), observe)  # type: ignore[arg-type]
    return Dataset("given", found.split, manifest={"kind": found.kind})


def test_test_questions_see_training_and_validation_triples(tmp_path: Path) -> None:
    found = dataset(written(tmp_path, train=TRAIN, valid=VALID, test=TEST))
    assert triples(found.observed("valid")) == lines(TRAIN)
    assert triples(found.complete("valid")) == lines(TRAIN, VALID)
    assert triples(found.observed("test")) == lines(TRAIN, VALID)
    assert triples(found.complete("test")) == lines(TRAIN, VALID, TEST)


def test_link_prediction_keeps_validation_triples_from_the_model(tmp_path: Path) -> None:
    folder = written(tmp_path / "split", train=TRAIN, valid=VALID, test=TEST)
    dataset(folder, observe="train").save(tmp_path / "saved")
    found = Dataset.open(tmp_path / "saved")
    assert triples(found.observed("test")) == lines(TRAIN)
    assert triples(found.complete("test")) == lines(TRAIN, VALID, TEST)
    assert len(found.split.test_predict) == 2
    assert triples(found.complete("valid")) == lines(TRAIN, VALID), "validation knows nothing of test"


def test_an_inference_graph_is_seen_alone(tmp_path: Path) -> None:
    training = written(tmp_path / "v1", train=TRAIN, valid=VALID, test=TEST)
    other = written(tmp_path / "v1_ind", train=OTHER_TRAIN, valid=OTHER_VALID, test=OTHER_TEST)
    found = dataset(training, inference=(other,))
    assert triples(found.observed("train")) == triples(found.observed("valid")) == lines(TRAIN)
    assert triples(found.complete("valid")) == lines(TRAIN, VALID)
    assert triples(found.observed("test")) == lines(OTHER_TRAIN)
    assert triples(found.complete("test")) == lines(OTHER_TRAIN, OTHER_VALID, OTHER_TEST)
    assert len(found.candidates("test")) == 3
    shown = dataset(training, inference=(other,), observe="train+valid")
    assert triples(shown.observed("test")) == lines(OTHER_TRAIN, OTHER_VALID)
    together = dataset(tmp_path)
    assert triples(together.complete("test")) == triples(found.complete("test"))


def test_names_of_files_say_which_graph_they_belong_to(tmp_path: Path) -> None:
    flat = written(tmp_path / "flat", train=TRAIN, valid=VALID, train_ind=OTHER_TRAIN, test_ind=OTHER_TEST)
    found = dataset(flat)
    assert triples(found.complete("valid")) == lines(TRAIN, VALID)
    assert triples(found.complete("test")) == lines(OTHER_TRAIN, OTHER_TEST)
    message = written(tmp_path / "msg", train=TRAIN, msg=OTHER_TRAIN, valid=OTHER_VALID, test=OTHER_TEST)
    found = dataset(message)
    assert triples(found.observed("valid")) == triples(found.observed("test")) == lines(OTHER_TRAIN)
    assert triples(found.complete("valid")) == lines(OTHER_TRAIN, OTHER_VALID)
    named = dataset(message / "train.txt", inference=tuple(message / f"{one}.txt" for one in ("msg", "valid", "test")))
    assert triples(named.complete("test")) == triples(found.complete("test"))


def test_an_inference_file_without_a_role_is_what_is_observed_of_that_graph(tmp_path: Path) -> None:
    shared = written(
        tmp_path / "shared",
        train_graph=TRAIN,
        inference_graph=OTHER_TRAIN,
        val_graph=OTHER_VALID,
        test_graph=OTHER_TEST,
    )
    found = dataset(shared)
    assert triples(found.observed("train")) == lines(TRAIN)
    assert triples(found.observed("valid")) == triples(found.observed("test")) == lines(OTHER_TRAIN)
    assert triples(found.complete("valid")) == lines(OTHER_TRAIN, OTHER_VALID)
    assert triples(found.complete("test")) == lines(OTHER_TRAIN, OTHER_VALID, OTHER_TEST)
    own = {"inference_validation": OTHER_VALID, "inference_test": OTHER_TEST}
    named = dataset(written(tmp_path / "own", train=TRAIN, inference=OTHER_TRAIN, **own))
    for side in ("train", "valid", "test"):
        assert triples(named.observed(side)) == triples(found.observed(side))
        assert triples(named.complete(side)) == triples(found.complete(side))


def test_lists_of_names_are_no_inference_graph(tmp_path: Path) -> None:
    found = dataset(written(tmp_path, train=TRAIN, valid=VALID, test=TEST, entities_ind="x\ny\n"))
    assert triples(found.complete("test")) == lines(TRAIN, VALID, TEST)


def test_only_the_ends_that_say_a_format_are_no_part_of_a_name(tmp_path: Path) -> None:
    texts = {"fb.train": TRAIN, "fb.v1.valid": VALID}
    folder = written(tmp_path, **texts)
    (folder / "FB.Test.TXT.GZ").write_bytes(gzip.compress(TEST.encode()))
    found = dataset(folder)
    assert triples(found.complete("test")) == lines(TRAIN, VALID, TEST)


def test_files_of_any_name_and_format_go_by_their_order(tmp_path: Path) -> None:
    (tmp_path / "one.tsv.gz").write_bytes(gzip.compress(TRAIN.replace(" ", "\t").encode()))
    (tmp_path / "two.csv").write_text("tail,relation,head\nc,r,a\n")
    (tmp_path / "three.nt").write_text("<http://e/a> <http://e/s> <http://e/b> .\n")
    (tmp_path / "four.txt").write_text(TEST)
    found = dataset(*(tmp_path / name for name in ("one.tsv.gz", "two.csv", "four.txt")))
    assert triples(found.complete("test")) == lines(TRAIN, VALID, TEST)
    without = dataset(tmp_path / "one.tsv.gz", tmp_path / "four.txt")
    assert len(without.split.valid_predict) == 0
    assert len(without.split.test_predict) == 2


def test_what_an_earlier_file_has_is_left_out_and_counted(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, valid=VALID, test=TEST + "a r b\na r c\n")
    found = given_split(given_files([folder]))
    assert len(found.split.test_predict) == 2
    assert any("2 of 4 triples are in the files before it" in remark for remark in found.remarks)


def test_what_the_observed_graph_lacks_is_counted(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, valid=VALID, test=TEST + "a t b\nd r a\n")
    remarks = " ".join(given_split(given_files([folder])).remarks)
    assert "1 entities have no edge in the observed graph; the 1 triples" in remarks
    assert "1 relations have no edge in the observed graph (t)" in remarks


def test_an_inference_graph_with_old_entities_is_remarked(tmp_path: Path) -> None:
    training = written(tmp_path / "one", train=TRAIN)
    other = written(tmp_path / "two", train=OTHER_TRAIN + "a r x\n", test=OTHER_TEST)
    remarks = given_split(given_files([training], [other])).remarks
    assert any("1 entities of" in remark and "are in" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train": TRAIN, "valid": VALID}, "no file of test triples"),
        ({"valid": VALID, "test": TEST}, "no file called train"),
        ({"train": TRAIN, "valid": VALID, "test": TRAIN}, "nothing is left to predict"),
        ({"train": TRAIN, "valid": VALID, "test": OTHER_TEST}, "--inference"),
        ({"train_a": TRAIN, "train_b": TRAIN, "test": TEST}, "train_a.txt, train_b.txt"),
        ({"facts": TRAIN}, r"\(passed over: facts.txt\): name them"),
        ({"facts": TRAIN, "valid": VALID, "test": TEST}, r"no file called train .*\(passed over: facts.txt\)"),
        ({"train": TRAIN, "queries": TEST}, r"no file of test triples \(passed over: queries.txt\)"),
        ({"train2id": "1\n0 1 0\n", "test2id": "1\n0 1 0\n"}, "train2id.txt: .* head, tail, relation"),
    ],
)
def test_a_folder_that_is_no_split_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        dataset(written(tmp_path, **files))


def test_files_that_make_no_split_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, valid=VALID, test=TEST)
    train, valid, test = (folder / f"{name}.txt" for name in ("train", "valid", "test"))
    for sources, message in (
        ((train, train, test), "given twice"),
        ((test, valid, train), "wrong order"),
        ((train, valid, test, train), "a given split is"),
        ((folder, test), "is a folder among"),
        ((train,), "no file of test triples: name"),
        ((folder / "missing",), "there is no such file or folder"),
        ((train, folder / "missing.txt", test), "missing.txt: there is no such"),
    ):
        with pytest.raises(DatasetError, match=message):
            given_files(sources)
    with pytest.raises(DatasetError, match="missing: there is no such"):
        given_files([train], [folder / "missing"])
    with pytest.raises(DatasetError, match="not everything"):
        given_split(given_files([folder]), "everything")


def test_ids_are_those_of_all_files_together(tmp_path: Path) -> None:
    split = dataset(written(tmp_path, train=TRAIN, valid=VALID, test=TEST)).split
    assert split.vocabulary.entities.keys.to_pylist() == ["a", "b", "c"]
    assert np.array_equal(split.test_predict, [[1, 1, 0], [2, 0, 0]])
