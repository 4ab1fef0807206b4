"""What tests of rules share: weights are fitted to fewer hidden facts, which takes a tenth of the time."""

from __future__ import annotations

import pytest

from unseen.rules import weighing


@pytest.fixture
def few_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide a few facts to weigh rules, where the weights are not what is tested."""
    monkeypatch.setattr(weighing, "MOST_FACTS", 100)
