"""Which predictions a table leaves out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from unseen.asking.answers import Answer, Answers
from unseen.asking.unlikely import without_unlikely
from unseen.probability.answer_counts import ExpectedNumber


def answers(known: int, *predicted: float, entities: int = 1000, is_calibrated: bool = True) -> Answers:
    probabilities = [*[1.0] * known, *predicted]
    rows = tuple(Answer(i + 1, f"e{i}", i < known, value) for i, value in enumerate(probabilities))
    counts = SimpleNamespace(num_entities=entities, num_relations=1, num_triples=1)
    expected = ExpectedNumber(1.0, 1.0, 0, 2) if is_calibrated else None
    return Answers("?x : r(a, x)", "rules", counts, known, rows, expected=expected)


@pytest.mark.parametrize(
    ("predicted", "shown"),
    [
        ((0.7, 0.006, 0.0005), 1),  # a hundred times less likely than the best, whatever chance is
        ((0.02, 0.006, 0.0005), 2),  # less likely than one drawn at random from a thousand
        ((0.0005, 0.0004), 0),
        ((), 0),
    ],
)
def test_what_is_hopeless_is_left_out_beside_known_answers(predicted: tuple[float, ...], shown: int) -> None:
    found, hidden = without_unlikely(answers(2, *predicted))
    assert (len(found), len(hidden)) == (2 + shown, len(predicted) - shown)
    assert [answer.rank for answer in found] == list(range(1, 3 + shown))


def test_in_a_large_graph_small_probabilities_still_say_something() -> None:
    assert len(without_unlikely(answers(1, 1e-4, 3e-5, entities=1_000_000))[0]) == 3


def test_one_prediction_is_left_where_nothing_is_known() -> None:
    found, hidden = without_unlikely(answers(0, 1e-5, 1e-6))
    assert (len(found), len(hidden)) == (1, 1)


def test_scores_are_not_judged() -> None:
    assert without_unlikely(answers(0, 0.5, 1e-9, is_calibrated=False))[1] == ()
