"""What one way to read shows, every other shows from then on; labels come before or after edges."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

from tests.conftest import FAMILY
from unseen.database import Database
from unseen.database.exact_sparql import query, update

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def numbers_in_sparql(database: Database) -> set[int]:
    rows = query(database, "SELECT ?x { :counter :reached ?x }").found
    return {int(row["x"].value.rpartition(":n")[2]) for row in rows}


def numbers_in_graph(database: Database) -> set[int]:
    return {int(tail[1:]) for head, _, tail in database.graph.triples() if head == "counter"}


def test_no_change_shows_in_one_place_and_then_not_in_the_other(database: Database) -> None:
    database.add([("counter", "reached", "n0")])
    stop, faults = Event(), []

    def read() -> None:
        while not stop.is_set():
            first = max(numbers_in_sparql(database))
            second = max(numbers_in_graph(database))
            third = max(numbers_in_sparql(database))
            if not first <= second <= third:
                faults.append((first, second, third))

    readers = [Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, 60):
            if number % 3:
                update(database, f"INSERT DATA {{ :counter :reached :n{number} }}")
            else:
                database.add([("counter", "reached", f"n{number}")])
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert faults == []


def test_a_query_waits_until_the_graph_has_the_change_that_it_shows(database: Database) -> None:
    shown: list[bool] = []
    real = database._ledger.live.note

    def slow(change: object) -> None:
        reader = Thread(target=lambda: shown.append(bool(query(database, "ASK { :Gus :likes :Go }").found)))
        reader.start()
        reader.join(0.2)
        assert shown == []
        real(change)  # type: ignore[arg-type]
        readers.append(reader)

    readers: list[Thread] = []
    database._ledger.live.note = slow  # type: ignore[method-assign, assignment]
    update(database, "INSERT DATA { :Gus :likes :Go }")
    for reader in readers:
        reader.join()
    assert shown == [True]


def test_a_label_that_came_before_the_first_edge_is_known(database: Database, path: Path, tmp_path: Path) -> None:
    update(
        database, f"INSERT DATA {{ :gus <{LABEL}> 'Gustav' . :hal <{LABEL}> 'Harald' . :admires <{LABEL}> 'adores' }}"
    )
    assert set(database.graph.triples()) == set(FAMILY)
    database.add([("gus", "likes", "Go")])
    update(database, "INSERT DATA { :gus :admires :Ada }")
    (tmp_path / "more.tsv").write_text("hal\tlikes\tGo\nida\tlikes\tGo\n")
    database.load([tmp_path / "more.tsv"])
    new = {("Gustav", "likes", "Go"), ("Gustav", "adores", "Ada"), ("Harald", "likes", "Go"), ("ida", "likes", "Go")}
    assert set(database.graph.triples()) == {*FAMILY, *new}
    assert database.add([("Gustav", "likes", "Chess")]) == 1
    database.close()
    with Database(path) as again:
        assert set(again.graph.triples()) == {*FAMILY, *new, ("Gustav", "likes", "Chess")}
