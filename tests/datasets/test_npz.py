"""Files of arrays: how many relations there are, and which datasets fit."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.datasets.published_files import exported
from tests.datasets.small_dataset import assert_same, contents, inductive_dataset, transductive_dataset, with_questions
from unseen.datasets.dataset import Dataset
from unseen.datasets.published import export_dataset, import_dataset
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.errors import DatasetError
from unseen.graph import Vocabulary
from unseen.logic.shapes import Shape

if TYPE_CHECKING:
    from pathlib import Path


def with_idle_relations(*, last: bool) -> Dataset:
    """A dataset one of whose relations has no edge: the last one, or the first."""
    split = inductive_dataset().split
    count = split.vocabulary.num_relations
    names = Vocabulary.numbered(split.vocabulary.num_entities, count + 1)
    parts = ("train_graph", "valid_inference", "valid_predict", "test_inference", "test_predict")
    shifted = {part: getattr(split, part) + np.array([0, int(not last), 0], np.int32) for part in parts}
    return with_questions(Dataset("idle", replace(split, vocabulary=names, **shifted)))


def as_others_write_it(path: Path) -> Path:
    """The file without what it says about itself."""
    other = path.with_name("other.npz")
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(other, "w") as kept:
        for name in whole.namelist():
            if not name.startswith("about/"):
                kept.writestr(name, whole.read(name))
    return other


@pytest.mark.parametrize("last", [True, False])
def test_a_relation_without_edges_comes_back(tmp_path: Path, last: bool) -> None:
    dataset = with_idle_relations(last=last)
    again = import_dataset(exported(dataset, tmp_path / "x.npz", "npz"))
    assert again.vocabulary.num_relations == dataset.vocabulary.num_relations
    assert_same(dataset, again)
    assert "notes" not in again.manifest


def test_a_file_of_others_says_what_was_assumed(tmp_path: Path) -> None:
    path = as_others_write_it(exported(inductive_dataset(), tmp_path / "x.npz", "npz"))
    again = import_dataset(path)
    assert_same(inductive_dataset(), again, names=False)
    (remark,) = again.manifest["notes"]
    counts = f"{again.vocabulary.num_entities:,} and {again.vocabulary.num_relations:,} were assumed"
    assert counts in remark
    assert "--relations" in remark


def test_a_gap_in_the_relations_of_others_has_to_be_explained(tmp_path: Path) -> None:
    dataset = with_idle_relations(last=False)
    path = as_others_write_it(exported(dataset, tmp_path / "x.npz", "npz"))
    with pytest.raises(DatasetError, match="1 of the first 6 have no edge, so it may have more"):
        import_dataset(path)
    assert_same(dataset, import_dataset(path, relations=6))
    with pytest.raises(DatasetError, match="has 6 relations or more, not 5"):
        import_dataset(path, relations=5)


def test_counts_that_are_not_so_are_refused(tmp_path: Path) -> None:
    path = exported(inductive_dataset(), tmp_path / "x.npz", "npz")
    with pytest.raises(DatasetError, match="says that there are 5 relations: leave out --relations"):
        import_dataset(path, relations=99)
    with pytest.raises(DatasetError, match="leave out --relations"):
        import_dataset(exported(inductive_dataset(), tmp_path / "x", "inductiveqe"), relations=5)


def test_counts_below_the_ids_are_refused(tmp_path: Path) -> None:
    path = exported(with_idle_relations(last=False), tmp_path / "x.npz", "npz")
    smaller = exported(inductive_dataset(), tmp_path / "y.npz", "npz")
    with (
        zipfile.ZipFile(path) as whole,
        zipfile.ZipFile(smaller) as other,
        zipfile.ZipFile(tmp_path / "z.npz", "w") as mixed,
    ):
        for name in whole.namelist():
            mixed.writestr(name, (other if name == "about/relations.npy" else whole).read(name))
    with pytest.raises(DatasetError, match="5 relations, and has larger ids: it is damaged"):
        import_dataset(tmp_path / "z.npz")


def test_answers_that_traversal_does_not_give_are_refused(tmp_path: Path) -> None:
    dataset = inductive_dataset()
    table = dataset.tables["test"]["2p"]
    tables = {**dataset.tables, "test": {"2p": replace(table, hard=Ragged.empty(len(table)))}}
    with pytest.raises(DatasetError, match="test queries of type 2p have answers that traversal does not give"):
        export_dataset(dataset.with_queries(tables, {}), tmp_path / "x.npz", "npz")


def test_true_easy_answers_stay_true(tmp_path: Path) -> None:
    dataset = with_questions(inductive_dataset().with_queries({}, {}, answers="published"))
    true = dataset.with_queries({"test": {}}, {}, answers="true")
    assert import_dataset(exported(true, tmp_path / "x.npz", "npz")).manifest["answers"] == "true"


def test_hidden_triples_do_not_fit(tmp_path: Path) -> None:
    split = inductive_dataset().split
    dataset = Dataset("hidden", replace(split, test_filter=split.test_predict[:2]), manifest={"answers": "published"})
    for form, file in (("npz", "x.npz"), ("inductiveqe", "x")):
        with pytest.raises(DatasetError, match=r"2 triples that are true at test.*--observe train\+valid"):
            export_dataset(dataset, tmp_path / file, form)


def of_shape(shape: Shape) -> Dataset:
    """A dataset of a growing graph with the queries of 2u (or up) asked in another way."""
    whole = transductive_dataset()
    named = "up" if shape.template.endswith("/r") else "2u"
    tables = {
        side: {shape.name: QueryTable(shape, found[named].slots, found[named].easy, found[named].hard)}
        for side, found in whole.tables.items()
    }
    return whole.with_queries(tables, {})


@pytest.mark.parametrize(
    ("template", "named"),
    [("!(!e/r & !e/r)", "2u"), ("!!(e/r | !!e/r)", "2u"), ("(!(!e/r & !e/r))/r", "up")],
)
@pytest.mark.parametrize(("form", "file"), [("npz", "x.npz"), ("query2box", "x")])
def test_a_union_in_negations_is_written_as_the_union(
    tmp_path: Path, template: str, named: str, form: str, file: str
) -> None:
    remarks = export_dataset(of_shape(Shape("mine", template)), tmp_path / file, form)
    assert f"mine is written as {named}, the same question" in remarks
    again = import_dataset(tmp_path / file)
    for side, tables in transductive_dataset().tables.items():
        assert contents(again.tables[side][named]) == contents(tables[named])


@pytest.mark.parametrize("form", ["betae", "inductiveqe"])
def test_nested_tuples_keep_the_negations(tmp_path: Path, form: str) -> None:
    shape = Shape("!(!e/r & !e/r)", "!(!e/r & !e/r)")
    export_dataset(of_shape(shape), tmp_path / "x", form)
    assert set(import_dataset(tmp_path / "x").tables["test"]) == {shape.name}


def test_types_are_chosen(tmp_path: Path) -> None:
    export_dataset(transductive_dataset(), tmp_path / "x", "query2box", ["2i", "1p"])
    assert all(set(tables) == {"1p", "2i"} for tables in import_dataset(tmp_path / "x").tables.values())
    with pytest.raises(DatasetError, match="has no queries of type 9p; there are: 1p, 2p"):
        export_dataset(transductive_dataset(), tmp_path / "y", "betae", ["1p", "9p"])
    with pytest.raises(DatasetError, match="no query type was named; there are: 1p, 2p"):
        export_dataset(transductive_dataset(), tmp_path / "y", "betae", [])


def test_two_types_that_ask_the_same_are_refused(tmp_path: Path) -> None:
    whole = transductive_dataset()
    tables = {
        s: {"2p": t["2p"], "mine": replace(t["2p"], shape=Shape("mine", "e/r/r"))} for s, t in whole.tables.items()
    }
    with pytest.raises(DatasetError, match="the types 2p and mine ask the same; leave one out with --types"):
        export_dataset(whole.with_queries(tables, {}), tmp_path / "x", "betae")
