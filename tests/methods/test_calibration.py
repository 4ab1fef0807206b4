"""Calibration: curves that find the truth, keep the order and survive a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from unseen.errors import EvaluationError
from unseen.logic.algebra import Anchor, And, Not, Or, Project
from unseen.logic.query_groups import group_of
from unseen.logic.shapes import SHAPES
from unseen.methods.exact import Exact
from unseen.probability.calibration import (
    Calibrated,
    Calibration,
    Curve,
    Frequencies,
    fit_curve,
    isotonic,
    temperature,
)

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph


def seen(true_probability, count: int = 200_000, seed: int = 0) -> Frequencies:
    """Entities of random membership m that are answers with `true_probability(m)`."""
    generator = torch.Generator().manual_seed(seed)
    memberships = torch.rand(1, count, generator=generator)
    frequencies = Frequencies()
    frequencies.add(memberships, torch.rand(1, count, generator=generator) < true_probability(memberships))
    return frequencies


@pytest.mark.parametrize("fit", [isotonic, fit_curve])
def test_a_curve_finds_the_frequency_of_each_membership(fit) -> None:
    truth = lambda m: m**3 * 0.8  # noqa: E731
    curve = isotonic(seen(truth)) if fit is isotonic else fit_curve(seen(truth), seen(truth, seed=1))
    memberships = torch.linspace(0.05, 0.95, 19)
    assert torch.allclose(curve(memberships), truth(memberships), atol=0.03)


def test_a_logistic_truth_is_found_exactly_by_two_numbers() -> None:
    truth = lambda m: torch.sigmoid(0.5 * torch.logit(m.double(), eps=1e-9) - 2).to(m.dtype)  # noqa: E731
    curve = temperature(seen(truth))
    memberships = torch.linspace(0.05, 0.95, 19)
    assert torch.allclose(curve(memberships), truth(memberships), atol=0.01)


def test_the_kind_is_chosen_on_what_was_not_fitted() -> None:
    step = lambda m: 0.1 + 0.5 * (m > 0.3)  # noqa: E731
    assert fit_curve(seen(step), seen(step, seed=1)).kind == "isotonic"


@pytest.mark.parametrize("fit", [isotonic, temperature])
def test_the_order_of_entities_stays(fit) -> None:
    curve = fit(seen(lambda m: 1 - m))
    probabilities = curve(torch.linspace(0, 1, 101))
    assert bool((probabilities.diff() >= 0).all())
    assert bool(((probabilities >= 0) & (probabilities <= 1)).all())


def test_nothing_seen_gives_a_curve_all_the_same() -> None:
    for fit in (isotonic, temperature):
        assert bool(fit(Frequencies())(torch.tensor([0.0, 0.5, 1.0])).isfinite().all())


def test_queries_are_grouped_by_negation_depth_and_intersection() -> None:
    groups = {name: group_of(shape.skeleton) for name, shape in SHAPES.items()}
    members = {"p1": "1p 2u", "p1i": "2i 3i", "p2": "2p up", "p2i": "ip pi", "p3": "3p", "n1": "2in", "n1i": "3in"}
    for group, names in (members | {"n2": "inp pin pni"}).items():
        assert {groups[name] for name in names.split()} == {group}


def test_a_group_that_was_not_fitted_takes_the_nearest() -> None:
    curves = {name: Curve(name, (-25.0, 25.0), (0.0, 1.0)) for name in ("p1", "p2", "n1")}
    calibration = Calibration(curves)
    deep = Project(0, Project(0, Project(0, Anchor(0))))
    assert calibration.curve_of(deep).kind == "p2"
    assert calibration.curve_of(And((deep, deep))).kind == "p2"
    assert calibration.curve_of(And((deep, Not(deep)))).kind == "n1"


def test_curves_of_types_come_before_those_of_groups() -> None:
    groups = {name: Curve(name, (-25.0, 25.0), (0.0, 1.0)) for name in ("p1", "n1")}
    types = {name: Curve(name, (-25.0, 25.0), (0.0, 1.0)) for name in ("2u", "1p")}
    calibration = Calibration(groups, types=types)
    one = Project(0, Anchor(0))
    assert calibration.curve_of(one).kind == "1p"
    assert calibration.curve_of(Or((one, one))).kind == "2u"
    assert calibration.curve_of(Or((one, one, one))).kind == "2u"  # the first of the types that are as deep
    assert calibration.curve_of(And((one, Not(one)))).kind == "n1"  # no type is like it


def test_a_calibration_survives_json_and_anything_else_is_refused() -> None:
    for types in ({}, {"2u": isotonic(seen(lambda m: m**2))}):
        calibration = Calibration({"p1": isotonic(seen(lambda m: m))}, {"dataset": "small"}, types)
        assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration
    for wrong in ({}, {"groups": {"p1": {}}}, {"groups": []}):
        with pytest.raises(EvaluationError, match="not a calibration"):
            Calibration.from_json(wrong)


def test_answers_are_calibrated_and_inner_sets_are_not(family: KnowledgeGraph) -> None:
    half = Calibration({"p1": Curve("half", (-25.0, 25.0), (0.25, 0.25))})
    parent = family.vocabulary.relation_id("parent")
    inner = Project(parent, Anchor(family.vocabulary.entity_id("Ada")))
    outer = Project(parent, inner)
    execution = Calibrated(Exact(), half).estimate(family, [outer])
    assert float(execution.memberships(inner).max()) == 1
    assert execution.stacked([outer]).numpy() == pytest.approx(np.full((1, 7), 0.25), abs=1e-5)
    assert execution.expected_count(outer) == pytest.approx(7 * 0.25, abs=1e-4)


def test_scores_in_blocks_are_passed_on_where_there_are_any(family: KnowledgeGraph) -> None:
    from tests.methods.cqd_beam.scorers import NamedVectors
    from unseen.logic.protocols import BlockwiseAnswerer
    from unseen.methods.cqd_beam import CqdBeam
    from unseen.probability.calibration import calibrated

    calibration, query = Calibration({"p1": Curve("temperature", (-24.0, 24.0), (0.0, 1.0))}), Project(0, Anchor(0))
    assert not isinstance(calibrated(Exact(), calibration), BlockwiseAnswerer)
    method = calibrated(CqdBeam(NamedVectors()), calibration)
    assert isinstance(method, BlockwiseAnswerer)
    blocks = [block for _, block in method.score_blocks(family, [query]).blocks()]
    assert torch.equal(torch.cat(blocks, dim=1), method.answer(family, [query]))
