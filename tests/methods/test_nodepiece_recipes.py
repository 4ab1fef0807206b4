"""Defaults that depend on the training graph; what is given comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.training.small_world import small_dataset
from unseen.methods.gnn_qe.gnn_qe_settings import GNN_QE
from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NODEPIECE_QE, NodePieceQeConfig
from unseen.methods.training_settings import from_mapping

DATASET = small_dataset()


def config(ratio: int | None = None, **settings: object) -> NodePieceQeConfig:
    dataset = replace(DATASET, manifest={"ratio": ratio})
    return from_mapping(NodePieceQeConfig, NODEPIECE_QE.recipe(settings, dataset.observed("train").num_triples))


def test_the_papers_reference_settings_are_the_default() -> None:
    plain, gnn = config(175), config(175, gnn=True)
    assert (plain.dim, plain.tokens, plain.temperature, plain.learning_rate) == (400, 20, 0.5, 1e-4)
    assert (plain.batch_size, plain.negatives, plain.scorer, plain.loss) == (256, 128, "complex", "bce")
    assert (gnn.dim, gnn.layers, gnn.temperature, gnn.learning_rate) == (200, 3, 1.0, 5e-4)
    assert plain.steps == -(-2000 * DATASET.observed("train").num_triples // 256)


def test_general_defaults_are_those_of_the_papers_reference() -> None:
    general, plain = NodePieceQeConfig(), config()
    assert (general.tokens, general.dim, general.temperature) == (plain.tokens, plain.dim, plain.temperature)
    assert general.steps == -(-2000 * 51261 // 256)


@pytest.mark.parametrize("recipe", ["paper", "large-batch"])
@pytest.mark.parametrize("gnn", [False, True])
@pytest.mark.parametrize("ratio", [None, 106, 180, 550])
def test_the_name_of_a_ratio_changes_nothing(ratio: int | None, gnn: bool, recipe: str) -> None:
    assert config(ratio, gnn=gnn, recipe=recipe) == config(gnn=gnn, recipe=recipe)


def test_what_is_given_comes_first() -> None:
    assert config(dim=8, steps=3).dim == 8
    assert config(dim=8, steps=3).steps == 3
    large = config(recipe="large-batch")
    assert (large.negatives, large.dim) == (0, 400)
    assert config(recipe="large-batch", negatives=7).negatives == 7


def test_other_methods_have_no_recipe() -> None:
    assert GNN_QE.recipe({"steps": 3}, 10) == {"steps": 3}
