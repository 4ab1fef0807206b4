from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.datasets.random_graphs import ENTITIES, RELATIONS, content, random_edges, sets
from unseen.datasets.answering import answer_table
from unseen.datasets.dataset import Dataset
from unseen.datasets.dataset_statistics import dataset_statistics
from unseen.datasets.sampling.sample import SampleOptions
from unseen.datasets.sampling.sample_dataset import SamplePlan, sample_dataset
from unseen.datasets.split import InductiveSplit
from unseen.graph import Vocabulary
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    shuffled = np.random.default_rng(0).permutation(random_edges(2))
    parts = [part.copy() for part in np.split(shuffled, [800, 950, 1050, 1200])]
    return Dataset("random", InductiveSplit(Vocabulary.numbered(ENTITIES, RELATIONS), *parts))


@pytest.mark.parametrize("hard", [False, True])
def test_the_same_seed_gives_the_same_dataset_whatever_the_threads(dataset: Dataset, hard: bool) -> None:
    plan = SamplePlan(
        (SHAPES["1p"], SHAPES["2p"], SHAPES["2in"]),
        {(split, name): 30 for split in ("train", "valid", "test") for name in ("2p", "2in")},
        SampleOptions(seed=3, hard=hard),
    )
    one, two = (sample_dataset(dataset, plan, threads=threads)[0] for threads in (1, 3))
    for split, tables in one.tables.items():
        assert {name: content(table) for name, table in tables.items()} == {
            name: content(table) for name, table in two.tables[split].items()
        }


def test_a_dataset_gets_training_answers_on_the_larger_graphs(dataset: Dataset) -> None:
    counts = {(split, "2p"): 40 for split in ("train", "valid", "test")}
    sampled, remarks = sample_dataset(dataset, SamplePlan((SHAPES["2p"],), counts))
    table = sampled.tables["train"]["2p"]
    for side in ("valid", "test"):
        expected = sets(answer_table(dataset.observed(side), SHAPES["2p"], table.slots))
        assert sets(sampled.training_answers[side]["2p"]) == expected
    changed = [a != b for a, b in zip(sets(table.easy), sets(sampled.training_answers["test"]["2p"]), strict=True)]
    assert dataset_statistics(sampled).new_answers["2p"].test == sum(changed)
    assert sampled.manifest["answers"] == "true"
    assert remarks == []


def test_statistics_count_both_directions(dataset: Dataset) -> None:
    graphs = dataset_statistics(dataset).graphs
    assert graphs.relations == 2 * RELATIONS
    assert graphs.train_triples == 2 * 800
    assert graphs.valid_triples == 2 * 950
    assert graphs.valid_predict_triples == 2 * 100
    assert graphs.test_entities == len(dataset.observed("test").connected_entities)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_run_changes_nothing(dataset: Dataset, tmp_path: Path, threads: int) -> None:
    dataset.save(tmp_path / "d")
    before = {path: path.read_bytes() for path in (tmp_path / "d").rglob("*") if path.is_file()}

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    opened = Dataset.open(tmp_path / "d")
    with pytest.raises(KeyboardInterrupt):
        sample_dataset(opened, SamplePlan(), interrupt, threads=threads)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_default_counts_shrink_with_the_graph(dataset: Dataset) -> None:
    plan = SamplePlan()
    assert plan.count(dataset, "test", SHAPES["1p"]) is None
    assert plan.count(dataset, "train", SHAPES["2p"]) == round(50_000 * 800 / 51_261)
    edges = len(dataset.split.test_predict)
    assert plan.count(dataset, "test", SHAPES["2in"]) == round(10_000 * edges / 14_346)
