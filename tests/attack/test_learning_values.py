"""Predicting values is learned at the first question for them: that can be stopped, and counts in the estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from unseen import KnowledgeGraph
from unseen.asking.answers import Answers
from unseen.database import Database
from unseen.errors import Stopped
from unseen.logic.stopping import stop_when
from unseen.logic.value_prediction.predictor import learned_attributes, predicted_values
from unseen.server import learning_values
from unseen.server.learning_values import GUESS
from unseen.server.pace import FIXED
from unseen.server.predicting import Asked, Predictor

PEOPLE = 90
TRIPLES = [(f"p{i}", "plays_for", f"t{i % 3}") for i in range(PEOPLE)]
VALUES = [(f"p{i}", "height", 1.0 + i % 3 + np.sin(i)) for i in range(60)]
HIGH = Asked("?x : plays_for(x, t1) & height(x) > 2", predict_values=True)


def test_learning_ends_as_soon_as_nobody_waits() -> None:
    graph = KnowledgeGraph.from_triples(TRIPLES).extended_with(values=VALUES)
    steps = iter(range(30))
    with stop_when(lambda: next(steps, None) is None), pytest.raises(Stopped):
        predicted_values(graph, 0)
    assert not learned_attributes(graph)
    assert predicted_values(graph, 0) is not None
    assert 0 in learned_attributes(graph)


@pytest.fixture
def predictor(tmp_path: Path) -> Iterator[Predictor]:
    triples, values = tmp_path / "triples.tsv", tmp_path / "values.tsv"
    triples.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES))
    values.write_text("".join(f"{name}\t{attribute}\t{value}\n" for name, attribute, value in VALUES))
    with Database.create(tmp_path / "x.db") as database:
        database.load([triples], values=[values])
        yield Predictor(database, "edge-type")


def test_a_question_costs_what_it_takes_to_learn_its_values(predictor: Predictor) -> None:
    def seconds(asked: Asked) -> float:
        return predictor.cost_of(predictor.plan(asked)).seconds

    by_order = Asked("?x : plays_for(x, t1)", order_by="height desc", predict_values=True)
    for asked in (HIGH, by_order):
        plain = seconds(replace(asked, predict_values=False))
        assert seconds(asked) == pytest.approx(plain + GUESS * (PEOPLE + FIXED))
    assert seconds(replace(by_order, order_by="name")) == seconds(replace(by_order, predict_values=False))
    (answers,) = predictor.answer_all([predictor.plan(HIGH)])
    assert isinstance(answers, Answers)
    for asked in (HIGH, by_order):
        assert seconds(asked) == seconds(replace(asked, predict_values=False)), "it is learned once"


def test_learning_that_is_stopped_is_expected_to_take_as_long_again(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(learning_values, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    before = predictor.cost_of(predictor.plan(HIGH)).seconds

    def is_over() -> bool:
        now[0] = 600.0
        return True

    with stop_when(is_over), pytest.raises(Stopped):
        predictor.answer_all([predictor.plan(HIGH)])
    assert predictor.cost_of(predictor.plan(HIGH)).seconds > 300
    now[0] += learning_values.TRIED_AGAIN + 1
    assert predictor.cost_of(predictor.plan(HIGH)).seconds == pytest.approx(before), "and then it is tried again"
