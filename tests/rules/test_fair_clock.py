"""The clock of mining: it goes slower while other programs keep threads from running, but a third as fast at least."""

from __future__ import annotations

import time

import pytest

from unseen.rules import fair_clock
from unseen.rules.fair_clock import FairClock, had_by_threads


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The time, and what threads had: `ran` and `waited`, to be set by a test."""
    now = {"time": 100.0, "ran": 0, "waited": 0}
    monkeypatch.setattr(time, "monotonic", lambda: now["time"])
    monkeypatch.setattr(fair_clock, "had_by_threads", lambda: (now["ran"], now["waited"]))
    return now


def pass_time(machine: dict[str, float], seconds: float, ran: float, waited: float) -> None:
    machine["time"] += seconds
    machine["ran"] += ran
    machine["waited"] += waited


@pytest.mark.parametrize(
    ("ran", "waited", "counted"),
    [(2, 0, 1.0), (1, 1, 0.5), (0.1, 9.9, 1 / 3), (0, 0, 1.0), (-5, -5, 1.0), (5, -1, 1.0)],
)
def test_waiting_for_a_core_does_not_count(
    machine: dict[str, float], ran: float, waited: float, counted: float
) -> None:
    clock = FairClock()
    begun = clock.now()
    pass_time(machine, 1.0, ran, waited)
    assert clock.now() - begun == pytest.approx(counted)


def test_the_share_holds_until_the_next_look(machine: dict[str, float]) -> None:
    clock = FairClock()
    pass_time(machine, 1.0, 1, 1)
    begun = clock.now()
    pass_time(machine, 0.1, 0.1, 0)
    assert clock.now() - begun == pytest.approx(0.05)


def test_it_never_goes_backwards() -> None:
    clock = FairClock()
    times = [clock.now() for _ in range(1000)]
    assert times == sorted(times)


def test_what_threads_had_is_known_or_nothing() -> None:
    ran, waited = had_by_threads()
    assert ran >= 0
    assert waited >= 0
