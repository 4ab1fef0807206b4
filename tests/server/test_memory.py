"""What predicts takes a bounded part of the machine's memory, and gives it back."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import FAMILY
from tests.server.running import running
from unseen.asking.answers import Answers
from unseen.logic.stopping import check_stop
from unseen.server import memory, predicting
from unseen.server.memory import given_back, resident_megabytes

GREEDY = "?x : likes(Ada, x)"
MEGABYTES = 1 << 20


def test_a_question_that_takes_too_much_memory_is_refused_and_others_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = predicting.ask_all
    steps = []

    def greedy(graph: object, questions: Sequence[predicting.Question], *more: object) -> list[Answers]:
        kept = []
        if any(question.text == GREEDY for question in questions):
            for _ in range(40):
                kept.append(np.ones(10 * MEGABYTES, np.uint8))
                steps.append(len(kept))
                check_stop()
        return real(graph, questions, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(predicting, "ask_all", greedy)
    monkeypatch.setattr(memory, "most_megabytes", lambda: 100)
    monkeypatch.setattr(memory, "LOOK", 0.0)
    with running(tmp_path / "x.db", FAMILY) as server:
        reply = server.ask(GREEDY)
        assert (reply.status, reply.error["code"]) == (400, "memory_limit")
        assert "100 MB" in reply.error["message"]
        assert max(steps) < 20
        assert server.ask("?x : likes(x, Go)").status == 200


def test_memory_that_is_free_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    if not resident_megabytes() or not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("the C library of this system cannot be told to give memory back")
    monkeypatch.setattr(memory, "LONG", -1.0)
    with given_back():
        small = [bytearray(20_000) for _ in range(10_000)]
        last = bytearray(20_000)  # keeps the heap from shrinking by itself
        before = resident_megabytes()
        del small
        assert before - resident_megabytes() < 100
    assert before - resident_megabytes() > 150
    assert last


def test_a_watch_looks_at_what_came_since_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "most_megabytes", lambda: 0)
    monkeypatch.setattr(memory, "resident_megabytes", lambda: 500)
    memory.MemoryWatch().check()
