"""Whole graphs from files: one atomic step, read by the engine only, there after a restart."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from unseen.database import Database, graph_store
from unseen.database.engine.process_triples import ProcessTriples
from unseen.database.exact_sparql import query
from unseen.database.graph_store import Lines
from unseen.database.triples import Triples
from unseen.errors import EngineLost, UnseenError


def lines(folder: Path, count: int, prefix: str = "s", length: int = 0) -> Lines:
    file = folder / f"{prefix}.nt"
    with file.open("w") as stream:
        for i in range(count):
            stream.write(f"<urn:unseen:{prefix}{'x' * length}{i}> <urn:unseen:in> <urn:unseen:Go> .\n")
    return Lines(count, file=file)


def count(database: Database, graph: str | None) -> int:
    pattern = "?s ?p ?o" if graph is None else f"GRAPH <{graph}> {{ ?s ?p ?o }}"
    return int(next(iter(query(database, f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}").found))["n"].value)


@pytest.mark.parametrize("graph", [None, "urn:g"])
def test_a_graph_is_made_replaced_and_added_to_from_files(database: Database, path: Path, graph: str | None) -> None:
    there = len(FAMILY) if graph is None else 0
    graph_store.add(database, graph, lines(path.parent, 30))
    assert count(database, graph) == there + 30
    graph_store.replace(database, graph, lines(path.parent, 20, "t"))
    assert count(database, graph) == 20
    graph_store.delete(database, graph)
    graph_store.replace(database, graph, lines(path.parent, 10, "u"))
    assert count(database, graph) == 10
    edges = 10 if graph is None else len(FAMILY)
    assert database.graph.num_triples == edges
    database.close()
    with Database(path) as again:
        assert (count(again, graph), again.graph.num_triples) == (10, edges)
        assert graph is None or again.triples.graph_names() == ["<urn:g>"]
        assert again.add([("Gus", "likes", "Go")]) == 1


@pytest.mark.parametrize("replaces", [True, False])
def test_a_file_that_the_engine_cannot_read_to_its_end_changes_nothing(
    database: Database, path: Path, *, replaces: bool
) -> None:
    graph_store.replace(database, "urn:g", lines(path.parent, 5))
    broken = lines(path.parent, 3000, "t")
    assert broken.file is not None
    with broken.file.open("a") as stream:
        stream.write("<urn:unseen:a> no statement .\n")
    with pytest.raises(UnseenError):
        (graph_store.replace if replaces else graph_store.add)(database, "urn:g", broken)
    assert count(database, "urn:g") == 5
    database.close()
    with Database(path) as again:
        assert count(again, "urn:g") == 5


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("method", ["update_with", "load_into"])
def test_a_graph_for_which_the_engine_ended_is_there_as_a_whole_or_not_at_all(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch, method: str, *, is_done: bool
) -> None:
    if method == "update_with":
        graph_store.replace(database, "urn:g", lines(path.parent, 5))
    before = count(database, "urn:g")
    real = getattr(Triples, method)

    def lost(self: Triples, *arguments: object) -> None:
        if is_done:
            real(self, *arguments)
        raise EngineLost("loaded", "it was killed")

    with monkeypatch.context() as patched:
        patched.setattr(Triples, method, lost)
        if is_done:
            graph_store.replace(database, "urn:g", lines(path.parent, 9, "t"))
        else:
            with pytest.raises(EngineLost, match="nothing was changed"):
                graph_store.replace(database, "urn:g", lines(path.parent, 9, "t"))
    assert count(database, "urn:g") == (9 if is_done else before)
    database.close()
    with Database(path) as again:
        assert count(again, "urn:g") == (9 if is_done else before)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_large_graph_takes_no_memory_of_the_server(tmp_path: Path, *, is_there: bool) -> None:
    large = lines(tmp_path, 10_000, length=2000)
    with Database.create(tmp_path / "x.db", open_triples=ProcessTriples) as database:
        if is_there:
            graph_store.replace(database, "urn:g", lines(tmp_path, 5, "t"))
        tracemalloc.start()
        try:
            graph_store.replace(database, "urn:g", large)
            assert tracemalloc.get_traced_memory()[1] < 2 << 20  # the file has 20 MB
        finally:
            tracemalloc.stop()
        assert database.triples.size() == 10_000
        graph_store.add(database, None, large)  # few, but long: too much for the journal
        assert database.graph.num_triples == 10_000
        assert database.triples.size() == 20_000
