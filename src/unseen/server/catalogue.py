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

MOST_COMPARED = 2000
"""Names that are compared one by one; of more, the likeliest are found first."""


def entities_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Entities with an edge whose name holds a text: first those that begin with it, shorter names before longer."""
    names = graph.vocabulary.entities
    degrees = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.num_entities)
    found = _holding(names, text)
    found = found[degrees[found] > 0]
    wanted = text.lower()
    if wanted:
        named = sorted((_distance(names.name(index), wanted), index) for index in _likely(names, found, wanted, limit))
        candidates = [index for _, index in named]
    else:
        candidates = found[np.argsort(-degrees[found], kind="stable")[:limit]].tolist()
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "edges": int(degrees[i])} for i in candidates[:limit]]


def relations_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Relations with a triple whose name holds a text, the most frequent first."""
    names = graph.vocabulary.relations
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    found = sorted((i for i in _holding(names, text).tolist() if counts[i]), key=lambda index: -counts[index])
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "triples": int(counts[i])} for i in found[:limit]]


def _likely(names: Names, ids: NDArray[np.int64], text: str, limit: int) -> list[int]:
    """Of many ids those that are worth a closer look: first those that begin with a text, then by length."""
    if len(ids) <= MOST_COMPARED:
        few: list[int] = ids.tolist()
        return few
    shown = names.keys.take(ids)
    if names.labels is not None:
        shown = pc.coalesce(names.labels.take(ids), shown)
    begins = pc.starts_with(shown, text, ignore_case=True).to_numpy(zero_copy_only=False)
    lengths = pc.utf8_length(shown).to_numpy(zero_copy_only=False)
    best: list[int] = ids[np.lexsort((lengths, ~begins))[: max(limit, MOST_COMPARED)]].tolist()
    return best


def _holding(names: Names, text: str) -> NDArray[np.int64]:
    """Ids whose key or label holds a text, whatever the case of its letters."""
    holds: NDArray[np.bool_] = np.zeros(len(names), bool)
    for column in (names.keys, names.labels):
        if column is not None and len(column):
            matches = pc.match_substring(column, text, ignore_case=True).fill_null(False)
            holds |= matches.to_numpy(zero_copy_only=False)
    return np.flatnonzero(holds)


def _distance(name: str, wanted: str) -> tuple[bool, int, str]:
    lower = name.lower()
    return not lower.startswith(wanted), len(name), name
