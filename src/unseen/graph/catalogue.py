"""Finding entities and relations by parts of their names.

All names are searched in arrays. At most `MOST_RANKED` matches are ranked one by one: on a large graph a text of one
letter is in a million names.
"""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import UnknownName
from unseen.graph.prefixes import iri_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names

MOST_RANKED = 20_000
"""Matches that are ranked one by one; of more, those that begin with the text, and the shortest, are."""


TYPE_NAMES = ("type", "isa", "instanceof", "kind", "class", "p31")
"""How a relation is called that leads to the type of a thing: its last word, in small letters and without signs."""


def may_tell_kinds(key: str) -> bool:
    """Whether the key or IRI of a relation looks as if it led from things to what kind they are."""
    local = key.rstrip(">").rsplit("#", maxsplit=1)[-1].rsplit("/", maxsplit=1)[-1].rsplit(":", maxsplit=1)[-1]
    return "".join(letter for letter in local.lower() if letter.isalnum()) in TYPE_NAMES


def entities_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Entities with an edge whose name contains a text: first those that begin with it, shorter names before longer."""
    names, count = graph.vocabulary.entities, graph.num_entities
    degrees = np.bincount(graph.heads, minlength=count) + np.bincount(graph.tails, minlength=count)
    candidates = np.flatnonzero(_holding(names, text) & (degrees > 0))
    chosen = _nearest(names, candidates, text, limit) if text else _most(candidates, degrees, limit)
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "edges": int(degrees[i])} for i in chosen]


def relations_like(graph: KnowledgeGraph, text: str, limit: int) -> list[dict[str, Any]]:
    """Relations with a triple whose name contains a text, the most frequent first."""
    names = graph.vocabulary.relations
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    found = _most(np.flatnonzero(_holding(names, text) & (counts > 0)), counts, limit)
    return [{"name": names.name(i), "iri": iri_of(names.key(i)), "triples": int(counts[i])} for i in found]


def suggested(graph: KnowledgeGraph, error: UnknownName) -> UnknownName:
    """The error for an unknown name with the closest ones. Cost: many passes over all names."""
    names = graph.vocabulary.entities if error.kind == graph.vocabulary.entities.kind else graph.vocabulary.relations
    return UnknownName(error.kind, error.name, names.closest(error.name))


def _holding(names: Names, text: str) -> NDArray[np.bool_]:
    """Which keys or labels contain a text, ignoring case."""
    holds: NDArray[np.bool_] = np.zeros(len(names), bool)
    for column in (names.keys, names.labels):
        if column is not None and len(column):
            matches = pc.match_substring(column, text, ignore_case=True).fill_null(False)
            holds |= matches.to_numpy(zero_copy_only=False)
    return holds


def _most(candidates: NDArray[np.int64], counts: NDArray[np.int64], limit: int) -> list[int]:
    """The candidates with the largest counts, smaller ids first."""
    order = np.argsort(-counts[candidates], kind="stable")[:limit]
    found: list[int] = candidates[order].tolist()
    return found


def _nearest(names: Names, candidates: NDArray[np.int64], text: str, limit: int) -> list[int]:
    """The candidates whose readable names are nearest to a text."""
    ids = _promising(names, candidates, text).tolist()
    wanted = text.lower()
    ranked = ((_distance(name, wanted), index) for (name, _), index in zip(names.named(ids), ids, strict=True))
    return [index for _, index in heapq.nsmallest(limit, ranked)]


def _promising(names: Names, candidates: NDArray[np.int64], text: str) -> NDArray[np.int64]:
    """As many candidates as are ranked: those in which a word begins with the text, and the shortest, come first."""
    if len(candidates) <= MOST_RANKED:
        return candidates
    keys = names.keys.take(pa.array(candidates))
    shown = keys if names.labels is None else pc.coalesce(names.labels.take(pa.array(candidates)), keys)
    begins = pc.match_substring_regex(shown, rf"(^|[/#:]){re.escape(text)}", ignore_case=True)
    order = np.lexsort((pc.utf8_length(shown).to_numpy(), ~begins.to_numpy(zero_copy_only=False)))
    return np.sort(candidates[order[:MOST_RANKED]])


def _distance(name: str, wanted: str) -> tuple[bool, int, str]:
    lower = name.lower()
    return not lower.startswith(wanted), len(name), name
