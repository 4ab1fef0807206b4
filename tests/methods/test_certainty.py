"""Without known facts, certain memberships are nearly 1 and keep their order."""

from __future__ import annotations

from unittest.mock import patch

import torch

from tests.methods.test_gnn_qe import model, random_graph
from unseen.logic.algebra import Anchor, And, Or, Project
from unseen.methods.fuzzy_gnn.certainty import with_certain
from unseen.methods.fuzzy_gnn.neural_projector import Answering


def test_distinct_certain_memberships_stay_distinct_and_in_their_order() -> None:
    predicted = torch.linspace(0.8, 1.0, 20_001).unsqueeze(0)
    found = with_certain(predicted, 0.8, (0.9, 16.0))[0]
    assert len(predicted.unique()) == 20_001
    assert bool((found.diff() > 0).all())
    assert float(found.min()) > 1 - 1e-5


def test_certain_answers_of_queries_stay_in_the_order_that_the_network_gives() -> None:
    graph, method = random_graph(), model()
    one = Project(0, Anchor(9))
    raw = method.answer(graph, [one])[0]
    method.answering = Answering(known_facts=False, sharpens_alone=True)
    with patch("unseen.methods.fuzzy_gnn.neural_projector.certain_level", lambda *_: 0.0):
        found = method.answer(graph, [one, And((one, one)), Or((one, Anchor(3)))])
    nodes = method.compact(graph).entity_of_node
    for row in found[:2, nodes]:
        assert torch.equal(row.argsort(stable=True), raw[nodes].argsort(stable=True))
        assert len(row.unique()) == len(raw[nodes].unique())
