"""Answers about graphs of millions of entities are found in fewer passes, and are the same."""

from __future__ import annotations

import pytest

import unseen
from unseen.asking import answers
from unseen.methods import known_facts

QUESTIONS = (
    "?x : borders(France, x)",
    "?x : exists y . borders(France, y) & speaks(y, x)",
    "?x : borders(France, x) & !speaks(x, German)",
    "?x : borders(x, France) | speaks(x, French)",
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("options", [{}, {"predicted_only": True, "top": 4}, {"kind": "^capital"}])
def test_a_large_graph_is_answered_as_a_small_one(
    question: str, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = unseen.load("countries")
    expected = unseen.ask(graph, question, method="edge-type", **options)  # type: ignore[arg-type]
    monkeypatch.setattr(answers, "MANY", 0)
    monkeypatch.setattr(known_facts, "MANY", 0)
    found = unseen.ask(graph, question, method="edge-type", **options)  # type: ignore[arg-type]
    assert [(one.entity, one.known) for one in found] == [(one.entity, one.known) for one in expected]
    assert [one.probability for one in found] == pytest.approx([one.probability for one in expected])
    assert found.expected is not None
    assert expected.expected is not None
    assert found.expected.mean == pytest.approx(expected.expected.mean)
    assert found.expected.as_json()["high"] == expected.expected.as_json()["high"]
