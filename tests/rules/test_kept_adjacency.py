"""The adjacency beside a database: found again for the same graph only, and made anew where anything is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen.graph import KnowledgeGraph
from unseen.rules import adjacency as adjacencies
from unseen.rules import kept_adjacency
from unseen.rules.adjacency import Adjacency, adjacency_of
from unseen.rules.origins import note_source

TRIPLES = [("a", "r", "b"), ("b", "s", "c"), ("c", "r", "a"), ("a", "s", "a")]


@pytest.fixture(autouse=True)
def _keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_adjacency, "LARGE", 1)


def world(folder: Path, *more: tuple[str, str, str]) -> KnowledgeGraph:
    return note_source(KnowledgeGraph.from_triples([*TRIPLES, *more]), folder)


def is_sorted_anew(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> bool:
    sorted_graphs: list[KnowledgeGraph] = []
    make = adjacencies._adjacency
    monkeypatch.setattr(adjacencies, "_adjacency", lambda one: (sorted_graphs.append(one), make(one))[1])
    adjacency_of(graph)
    return bool(sorted_graphs)


def test_the_next_program_maps_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = adjacency_of(world(tmp_path))
    again = world(tmp_path)
    assert not is_sorted_anew(again, monkeypatch)
    found = adjacency_of(again)
    for name in Adjacency._fields:
        assert np.array_equal(getattr(made, name), getattr(found, name))
        assert getattr(made, name).dtype == getattr(found, name).dtype


def test_another_graph_is_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency_of(world(tmp_path))
    assert is_sorted_anew(world(tmp_path, ("d", "r", "a")), monkeypatch)


def test_one_bit_is_enough_to_sort_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency_of(world(tmp_path))
    file = tmp_path / "adjacency" / "near.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert is_sorted_anew(world(tmp_path), monkeypatch)


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path: Path) -> None:
    adjacency_of(world(tmp_path / "missing"))
    assert not (tmp_path / "missing").exists()


def test_files_and_small_graphs_keep_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_adjacency.adjacency_place(note_source(KnowledgeGraph.from_triples(TRIPLES), None)) is None
    monkeypatch.setattr(kept_adjacency, "LARGE", 10)
    assert kept_adjacency.adjacency_place(world(tmp_path)) is None


def test_what_was_sorted_is_mapped_at_once(tmp_path: Path) -> None:
    graph = world(tmp_path)
    assert adjacencies.bytes_to_open(graph) > 0
    assert isinstance(adjacency_of(graph).near.base, np.memmap)
    assert adjacencies.bytes_to_open(graph) == 0
    assert adjacencies.bytes_to_open(world(tmp_path)) == 0, "mapped files take no memory"
    assert adjacencies.bytes_to_open(world(tmp_path, ("d", "r", "a"))) > 0
