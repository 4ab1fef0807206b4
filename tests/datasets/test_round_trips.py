"""What goes out in a published format comes back the same, or does not go out: datasets of any shape."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.datasets.small_dataset import aligned, assert_same_split, contents
from unseen.datasets.answering import answer_table, easy_and_hard_answers
from unseen.datasets.dataset import SPLITS, Dataset, is_true_only
from unseen.datasets.published import FORMATS, export_dataset, import_dataset
from unseen.datasets.published.betae import transductive_split
from unseen.datasets.published.fitting import published_shape
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import InductiveSplit
from unseen.errors import DatasetError
from unseen.graph import Vocabulary
from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names
from unseen.logic.shapes import SHAPES, Shape

OWN = [Shape("4p", "e/r/r/r/r"), Shape("dm", "!(!e/r & !e/r)"), Shape("updm", "(!(!e/r & !e/r))/r")]
OWN += [Shape("twice", "!(!e/r)"), Shape("again", "e/r/r"), Shape("pi turned", "e/r & e/r/r")]
MOST_ENTITIES, MOST_RELATIONS, MOST_EDGES, MOST_QUERIES = 9, 4, 12, 4
EXAMPLES = settings(
    max_examples=int(os.environ.get("UNSEEN_ROUND_TRIPS", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
"""Datasets a format; the variable asks for more."""
FILES = {form: "x.npz" if form == "npz" else "x" for form in FORMATS}

odd_names = st.one_of(
    st.sampled_from(["", "7", "007", "x", "x_reverse", "+x", "-x", "a\tb", "a\nb", "é", "٣", "/m/0", "x #2", "a b"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)


def name_column(kind: str, count: int) -> st.SearchStrategy[Names]:
    """Distinct names, with labels or without."""
    keys = st.lists(odd_names, min_size=count, max_size=count, unique=True)
    return st.builds(
        lambda texts, labelled: Names(
            kind, text_array(texts), text_array([f"a {t}" for t in texts]) if labelled else None
        ),
        keys,
        st.booleans(),
    )


@st.composite
def edge_lists(draw: st.DrawFn, entities: int, relations: int, fewest: int = 0) -> np.ndarray:
    """Different edges: relations and entities may have none."""
    row = st.tuples(*(st.integers(0, limit - 1) for limit in (entities, relations, entities)))
    rows = draw(st.lists(row, min_size=fewest, max_size=MOST_EDGES, unique=True))
    return np.array(rows, np.int32).reshape(-1, 3)


@st.composite
def splits(draw: st.DrawFn) -> InductiveSplit:
    """Graphs of each kind: growing, with new entities, disjoint, with triples that are true but hidden."""
    entities, relations = draw(st.integers(2, MOST_ENTITIES)), draw(st.integers(1, MOST_RELATIONS))
    vocabulary = Vocabulary(draw(name_column("entity", entities)), draw(name_column("relation", relations)))
    edges = edge_lists(entities, relations)
    train = draw(edge_lists(entities, relations, fewest=1))
    if draw(st.booleans()):
        return transductive_split(vocabulary, [train, draw(edges), draw(edges)])
    hidden = draw(edges) if draw(st.integers(0, 4)) == 0 else train[:0]
    disjoint = draw(st.integers(0, 4)) == 0
    parts = [draw(edges) for _ in range(4)]
    return InductiveSplit(vocabulary, train, *parts, test_filter=hidden, disjoint=disjoint)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """A dataset with queries of some types, perhaps none of a type, and the answers of traversal."""
    split = draw(splits())
    definition = draw(st.sampled_from(["published", "true"]))
    dataset = Dataset("any", split, manifest={"kind": "inductive", "answers": definition})
    shapes = draw(st.lists(st.sampled_from([*SHAPES.values(), *OWN]), max_size=4, unique_by=lambda shape: shape.name))
    limits = {"e": split.vocabulary.num_entities, "r": split.vocabulary.num_directed_relations}
    slots = {}
    for side in SPLITS:
        slots[side] = {
            shape: draw(
                st.lists(
                    st.tuples(*(st.integers(0, limits[kind] - 1) for kind in shape.slots)),
                    max_size=MOST_QUERIES,
                    unique=True,
                )
            )
            for shape in shapes
            if draw(st.booleans())
        }
    return with_answers(dataset, slots)


def with_answers(dataset: Dataset, slots: dict[str, dict[Shape, list[tuple[int, ...]]]]) -> Dataset:
    """The dataset with these queries and what traversal says about them."""
    tables: dict[str, dict[str, QueryTable]] = {side: {} for side in SPLITS}
    larger: dict[str, dict[str, Ragged]] = {"valid": {}, "test": {}}
    for side, shapes in slots.items():
        for shape, found in shapes.items():
            rows = np.array(found, np.int32).reshape(-1, len(shape.slots))
            if side == "train":
                easy, hard = answer_table(dataset.observed(side), shape, rows), Ragged.empty(len(rows))
                for other, answers in larger.items():
                    answers[shape.name] = answer_table(dataset.observed(other), shape, rows)
            else:
                graphs, compatible = (dataset.complete(side), dataset.observed(side)), not is_true_only(dataset)
                easy, hard = easy_and_hard_answers(*graphs, shape, rows, compatible=compatible)
            tables[side][shape.name] = QueryTable(shape, rows, easy, hard)
    return dataset.with_queries(tables, larger)


def by_template(dataset: Dataset, form: str) -> dict[str, dict[str, object]]:
    """Queries and answers by what they ask: published formats have no names for types of one's own."""
    found: dict[str, dict[str, object]] = {}
    for side in SPLITS:
        found[side] = {}
        for table in dataset.tables[side].values():
            named = published_shape(table.shape) if form in ("npz", "query2box") else None
            template = (named or table.shape).template
            found[side][template] = {**found[side].get(template, {}), **contents(table)}  # type: ignore[dict-item]
    return found


