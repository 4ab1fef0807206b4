"""Names in the published files: dicts between ids and names, in either direction, and graphs given beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.split import chosen_names
from unseen.errors import DatasetError, shorten
from unseen.graph import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.published.archive import Archive
    from unseen.graph import KnowledgeGraph

    Edges = NDArray[np.int32]

SHOWN_NAMES = 3
"""Unknown names that an error shows of a kind."""
_FORWARD_NAMES = {"entity": ("id2ent.pkl", "ind2ent.pkl"), "relation": ("id2rel.pkl", "ind2rel.pkl")}
_BACKWARD_NAMES = {"entity": ("ent2id.pkl", "ent2ind.pkl"), "relation": ("rel2id.pkl", "rel2ind.pkl")}


def paired_vocabulary(archive: Archive, num_entities: int, num_directed: int) -> Vocabulary:
    """The names of a BetaE or Query2Box folder, whose relations 2k and 2k + 1 are one in two directions."""
    entities = _distinct(_listed_names(archive, "entity", num_entities) or list(map(str, range(num_entities))))
    directed = _listed_names(archive, "relation", num_directed)
    relations = [str(relation) for relation in range(num_directed // 2)]
    if directed is not None:
        relations = [_bare(*directed[place : place + 2]) for place in range(0, num_directed, 2)]
    return Vocabulary.of(entities, _distinct(relations))


def num_named(archive: Archive, kind: str) -> int:
    """How many things of a kind have a name, 0 without a file of names."""
    file = archive.first(*_FORWARD_NAMES[kind], *_BACKWARD_NAMES[kind])
    return 0 if file is None else len(_dictionary(archive, file))


def original_vocabulary(
    archive: Archive, num_entities: int, num_relations: int, named: KnowledgeGraph | None, parts: Sequence[Edges]
) -> Vocabulary:
    """The names of an InductiveQE archive: those of the graph it was made from, if given, else original ids."""
    if "og_mappings.pkl" not in archive:
        if named is not None:
            raise DatasetError("has no og_mappings.pkl to find names by: leave out --graph", path=archive.where)
        return Vocabulary.numbered(num_entities, num_relations)
    mappings = _dictionary(archive, "og_mappings.pkl")
    entities = _inverted(mappings.get("e2id"), num_entities, archive.path("og_mappings.pkl"))
    relations = _inverted(mappings.get("r2id"), num_relations, archive.path("og_mappings.pkl"))
    numbered = all(isinstance(old, int) for old in (*entities, *relations))
    if named is not None and not numbered:
        raise DatasetError("has names, not numbers, in og_mappings.pkl: leave out --graph", path=archive.where)
    if named is None:
        return Vocabulary.of([str(old) for old in entities], [str(old) for old in relations])
    if max(entities, default=0) >= named.num_entities or max(relations, default=0) >= named.num_relations:
        raise DatasetError(
            "it was not made from the graph that was given: original ids lie beyond it", path=archive.where
        )
    old = np.array(entities, np.int32), np.array(relations, np.int32)
    _check_original(np.concatenate(parts), *old, named, archive.where)
    return Vocabulary(chosen_names(named.vocabulary.entities, old[0]), chosen_names(named.vocabulary.relations, old[1]))


def _check_original(edges: Edges, entities: Edges, relations: Edges, named: KnowledgeGraph, path: Path) -> None:
    """Every edge must be one of the graph that names are taken from: else these are the names of other things."""
    rows = np.stack([entities[edges[:, 0]], relations[edges[:, 1]], entities[edges[:, 2]]], axis=1)
    sizes = np.array([named.num_relations, named.num_entities], np.int64)
    columns = [np.asarray(column, np.int64) for column in (named.heads, named.relations, named.tails)]
    packed = (columns[0] * sizes[0] + columns[1]) * sizes[1] + columns[2]
    wanted = (rows[:, 0].astype(np.int64) * sizes[0] + rows[:, 1]) * sizes[1] + rows[:, 2]
    missing = int((~np.isin(wanted, packed)).sum())
    if missing:
        problem = f"it was not made from the graph that was given: {missing:,} of its {len(rows):,} edges are not in it"
        raise DatasetError(f"{problem}. Give the original files in their original order", path=path)


def edges_by_name(file: Path, vocabulary: Vocabulary, notes: list[str]) -> Edges:
    """The edges of a graph file between things that the vocabulary names; see `known_edges` about the others."""
    from unseen.graph.files.readers import read_graph

    graph = read_graph(file).graph
    entities, relations = (names.keys.to_pylist() for names in (graph.vocabulary.entities, graph.vocabulary.relations))
    ids = vocabulary.entities.find_all(entities), vocabulary.relations.find_all(relations)
    edges = np.stack([ids[0][graph.heads], ids[1][graph.relations], ids[0][graph.tails]], axis=1)
    columns = ((entities, graph.heads), (relations, graph.relations), (entities, graph.tails))
    names = [[keys[place] for place in places.tolist()] for keys, places in columns]
    return known_edges(edges, names, file, notes)


def known_edges(edges: Edges, names: Sequence[Sequence[str]], path: Path, notes: list[str]) -> Edges:
    """The edges whose names are known; `names` are those of the three columns.

    The published programs leave out a few triples with entities of their own, so that is noted. A file most of whose
    triples would go is one of another vocabulary and is refused.
    """
    known: Edges = edges[(edges >= 0).all(axis=1)]
    lost = len(edges) - len(known)
    if not lost:
        return known
    columns = (("entities", (0, 2)), ("relations", (1,)))
    remark = "; ".join(text for kind, places in columns if (text := _unknown(edges, names, kind, places)))
    if 2 * lost > len(edges):
        problem = f"{lost:,} of {len(edges):,} triples have names that the dataset does not know ({remark})"
        raise DatasetError(f"{problem}. Give the graph that its queries were made from, in the same names", path=path)
    left_out = f"{path.name}: {lost:,} of {len(edges):,} triples were left out"
    notes.append(f"{left_out}, the dataset does not know their names ({remark})")
    return known


def _unknown(edges: Edges, names: Sequence[Sequence[str]], kind: str, places: tuple[int, ...]) -> str:
    """How many names of a kind are unknown, and some of them; nothing if none is."""
    found = {names[place][row] for place in places for row in np.flatnonzero(edges[:, place] < 0).tolist()}
    if not found:
        return ""
    shown = ", ".join(repr(shorten(name, 40)) for name in sorted(found)[:SHOWN_NAMES])
    return f"{len(found):,} unknown {kind}: {shown}{', …' if len(found) > SHOWN_NAMES else ''}"


def _listed_names(archive: Archive, kind: str, count: int) -> list[str] | None:
    """The names of the ids 0, 1, ..., from whichever file there is."""
    file = archive.first(*_FORWARD_NAMES[kind])
    if file is not None:
        names = _dictionary(archive, file)
        missing = next((number for number in range(count) if not isinstance(names.get(number), str)), None)
        if missing is not None:
            raise DatasetError(f"has no name for the {kind} {missing}", path=archive.path(file))
        return [names[number] for number in range(count)]
    file = archive.first(*_BACKWARD_NAMES[kind])
    return (
        None
        if file is None
        else [str(name) for name in _inverted(_dictionary(archive, file), count, archive.path(file))]
    )


def _dictionary(archive: Archive, file: str) -> dict[Any, Any]:
    value = archive.pickled(file).plain()
    if not isinstance(value, dict):
        raise DatasetError("is not a dict", path=archive.path(file))
    return value


def _inverted(ids: object, count: int, path: Path) -> list[Any]:
    """The keys of a dict from names to ids 0, 1, ... `count - 1`, by id; ids beyond are left out."""
    names: list[Any] = [None] * count
    for name, number in ids.items() if isinstance(ids, dict) else ():
        if isinstance(number, int) and 0 <= number < count:
            names[number] = name
    if any(not isinstance(name, int | str) for name in names):
        raise DatasetError(f"does not name all of the ids 0 … {count - 1}", path=path)
    return names


def _bare(forward: str, backward: str) -> str:
    """The name of a relation from those of its two directions."""
    if forward[1:] == backward[1:] and forward[:1] == "+" and backward[:1] == "-":
        return forward[1:]
    return forward


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, told apart by a number where two are the same: keys must be unique."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return unique
