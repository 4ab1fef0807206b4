"""Mining ends: on entities with hundreds of relations, on hubs, when time is up, and when Ctrl-C is pressed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.rules.worlds import family
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.rules import mining, path_mining, proposing, weighing
from unseen.rules.forecast import forecast
from unseen.rules.mining import CUT_SHORT, mine


def hubs(triples: int, relations: int = 150) -> KnowledgeGraph:
    """A graph in which few entities have most edges, with hundreds of directed relations."""
    random = np.random.default_rng(0)
    entities = triples // 20
    ends = (entities * random.random((2, triples)) ** 6).astype(np.int32)
    names = random.integers(0, relations, triples).astype(np.int32)
    return KnowledgeGraph(ends[0], names, ends[1], Vocabulary.numbered(entities, relations))


def interrupted_after(program: str, seconds: float) -> tuple[int, float]:
    """The exit code of a Python program that gets Ctrl-C after it has printed a line, and how long that took."""
    heeding = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{program}"
    process = subprocess.Popen([sys.executable, "-c", heeding], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        try:
            return process.wait(120), time.monotonic() - begun
        finally:
            process.kill()


def test_an_entity_with_hundreds_of_relations_does_not_fill_a_table() -> None:
    triples = [("hub", f"r{number}", f"e{number % 3}") for number in range(400)]
    more = [(f"e{number % 3}", f"r{number}", "other") for number in range(400)]
    rules = mine(KnowledgeGraph.from_triples([*triples, *more]), samples=1)
    assert len(rules)


def test_time_also_ends_the_first_round_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    mine(family().graph, samples=1)  # compiles
    monkeypatch.setattr(mining, "FIRST_SAMPLES", 1000)
    labels: list[str] = []
    begun = time.monotonic()
    rules = mine(hubs(100_000), seconds=1, progress=lambda label, _done, _total: labels.append(label))
    assert time.monotonic() - begun < 90
    assert labels[-1] == CUT_SHORT
    assert labels.count("weighing") >= weighing.LEAST_CHUNKS
    assert len(rules)
    assert np.isfinite(rules.weights.coefficients).all()


def test_time_that_ends_a_later_round_leaves_the_rules_of_the_one_before(
    few_hidden: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mining, "LARGE", 0)
    graph = family().graph
    mine(graph, samples=1)
    rules = mine(graph, seconds=0.5)
    again = mine(graph, samples=rules.samples)
    assert rules.samples >= mining.FIRST_SAMPLES_OF_LARGE
    assert np.array_equal(rules.paths.support, again.paths.support)
    assert np.array_equal(rules.weights.coefficients, again.weights.coefficients)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_control_c_ends_mining_between_two_pieces_of_work() -> None:
    program = (
        "from tests.rules.test_large_graphs import hubs, mine\n"
        "mine(hubs(100_000), samples=1000, progress=lambda label, done, total: print(label, flush=True))"
    )
    code, seconds = interrupted_after(program, 0.5)
    assert code == -signal.SIGINT
    assert seconds < 60


def test_the_same_rules_are_counted_in_pieces_of_any_size(few_hidden: None, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = family().graph
    whole = mine(graph, samples=20)
    monkeypatch.setattr(path_mining, "FACTS_AT_ONCE", 3)
    monkeypatch.setattr(path_mining, "STEPS_AT_ONCE", 40)
    pieces = mine(graph, samples=20)
    for name, values in vars(whole.paths).items():
        assert np.array_equal(values, getattr(pieces.paths, name))


def test_proposals_and_hidden_facts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_mining, "MOST_PROPOSALS", 0)
    monkeypatch.setattr(path_mining, "LEAST_PROPOSALS", 2)
    monkeypatch.setattr(weighing, "MOST_HIDDEN", 30)
    labels: list[tuple[str, int]] = []
    rules = mine(family().graph, samples=20, progress=lambda label, _done, total: labels.append((label, total)))
    heads, counts = np.unique(rules.paths.heads, return_counts=True)
    assert len(heads)
    assert counts.max() <= 4  # two short, two long
    assert ("weighing", 2) in labels
    assert proposing.MOST_BODIES * 24 * 2 <= 60_000_000


def test_a_forecast_grows_with_samples() -> None:
    graph = hubs(20_000)
    forecast(graph, 1)
    few, many = forecast(graph, 1), forecast(graph, 10_000)
    assert few.seconds > 0
    assert few.memory == many.memory
    assert many.seconds > few.seconds
    assert "GB" in str(many)
