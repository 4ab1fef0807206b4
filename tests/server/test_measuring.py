"""What a fresh server measures before it answers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FAMILY
from unseen.database import Database
from unseen.server import predicting
from unseen.server.predicting import Predictor


def test_the_first_call_compiles_and_does_not_count_for_exact_answers_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_all, called = predicting.ask_all, set()

    def slow_at_first(graph: Any, questions: Any, method: Any, name: str, *more: Any) -> Any:
        if name not in called:
            called.add(name)
            time.sleep(0.3)
        return ask_all(graph, questions, method, name, *more)

    monkeypatch.setattr(predicting, "ask_all", slow_at_first)
    database = Database.create(tmp_path / "x.db")
    database.add(FAMILY)
    predictor = Predictor(database, "edge-type")
    predictor.measure()
    database.close()
    assert called == {"exact", "edge-type"}
    for exact in (True, False):
        assert predictor.pace(exact=exact).seconds < 0.2 / 10_000
