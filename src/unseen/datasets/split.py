"""The inductive split of the paper: a training graph, and larger graphs with entities that no training edge touches.

With seed 42 on FB15k-237 (its three files in order, ids by first appearance) the ratios 122, 175 and 550 give the
published graphs, edge by edge. The two random streams are those of a fresh Python process seeded with `seed`.

In the *disjoint* kind the training graph is the same, but a side keeps only edges between two new entities of its own,
so training and inference graphs share no entity: a model meets a graph of which it knows nothing but the relations.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.errors import GraphError
from unseen.graph.names import Names
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Edges = NDArray[np.int32]
    Mask = NDArray[np.bool_]

NAMED_SHARES = {106: 0.9, 113: 0.8, 122: 0.7, 134: 0.6, 150: 0.5, 175: 0.4, 217: 0.3, 300: 0.2, 550: 0.1}
"""The paper's nine ratios, and the share of entities that its script kept for training: ratios are rounded there."""

SMALLEST_RATIO, LARGEST_RATIO = 101, 1000
HIDDEN_SHARE = 0.15
"""The part of a side's edges that is hidden, to be predicted."""

HEAD, RELATION, TAIL = 0, 1, 2


@dataclass(frozen=True, eq=False)
class InductiveSplit:
    """Five sets of edges over one vocabulary, as int32 rows (head, relation read forwards, tail).

    Entities are numbered: those of the training graph first, then the new ones of validation, then those of test.
    The observed graph of validation is `train_graph` + `valid_inference`, or `valid_inference` alone if `disjoint`;
    its complete graph has `valid_predict` too. The same holds for test, where `test_filter` may hold edges that are
    true as well but neither observed nor to be predicted: validation triples that link prediction keeps from models.
    """

    vocabulary: Vocabulary
    train_graph: Edges
    valid_inference: Edges
    valid_predict: Edges
    test_inference: Edges
    test_predict: Edges
    test_filter: Edges = field(default_factory=lambda: np.empty((0, 3), np.int32), kw_only=True)
    disjoint: bool = field(default=False, kw_only=True)


class _Sides(NamedTuple):
    """For every entity, whether it was drawn as new for validation, and whether as new for test."""

    valid: Mask
    test: Mask


def inductive_split(graph: KnowledgeGraph, ratio: float, seed: int = 42, disjoint: bool = False) -> InductiveSplit:
    """Split a graph so that each inference graph has about `ratio` percent of the training graph's entities."""
    share = training_share(ratio)
    edges = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    sides = _drawn(edges, graph.num_entities, share, random.Random(seed))  # noqa: S311  # not for secrets
    train = edges[~_touching(edges, sides.valid | sides.test)]
    usable = _usable(edges, train, sides, graph)
    shuffle = np.random.RandomState(seed)  # the published stream
    parts = [train]
    for new, other in ((sides.valid, sides.test), (sides.test, sides.valid)):
        inside = new[edges[:, HEAD]] & new[edges[:, TAIL]] if disjoint else _touching(edges, new)
        part = edges[inside & usable & ~_touching(edges, other)]
        parts += _hidden(part, edges[:0] if disjoint else train, graph.num_entities, shuffle)
    return _renumbered(parts, graph.vocabulary, disjoint)


def training_share(ratio: float) -> float:
    """The share r of entities to train on for which 100 (1 + (1 - r) / 2r) is the ratio."""
    if not SMALLEST_RATIO <= ratio <= LARGEST_RATIO:
        raise GraphError(f"the ratio must lie between {SMALLEST_RATIO} and {LARGEST_RATIO} percent, not {ratio:g}")
    return NAMED_SHARES.get(int(ratio), 0.0) if ratio in NAMED_SHARES else 1 / (2 * ratio / 100 - 1)


def _drawn(edges: Edges, num_entities: int, share: float, generator: random.Random) -> _Sides:
    """New entities, half for each side; one that occurs only once in all triples is never drawn."""
    counts = np.bincount(edges[:, [HEAD, TAIL]].ravel(), minlength=num_entities)
    drawable: list[int] = np.flatnonzero(counts > 1).tolist()
    new = generator.sample(drawable, int(len(drawable) * (1 - share)))
    test = generator.sample(new, int(len(new) * 0.5))
    if not test:
        raise GraphError(f"has only {len(drawable)} entities with two or more edges: too few for this ratio")
    is_new, is_test = np.zeros(num_entities, bool), np.zeros(num_entities, bool)
    is_new[new], is_test[test] = True, True
    return _Sides(is_new & ~is_test, is_test)


def _usable(edges: Edges, train: Edges, sides: _Sides, graph: KnowledgeGraph) -> Mask:
    """Edges without an old entity or a relation that the training graph lacks."""
    if len(train) == 0:
        raise GraphError("no edge is left for training at this ratio: choose a smaller one, or a larger graph")
    known = sides.valid | sides.test
    known[train[:, [HEAD, TAIL]]] = True
    trained = np.zeros(graph.num_relations, bool)
    trained[train[:, RELATION]] = True
    return known[edges[:, HEAD]] & known[edges[:, TAIL]] & trained[edges[:, RELATION]]


def _hidden(part: Edges, train: Edges, num_entities: int, shuffle: np.random.RandomState) -> tuple[Edges, Edges]:
    """The edges of one side that stay, and those to predict, which never touch an entity seen nowhere else."""
    mixed = part[shuffle.permutation(len(part))]
    cut = int(len(mixed) * (1 - HIDDEN_SHARE))
    inference, predict = mixed[:cut], mixed[cut:]
    seen = np.zeros(num_entities, bool)
    seen[train[:, [HEAD, TAIL]]] = True
    seen[inference[:, [HEAD, TAIL]]] = True
    moved = _touching(predict, ~seen)
    return np.concatenate([inference, predict[moved]]), predict[~moved]


def _touching(edges: Edges, entities: Mask) -> Mask:
    touching: Mask = entities[edges[:, HEAD]] | entities[edges[:, TAIL]]
    return touching


def _renumbered(parts: list[Edges], vocabulary: Vocabulary, disjoint: bool) -> InductiveSplit:
    """Entities by first graph they occur in (training, validation, test), then by old id; relations by old id."""
    old = _entities(parts[0])
    order = np.concatenate([old, *(np.setdiff1d(_entities(parts[side]), old) for side in (1, 3))])
    relations = np.unique(parts[0][:, RELATION])
    entity_ids = _positions(order, vocabulary.num_entities)
    relation_ids = _positions(relations, vocabulary.num_relations)
    renumbered = [
        np.stack([entity_ids[part[:, HEAD]], relation_ids[part[:, RELATION]], entity_ids[part[:, TAIL]]], axis=1)
        for part in parts
    ]
    names = Vocabulary(chosen_names(vocabulary.entities, order), chosen_names(vocabulary.relations, relations))
    return InductiveSplit(names, *renumbered, disjoint=disjoint)


def _entities(edges: Edges) -> Edges:
    """Sorted ids of the entities that some edge touches."""
    return np.unique(edges[:, [HEAD, TAIL]])


def _positions(chosen: NDArray[np.integer], count: int) -> Edges:
    positions = np.full(count, -1, np.int32)
    positions[chosen] = np.arange(len(chosen), dtype=np.int32)
    return positions


def chosen_names(names: Names, ids: Edges) -> Names:
    """The names of some ids, renumbered by position."""
    labels = None if names.labels is None else names.labels.take(ids)
    return Names(names.kind, names.keys.take(ids), labels, names.prefixes)
