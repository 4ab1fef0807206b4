"""The shipped default on graphs in which a rule holds, none of which it has seen."""

from __future__ import annotations

import pytest

import unseen
from tests.rules.worlds import hits_at_one, rule_world, turned_above_hidden
from unseen.api import open_method


@pytest.mark.parametrize("kind", ["composition", "inverse", "asymmetry", "sub-relation", "attribute", "chain"])
def test_what_follows_for_certain_comes_first_and_nothing_is_turned_around(kind: str) -> None:
    world, method = rule_world(kind, entities=60, noise=0.05), open_method("default", "cpu")
    assert hits_at_one(method, world) >= 0.95
    assert turned_above_hidden(method, world) == 0


def test_who_borders_a_country_is_bordered_by_it() -> None:
    graph = unseen.load("countries").extended_with([("Atlantis", "borders", "France")])
    answers = unseen.ask(graph, "?x : borders(France, x)", predicted_only=True, top=1)
    assert [answer.entity for answer in answers] == ["Atlantis"]
