"""Names in the published files: dicts between ids and names, in either direction, and graphs given beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.benchmark.split import chosen_names
from unseen.errors import DatasetError
from unseen.graph import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.benchmark.published.archive import Archive
    from unseen.graph import KnowledgeGraph

    Edges = NDArray[np.int32]

_FORWARD_NAMES = {"entity": ("id2ent.pkl", "ind2ent.pkl"), "relation": ("id2rel.pkl", "ind2rel.pkl")}
_BACKWARD_NAMES = {"entity": ("ent2id.pkl", "ent2ind.pkl"), "relation": ("rel2id.pkl", "rel2ind.pkl")}


def paired_vocabulary(archive: Archive, num_entities: int, num_directed: int) -> Vocabulary:
    """The names of a BetaE or Query2Box folder, whose relations 2k and 2k + 1 are one in two directions."""
    entities = _listed_names(archive, "entity", num_entities) or [str(entity) for entity in range(num_entities)]
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
    archive: Archive, num_entities: int, num_relations: int, named: KnowledgeGraph | None
) -> Vocabulary:
    """The names of an InductiveQE archive: those of the graph it was made from, if given, else original ids."""
    if "og_mappings.pkl" not in archive:
        return Vocabulary.numbered(num_entities, num_relations)
    mappings = _dictionary(archive, "og_mappings.pkl")
    entities = _inverted(mappings.get("e2id"), num_entities, archive.path("og_mappings.pkl"))
    relations = _inverted(mappings.get("r2id"), num_relations, archive.path("og_mappings.pkl"))
    if named is None or not all(isinstance(old, int) for old in (*entities, *relations)):
        return Vocabulary.of([str(old) for old in entities], [str(old) for old in relations])
    if max(entities, default=0) >= named.num_entities or max(relations, default=0) >= named.num_relations:
        raise DatasetError(
            "it was not made from the graph that was given: original ids lie beyond it", path=archive.where
        )
    return Vocabulary(
        chosen_names(named.vocabulary.entities, np.array(entities, np.int32)),
        chosen_names(named.vocabulary.relations, np.array(relations, np.int32)),
    )


def edges_by_name(file: Path, vocabulary: Vocabulary) -> Edges:
    """The edges of a graph file between things that the vocabulary names; others are left out, as the published do."""
    from unseen.graph.files.readers import read_graph

    graph = read_graph(file).graph
    entities = vocabulary.entities.find_all(graph.vocabulary.entities.keys.to_pylist())
    relations = vocabulary.relations.find_all(graph.vocabulary.relations.keys.to_pylist())
    edges = np.stack([entities[graph.heads], relations[graph.relations], entities[graph.tails]], axis=1)
    known: Edges = edges[(edges >= 0).all(axis=1)]
    return known


def _listed_names(archive: Archive, kind: str, count: int) -> list[str] | None:
    """The names of the ids 0, 1, ..., from whichever file there is."""
    file = archive.first(*_FORWARD_NAMES[kind])
    if file is not None:
        names = _dictionary(archive, file)
        missing = next((number for number in range(count) if not isinstance(names.get(number), str)), None)
        if missing is not None:
            raise DatasetError(f"has no name for the {kind} {missing}", path=archive.path(file))
        return _distinct([names[number] for number in range(count)])
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
