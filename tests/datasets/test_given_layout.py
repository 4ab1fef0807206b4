"""Which graph the validation triples of a given split belong to: found, stated, or asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.datasets.test_given import OTHER_TEST, OTHER_TRAIN, OTHER_VALID, TEST, TRAIN, VALID, lines, triples, written
from unseen.datasets.dataset import Dataset
from unseen.datasets.given_files import given_files
from unseen.datasets.given_split import given_split
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path


def test_validation_triples_of_the_training_graph_are_not_asked_on_the_other(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, msg=OTHER_TRAIN, valid=VALID, test=OTHER_TEST)
    files = given_files([folder])
    assert (files.layout.name, files.validation) == ("wikitopics", "training graph")
    assert "100% have names of train.txt" in files.layout.reason
    found = Dataset("given", given_split(files).split)
    assert triples(found.observed("valid")) == lines(TRAIN)
    assert triples(found.complete("valid")) == lines(TRAIN, VALID)
    assert triples(found.complete("test")) == lines(OTHER_TRAIN, OTHER_TEST)


def test_validation_triples_of_the_inference_graph_are_asked_there(tmp_path: Path) -> None:
    files = given_files([written(tmp_path, train=TRAIN, msg=OTHER_TRAIN, valid=OTHER_VALID, test=OTHER_TEST)])
    assert (files.layout.name, files.validation) == ("ingram", "inference graph")


def test_what_the_inference_graph_observes_cannot_be_asked_there(tmp_path: Path) -> None:
    """WikiTopics: both graphs have the same names, and the inference graph holds the validation triples."""
    shared = TRAIN.replace("c s a\n", "") + "b s c\n" + VALID
    folder = written(tmp_path, train=TRAIN, msg=shared, valid=VALID, test="c r b\n")
    assert given_files([folder]).layout.name == "wikitopics"


def test_a_layout_that_files_leave_open_is_asked_for(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, msg="a r b\nb s c\nc r a\n", valid=VALID, test="b r a\n")
    with pytest.raises(DatasetError, match=r"valid.txt: may belong to either graph .*--layout ingram .*msg.txt.* or "):
        given_files([folder])
    stated = {name: given_files([folder], layout=name) for name in ("ingram", "wikitopics", "PediaTypes")}
    assert [files.validation for files in stated.values()] == ["inference graph", "training graph", "training graph"]
    assert stated["PediaTypes"].layout.name == "wikitopics"


def test_a_stated_layout_that_the_files_contradict_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, train=TRAIN, msg=OTHER_TRAIN, valid=VALID, test=OTHER_TEST)
    assert given_files([folder], layout="wikitopics").validation == "training graph"
    with pytest.raises(
        DatasetError,
        match=r"valid.txt: is not of the layout ingram, nothing is left to ask for: .* 0% have names of msg.txt",
    ):
        given_files([folder], layout="ingram")


@pytest.mark.parametrize("layout", ["grail", "ilpc", "transductive"])
def test_a_layout_of_other_files_is_refused(tmp_path: Path, layout: str) -> None:
    folder = written(tmp_path, train=TRAIN, msg=OTHER_TRAIN, valid=VALID, test=OTHER_TEST)
    with pytest.raises(DatasetError, match=f"layout ingram or wikitopics .* not {layout}"):
        given_files([folder], layout=layout)


def test_other_layouts_are_known_by_their_names(tmp_path: Path) -> None:
    one = written(tmp_path / "one", train=TRAIN, valid=VALID, test=TEST)
    ilpc = {"inference": OTHER_TRAIN, "inference_validation": OTHER_VALID, "inference_test": OTHER_TEST}
    two = written(tmp_path / "two", train=TRAIN, **ilpc)
    flat = written(tmp_path / "flat", train=TRAIN, valid=VALID, train_ind=OTHER_TRAIN, test_ind=OTHER_TEST)
    assert [given_files([folder]).layout.name for folder in (one, two, flat)] == ["transductive", "ilpc", "grail"]
    assert given_files([one], [flat / "train_ind.txt", flat / "test_ind.txt"]).layout.name == "grail"
    with pytest.raises(DatasetError, match=r"layout transductive .* not ingram"):
        given_files([one], layout="ingram")
    with pytest.raises(
        DatasetError, match="no layout 'some'; available: transductive, grail, ilpc, ingram, wikitopics"
    ):
        given_files([one], layout="some")


def test_ultras_protocol_asks_for_the_inference_graphs_validation_triples_too(tmp_path: Path) -> None:
    training = written(tmp_path / "v1", train=TRAIN, valid=VALID, test=TEST)
    other = written(tmp_path / "v1_ind", train=OTHER_TRAIN, valid=OTHER_VALID, test=OTHER_TEST)
    found = given_split(given_files([training], [other]), ask="valid+test")
    assert found.ask == "valid+test"
    assert (len(found.split.test_predict), len(found.split.test_filter)) == (3, 0)
    dataset = Dataset("given", found.split)
    assert triples(dataset.complete("test")) == lines(OTHER_TRAIN, OTHER_VALID, OTHER_TEST)
    assert triples(dataset.complete("valid")) == lines(TRAIN, VALID)


def test_what_cannot_be_asked_for_is_refused(tmp_path: Path) -> None:
    training = written(tmp_path / "v1", train=TRAIN, valid=VALID, test=TEST)
    other = written(tmp_path / "v1_ind", train=OTHER_TRAIN, valid=OTHER_VALID, test=OTHER_TEST)
    alone = written(tmp_path / "alone", train=TRAIN)
    for files, observe, ask, message in (
        (given_files([training]), None, "valid+test", "no inference graph with validation triples"),
        (given_files([alone], [other]), None, "valid+test", "is all there is to validate with"),
        (given_files([training], [other]), "train+valid", "valid+test", "is observed at test"),
        (given_files([training], [other]), None, "all", r"can ask for test or valid\+test, not all"),
    ):
        with pytest.raises(DatasetError, match=message):
            given_split(files, observe, ask)
