"""Writes what the embedded graph teaches into the package, rules and weights: `python tools/shipped_rules.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import unseen
from unseen.api import open_method
from unseen.methods.combined import Combined
from unseen.methods.own_weights.own_opening import checksum_of_model, fitted_to
from unseen.rules.keeping import RULES, WEIGHTS, shipped_place
from unseen.rules.mining import mine
from unseen.rules.opening import use_rules

if TYPE_CHECKING:
    from unseen.rules.keeping import Savable

ENOUGH_SECONDS = 1000.0


def main() -> None:
    """Mine the graph, fit the default model to it, and write both files."""
    graph = unseen.load("countries")
    rules, method = mine(graph), open_method("default")
    write(graph, rules, RULES)
    use_rules(graph, rules)
    assert isinstance(method, Combined)
    write(graph, fitted_to(method, graph, checksum_of_model(method), ENOUGH_SECONDS), WEIGHTS)


def write(graph: unseen.KnowledgeGraph, found: Savable, kind: str) -> None:
    """Write one file in place of all others of its kind."""
    place = shipped_place(graph, kind)
    place.parent.mkdir(exist_ok=True)
    for old in place.parent.iterdir():
        old.unlink()
    found.save(place)
    print(place)


if __name__ == "__main__":
    main()
