"""Entities and relations by name, for whoever does not know how something is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from unseen.graph.prefixes import iri_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names


def entities_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Entities with an edge whose name holds a text: first those that begin with it, shorter names before longer."""
    names = graph.vocabulary.entities
    degrees = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.num_entities)
    candidates = [index for index in _holding(names, text) if degrees[index]]
    wanted = text.lower()
    if wanted:
        named = sorted((_distance(names.name(index), wanted), index) for index in candidates)
        candidates = [index for _, index in named]
    else:
        candidates.sort(key=lambda index: -degrees[index])
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "edges": int(degrees[i])} for i in candidates[:limit]]


def relations_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Relations with a triple whose name holds a text, the most frequent first."""
    names = graph.vocabulary.relations
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    found = sorted((index for index in _holding(names, text) if counts[index]), key=lambda index: -counts[index])
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "triples": int(counts[i])} for i in found[:limit]]


def _holding(names: Names, text: str) -> list[int]:
    """Ids whose key or label holds a text, whatever the case of its letters."""
    holds: NDArray[np.bool_] = np.zeros(len(names), bool)
    for column in (names.keys, names.labels):
        if column is not None and len(column):
            matches = pc.match_substring(column, text, ignore_case=True).fill_null(False)
            holds |= matches.to_numpy(zero_copy_only=False)
    found: list[int] = np.flatnonzero(holds).tolist()
    return found


def _distance(name: str, wanted: str) -> tuple[bool, int, str]:
    lower = name.lower()
    return not lower.startswith(wanted), len(name), name
