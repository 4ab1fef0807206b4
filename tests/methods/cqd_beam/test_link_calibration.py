"""Learned affine maps: they find what made the truth, belong to names, and come back from JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Project
from unseen.methods.cqd_beam import BeamOptions, CqdBeam, VectorLinks, VectorScorer
from unseen.methods.cqd_beam.link_calibration import LinkCalibration, fit_link_calibration

FACTOR, SHIFT = {0: 0.5, 2: 2.0}, {0: -2.0, 2: -4.0}


@dataclass(frozen=True)
class TrueWorld:
    """Links are true with the chance sigmoid(factor s + shift) of their logit, by relation."""

    graph: KnowledgeGraph
    scorer: VectorScorer
    heads: np.ndarray
    relations: np.ndarray
    tails: list[np.ndarray]


@pytest.fixture(scope="module")
def true_world() -> TrueWorld:
    random, size = np.random.default_rng(0), 300
    ring = np.arange(size)
    graph = KnowledgeGraph(ring, ring % 2, (ring + 1) % size, Vocabulary.of([f"e{i}" for i in ring], ["p", "q"]))
    vectors = (torch.from_numpy(random.normal(0, 0.9, (count, 6))).float() for count in (size, 4))
    scorer = VectorScorer(VectorLinks(*vectors))
    heads, relations = np.tile(ring, 2), np.repeat([0, 2], size)
    links = scorer.opened(graph)
    towards = links.towards(torch.from_numpy(heads), torch.from_numpy(relations))
    logits = links.block(towards, 0, size).double().numpy()
    factor, shift = (np.array([table[int(r)] for r in relations])[:, None] for table in (FACTOR, SHIFT))
    true = random.random(logits.shape) < 1 / (1 + np.exp(-(factor * logits + shift)))
    return TrueWorld(graph, scorer, heads, relations, [np.flatnonzero(row) for row in true])


def fitted(world: TrueWorld) -> LinkCalibration:
    return fit_link_calibration(world.scorer, world.graph, world.heads, world.relations, world.tails)


def test_it_finds_the_map_that_made_the_truth(true_world: TrueWorld) -> None:
    found = fitted(true_world)
    for relation, name in ((0, "p"), (2, "q")):
        factor, shift = found.relations[name][0]
        assert factor == pytest.approx(FACTOR[relation], abs=0.15)
        assert shift == pytest.approx(SHIFT[relation], abs=0.3)
    assert found.relations["p"][1] == pytest.approx(found.default, abs=1e-6)


def test_it_belongs_to_names_and_a_new_relation_has_the_common_one(true_world: TrueWorld) -> None:
    found = fitted(true_world)
    renamed = KnowledgeGraph([0, 1], [0, 1], [1, 0], Vocabulary.of(["a", "b"], ["q", "new"]))
    columns = found.columns(renamed)
    assert columns.shape == (2, 4)
    assert columns[:, 0].tolist() == pytest.approx(list(found.relations["q"][0]))
    assert columns[:, 2].tolist() == columns[:, 3].tolist() == pytest.approx(list(found.default))


def test_it_changes_memberships_as_it_says(true_world: TrueWorld) -> None:
    calibration, query = LinkCalibration((1.0, 0.0), {"p": ((2.0, 0.5), (1.0, 0.0))}), Project(0, Anchor(5))
    options = BeamOptions(scale="calibrated", known_facts=False)
    found = CqdBeam(true_world.scorer, options, calibration).answer(true_world.graph, [query])[0]
    plain = CqdBeam(true_world.scorer, BeamOptions(scale="sigmoid", known_facts=False)).answer(
        true_world.graph, [query]
    )[0]
    assert torch.allclose(found, (2 * plain.logit() + 0.5).sigmoid(), atol=1e-4)


def test_it_comes_back_from_json_and_nothing_else_does(true_world: TrueWorld) -> None:
    found = fitted(true_world)
    assert LinkCalibration.from_json(json.loads(json.dumps(found.to_json()))) == found
    for wrong in ({}, {"default": [1], "relations": {}}, {"default": [1, 0], "relations": {"p": 3}}):
        with pytest.raises(UnseenError, match="not a calibration"):
            LinkCalibration.from_json(wrong)


def test_without_links_there_is_nothing_to_fit(true_world: TrueWorld) -> None:
    with pytest.raises(UnseenError, match="no links"):
        fit_link_calibration(true_world.scorer, true_world.graph, *np.zeros((2, 0), int), [])
