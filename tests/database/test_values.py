"""A database keeps values: loads, updates, snapshots and a rebuild show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import unseen
from tests.graph.test_values import TURTLE, values_of
from unseen.database import Database
from unseen.database.exact_sparql import update

if TYPE_CHECKING:
    from pathlib import Path

UPDATE = """PREFIX : <http://example.org/>
INSERT DATA { :a :size 77 . :new :size 3.5 . :a :near :new } ; DELETE DATA { :a :size 5 }"""


def test_values_live_in_a_database(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE.replace("_:z", ":z"))
    (tmp_path / "v.tsv").write_text("entity\tattribute\tvalue\nhttp://example.org/b\tweight\t9\n")
    path = tmp_path / "world.db"
    with Database.create(path) as database:
        database.load([tmp_path / "a.ttl"], values=[tmp_path / "v.tsv"])
        assert len(database.graph.attributes) == 9
        update(database, UPDATE)
        expected = values_of(database.graph)
        assert ("http://example.org/a", "example:size", "77") in expected
        assert ("http://example.org/a", "example:size", "5") not in expected
        assert ("http://example.org/new", "example:size", "3.5") in expected
    with Database(path) as database:
        assert values_of(database.graph) == expected
        database.checkpoint()
    with Database(path) as database:
        assert values_of(database.graph) == expected
        database._ledger.rebuild()
        assert values_of(database.graph) == expected
    assert [one.entity for one in unseen.ask(unseen.load(path), "?x : example:size(x) > 50", method="exact")] == [
        "example:a"
    ]


def test_literals_as_entities_are_no_values(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    with Database.create(tmp_path / "world.db", literals=True) as database:
        database.load([tmp_path / "a.ttl"])
        assert len(database.graph.attributes) == 0
