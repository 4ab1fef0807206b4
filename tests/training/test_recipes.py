"""Defaults by ratio: the paper's tables, and what is given comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.training.small_world import small_dataset
from unseen.training.config import NodePieceQeConfig, from_mapping
from unseen.training.recipes import WITH_GNN, WITHOUT_GNN, completed

DATASET = small_dataset()


def config(ratio: int | None = None, **settings: object) -> NodePieceQeConfig:
    dataset = replace(DATASET, manifest={"ratio": ratio})
    return from_mapping(NodePieceQeConfig, completed("nodepiece-qe", dataset, settings))


def test_the_papers_table_is_the_default() -> None:
    plain, gnn = config(175), config(175, gnn=True)
    assert (plain.dim, plain.tokens, plain.temperature, plain.learning_rate) == (400, 20, 0.5, 1e-4)
    assert (plain.batch_size, plain.negatives, plain.scorer, plain.loss) == (256, 128, "complex", "bce")
    assert (gnn.dim, gnn.layers, gnn.temperature, gnn.learning_rate) == (200, 3, 1.0, 5e-4)
    assert config(550).dim == 1000
    assert config(550, gnn=True).tokens == 10
    assert config(106, gnn=True).layers == 5
    assert config(300).temperature == 0.2
    assert plain.steps == -(-2000 * DATASET.observed("train").num_triples // 256)


def test_general_defaults_are_those_of_175() -> None:
    row, general = WITHOUT_GNN[175], NodePieceQeConfig()
    assert (general.tokens, general.dim, general.temperature) == (row.tokens, row.dim, row.temperature)
    assert general.steps == -(-row.epochs * 51261 // 256)


@pytest.mark.parametrize("ratio", [None, 180, 170])
def test_an_unknown_ratio_takes_the_nearest_or_175(ratio: int | None) -> None:
    assert config(ratio) == config(175)


def test_what_is_given_comes_first() -> None:
    assert config(550, dim=8, steps=3).dim == 8
    assert config(550, dim=8, steps=3).steps == 3
    large = config(175, recipe="large-batch")
    assert (large.negatives, large.dim) == (0, 400)
    assert config(175, recipe="large-batch", negatives=7).negatives == 7


def test_every_row_is_a_setting_that_can_be_run() -> None:
    for ratio in WITHOUT_GNN:
        for recipe in ("paper", "large-batch"):
            assert config(ratio, recipe=recipe).steps > 0
            assert config(ratio, recipe=recipe, gnn=True).layers == WITH_GNN[ratio].layers


def test_other_methods_have_no_recipe() -> None:
    assert completed("gnn-qe", DATASET, {"steps": 3}) == {"steps": 3}
