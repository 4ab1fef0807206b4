"""In which order answers come: by values, by name, or by probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import QueryRefused
from unseen.logic.values.attribute_names import attribute_id
from unseen.logic.values.shown import attribute_keys, node_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Keys = list[NDArray[np.float64]]

PROBABILITY = ("probability", "score")
NAME = "name"
MOST_KEYS = 16
"""Keys of one order; each takes a pass over all that is ordered."""


@dataclass(frozen=True)
class Ordering:
    """One key of an order: an answer variable, an attribute of the answers, `probability`, or `name`."""

    key: str
    descending: bool = False
    is_variable: bool = False


def orderings_of(text: str) -> tuple[Ordering, ...]:
    """The keys of an order as written: `population desc, name`."""
    return tuple(_ordering(part) for part in text.split(",") if part.strip())


def _ordering(part: str) -> Ordering:
    words = part.split()
    direction = words[-1].lower() if len(words) > 1 else ""
    if direction in ("asc", "desc"):
        return Ordering(" ".join(words[:-1]), direction == "desc")
    key = " ".join(words)
    return Ordering(key, descending=key in PROBABILITY)


def order_of_rows(
    graph: KnowledgeGraph,
    columns: Mapping[str, NDArray[np.integer]],
    probabilities: NDArray[np.floating],
    orderings: Sequence[Ordering],
) -> NDArray[np.int64]:
    """Rows in order; `columns` are the answer variables. What has no value comes last; equal rows keep their order."""
    keys: Keys = []
    for ordering in orderings:
        own = _keys_of(graph, columns, probabilities, ordering)
        missing = np.isnan(own[0]).astype(float)
        keys += [missing, *(np.nan_to_num(-key if ordering.descending else key, neginf=-1e308) for key in own)]
    order: NDArray[np.int64] = np.lexsort([*reversed(keys)]) if keys else np.arange(len(probabilities))
    return order


def _keys_of(
    graph: KnowledgeGraph,
    columns: Mapping[str, NDArray[np.integer]],
    probabilities: NDArray[np.floating],
    one: Ordering,
) -> Keys:
    if one.key in PROBABILITY and one.key not in columns:
        return [probabilities.astype(float)]
    if one.key in columns:
        distinct, which = np.unique(columns[one.key], return_inverse=True)
        return [key[which] for key in node_keys(graph, distinct)]
    if one.is_variable:
        raise QueryRefused(f"ORDER BY ?{one.key}: nothing gives the variable a value")
    first = next(iter(columns.values()))
    if one.key == NAME:
        distinct, which = np.unique(first, return_inverse=True)
        names = [name for name, _ in graph.vocabulary.entities.named(distinct.tolist())]
        rank = {name: float(place) for place, name in enumerate(sorted(set(names)))}
        return [np.array([rank[name] for name in names])[which]]
    return attribute_keys(graph, attribute_id(graph, one.key), first, largest=one.descending)


def check_orderings(graph: KnowledgeGraph, orderings: Sequence[Ordering], variables: Sequence[str]) -> None:
    """Refuse an order by something that there is not, or by far too much."""
    if len(orderings) > MOST_KEYS:
        raise QueryRefused(f"an order has at most {MOST_KEYS} keys, not {len(orderings):,}")
    for one in orderings:
        if one.key in (*PROBABILITY, NAME, *variables):
            continue
        if one.is_variable:
            raise QueryRefused(f"ORDER BY ?{one.key}: the question has no such variable")
        attribute_id(graph, one.key)