def assert_came_back(dataset: Dataset, again: Dataset, form: str) -> None:
    assert_same_split(dataset.split, again.split)
    vocabulary, other = dataset.vocabulary, again.vocabulary
    assert (other.num_entities, other.num_relations) == (vocabulary.num_entities, vocabulary.num_relations)
    if form != "npz":
        assert other.entities.keys == vocabulary.entities.keys
        assert other.relations.keys == vocabulary.relations.keys
    assert by_template(again, form) == by_template(dataset, form)
    if form == "inductiveqe":
        ours, theirs = ({t.shape.template: n for n, t in d.tables["train"].items()} for d in (dataset, again))
        for side, answers in dataset.training_answers.items():
            for name, rows in answers.items():
                table = dataset.tables["train"][name]
                found = again.tables["train"][theirs[table.shape.template]]
                back = again.training_answers[side][theirs[table.shape.template]]
                assert aligned(found, back) == aligned(table, rows)
        assert set(ours) == set(theirs)
    if form == "npz":
        assert again.manifest["answers"] == dataset.manifest["answers"]


@pytest.mark.parametrize("form", FORMATS)
@EXAMPLES
@given(dataset=datasets())
def test_a_dataset_comes_back_as_it_went_or_does_not_go(form: str, dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES[form]
        try:
            export_dataset(dataset, path, form)
        except DatasetError:
            assert list(Path(folder).iterdir()) == []
            return
        assert_came_back(dataset, import_dataset(path), form)


@EXAMPLES
@given(dataset=datasets())
def test_a_dataset_folder_holds_everything(dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        dataset.save(Path(folder) / "d")
        again = Dataset.open(Path(folder) / "d")
        assert_came_back(dataset, again, "folder")
        assert np.array_equal(again.split.test_filter, dataset.split.test_filter)
        assert again.manifest["answers"] == dataset.manifest["answers"]
        assert {s: set(t) for s, t in again.tables.items()} == {s: set(t) for s, t in dataset.tables.items()}
        for names in ("entities", "relations"):
            ours, theirs = getattr(dataset.vocabulary, names), getattr(again.vocabulary, names)
            assert ours.labels == theirs.labels
