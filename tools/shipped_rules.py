"""Writes the rules of the embedded graph into the package: `python tools/shipped_rules.py`."""

from __future__ import annotations

import unseen
from unseen.rules.keeping import shipped_place
from unseen.rules.mining import mine

if __name__ == "__main__":
    graph = unseen.load("countries")
    place = shipped_place(graph)
    place.parent.mkdir(exist_ok=True)
    for old in place.parent.iterdir():
        old.unlink()
    mine(graph).save(place)
    print(place)
