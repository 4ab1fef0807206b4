"""Known facts beside any method: what the graph says always ranks first.

Inside a projection, observed edges carry the membership of their head, and predictions stay below `ceiling`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.protocols import Projector
from unseen.logic.stopping import check_stop

CEILING = 0.9
"""Largest membership of a prediction; known answers lie above it."""
MANY = 1 << 20
"""Entities from which on only the edges of a set's members are looked at."""
MOST_CELLS = 1 << 24
"""(row, edge) and (row, entity) pairs that are looked at together."""


@dataclass(frozen=True)
class KnownFactsProjector:
    """A projector whose every step also follows the edges that are there."""

    projector: Projector
    ceiling: float = CEILING
    in_place: bool = False
    """Whether what the projector gives may be written on, which saves passes over the entities of a large graph."""

    @property
    def is_monotone(self) -> bool:
        """Whether fewer members never lead to more."""
        return bool(getattr(self.projector, "is_monotone", False))

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """The larger of what observed edges carry over and `ceiling` times what the method predicts."""
        predicted = self.projector.project(graph, sets, relations)
        if self.ceiling != 1:
            predicted = self.ceiling * predicted
        elif self.in_place and len(sets) == 1 and _is_large(graph, sets):
            return _followed_onto(predicted, members_of(sets.numpy()), graph, sets, int(relations[0]))
        return torch.maximum(follow_edges(graph, sets, relations), predicted)


def follow_edges(
    graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
) -> Float[Tensor, "batch entity"]:
    """Row i: for each entity, the largest membership in `sets[i]` among heads that `relations[i]` links to it."""
    return by_relation(graph, sets, relations, _followed)


def members_of(sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and entities of all members of some sets; looking for truths is three times as fast as for numbers."""
    rows, members = np.divmod(np.flatnonzero(sets != 0), sets.shape[1])
    return rows, members


def _followed(graph: KnowledgeGraph, sets: Float[Tensor, "row entity"], relation: int) -> Float[Tensor, "row entity"]:
    if _is_large(graph, sets):
        members = members_of(sets.numpy())
        if len(members[0]) < len(graph.edges_from(relation)[0]):
            return _followed_onto(torch.zeros(sets.shape, dtype=sets.dtype), members, graph, sets, relation)
    sources, targets = (torch.from_numpy(ends.astype("int64")).to(sets.device) for ends in graph.edges_from(relation))
    carried = sets.index_select(1, sources)
    return torch.zeros_like(sets).scatter_reduce_(1, targets.expand_as(carried), carried, "amax")


def _is_large(graph: KnowledgeGraph, sets: Float[Tensor, "row entity"]) -> bool:
    """Whether the edges of a set's members are fewer to look at than those of its relation."""
    return graph.num_entities > MANY and sets.device.type == "cpu" and not sets.requires_grad


def _followed_onto(
    reached: Float[Tensor, "row entity"],
    found: tuple[np.ndarray, np.ndarray],
    graph: KnowledgeGraph,
    sets: Float[Tensor, "row entity"],
    relation: int,
) -> Float[Tensor, "row entity"]:
    """Write what the edges of the sets' members carry over where it is more; members are found by row and entity."""
    sources, targets = graph.edges_from(relation)
    rows, members = found
    low, high = (np.searchsorted(sources, members, side=side) for side in ("left", "right"))
    lengths = high - low
    edges = np.repeat(low - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(lengths.sum())
    carried = sets[rows, members].repeat_interleave(torch.from_numpy(lengths))
    places = torch.from_numpy(np.repeat(rows, lengths) * graph.num_entities + targets[edges])
    reached.view(-1).scatter_reduce_(0, places, carried, "amax")
    return reached


def by_relation(
    graph: KnowledgeGraph,
    sets: Float[Tensor, "batch entity"],
    relations: Int[Tensor, " batch"],
    project: Callable[[KnowledgeGraph, Tensor, int], Tensor],
) -> Float[Tensor, "batch entity"]:
    """The projections of all rows, those of one relation together, as many at a time as fit into some memory.

    Such rows share the look-up of the relation's edges, and one operation serves them all.
    """
    rows: dict[int, list[int]] = {}
    for row, relation in enumerate(relations.tolist()):
        rows.setdefault(relation, []).append(row)
    most = max(1, MOST_CELLS // max(1, graph.num_entities + graph.num_triples))
    if len(rows) == 1 and len(sets) <= most:
        return project(graph, sets, next(iter(rows)))
    reached = torch.zeros_like(sets)
    for relation, places in rows.items():
        for start in range(0, len(places), most):
            check_stop()
            part = torch.tensor(places[start : start + most], device=sets.device)
            reached.index_copy_(0, part, project(graph, sets.index_select(0, part), relation))
    return reached
