"""Predicted values: intervals hold what they promise, and probabilities obey the laws of logic."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen import KnowledgeGraph
from unseen.logic.value_prediction.predictor import predicted_values

PEOPLE = 600
TEAMS = 12


@pytest.fixture(scope="module")
def world() -> tuple[KnowledgeGraph, dict[str, float]]:
    """People in teams whose heights are alike; a third of the heights is hidden. Countries have no height."""
    random = np.random.default_rng(0)
    teams = random.integers(0, TEAMS, PEOPLE)
    heights = np.exp(random.normal(0, 0.3, PEOPLE) + np.linspace(0, 4, TEAMS)[teams])
    triples = [(f"p{i}", "plays_for", f"t{team}") for i, team in enumerate(teams)]
    triples += [(f"t{team}", "in", f"c{team % 3}") for team in range(TEAMS)]
    is_hidden = random.random(PEOPLE) < 1 / 3
    values = [(f"p{i}", "height", float(height)) for i, height in enumerate(heights) if not is_hidden[i]]
    hidden = {f"p{i}": float(height) for i, height in enumerate(heights) if is_hidden[i]}
    return KnowledgeGraph.from_triples(triples).extended_with(values=values), hidden


def test_intervals_hold_four_of_five_hidden_values(world: tuple[KnowledgeGraph, dict[str, float]]) -> None:
    graph, hidden = world
    found = predicted_values(graph, 0)
    assert found is not None
    names = [graph.vocabulary.entity_name(int(entity)) for entity in found.entities]
    assert set(names) == set(hidden)
    truth = np.array([hidden[name] for name in names])
    low, middle, high = found.intervals()
    assert 0.72 <= ((low <= truth) & (truth <= high)).mean() <= 0.88
    simple = np.median(np.abs(truth - np.median(list(hidden.values()))))
    assert np.median(np.abs(truth - middle)) < simple / 2


def probabilities(graph: KnowledgeGraph, question: str) -> dict[str, float]:
    answers = unseen.ask(graph, question, method="edge-type", predict_values=True, top=PEOPLE, all_predictions=True)
    return {answer.entity: answer.probability for answer in answers}


def test_probabilities_obey_the_laws(world: tuple[KnowledgeGraph, dict[str, float]]) -> None:
    graph, hidden = world
    link = "?x : plays_for(x, t5) & "
    above = probabilities(graph, f"{link}height(x) > 5")
    below = probabilities(graph, f"{link}height(x) <= 5")
    both = probabilities(graph, f"{link}height(x) > 5 & height(x) <= 8")
    either = probabilities(graph, f"{link}(height(x) > 5 | height(x) <= 5)")
    more = probabilities(graph, f"{link}height(x) > 8")
    members = {one.entity for one in unseen.ask(graph, "?x : plays_for(x, t5)", method="exact", top=PEOPLE)}
    unsure = members & set(hidden)
    assert unsure
    for name in unsure:
        assert 0 < above[name] < 1
        assert above[name] + below[name] == pytest.approx(1, abs=1e-5)
        assert either[name] == pytest.approx(1, abs=1e-5)
        assert both[name] == pytest.approx(above[name] - more.get(name, 0), abs=1e-5)
    assert not probabilities(graph, f"{link}height(x) > 5 & height(x) <= 5")


def test_what_is_predicted_is_shown_and_nothing_is_known_by_it(world: tuple[KnowledgeGraph, dict[str, float]]) -> None:
    graph, hidden = world
    question = "?x : plays_for(x, t5) & height(x) > 5"
    plain = unseen.ask(graph, question, method="edge-type", top=PEOPLE)
    predicted = unseen.ask(graph, question, method="edge-type", top=PEOPLE, predict_values=True)
    assert plain.known == predicted.known
    shown = [one.attributes["height"] for one in predicted if one.entity in hidden and one.probability > 0.1]
    assert shown
    assert all(text.startswith("≈ ") for text in shown)


def test_too_few_values_are_said() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")]).extended_with(values=[("a", "size", 3)])
    answers = unseen.ask(graph, "?x : size(x) > 2", method="edge-type", predict_values=True)
    assert answers.warnings == ("values of `size` are not predicted: that takes 20 recorded numbers or dates",)
