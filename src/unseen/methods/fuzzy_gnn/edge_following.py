"""Following the edges that are there, for a whole batch of fuzzy sets at once and on any device.

The same result as `known_facts.follow_edges`, without a loop over rows: the (row, edge) pairs of a batch are counted on
the host, where relations are known, and enumerated on the device, which therefore never has to wait for the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph

Ids = NDArray[np.int64]

MOST_PAIRS = 1 << 25
"""Pairs of rows and edges enumerated at a time: one gigabyte."""


@dataclass(frozen=True, eq=False)
class Walks:
    """One directed relation (in the model's numbers) for each row of a batch, ready to be followed.

    Row i has `lengths[i]` edges; pair p of that row is edge `p + shift[i]` of the graph's edges by relation.
    """

    relations: Int[Tensor, " row"]
    lengths: Int[Tensor, " row"]
    shift: Int[Tensor, " row"]
    num_pairs: int

    @staticmethod
    def columns(compact: CompactGraph, relations: Ids) -> tuple[Ids, Ids, Ids]:
        """The three columns on the host."""
        start, end = compact.relation_offsets[relations], compact.relation_offsets[relations + 1]
        lengths = end - start
        return relations, lengths, start - (np.cumsum(lengths) - lengths)

    @classmethod
    def of(cls, compact: CompactGraph, relations: Ids) -> Walks:
        """The walks of some rows, copied to the device of the graph."""
        columns = cls.columns(compact, relations)
        first, second, third = upload(columns, compact.edges.device)
        return cls(first, second, third, num_pairs=int(columns[1].sum()))


def follow(
    compact: CompactGraph,
    sets: Float[Tensor, "row node"],
    walks: Walks,
    visible: Bool[Tensor, " edge"] | None = None,
) -> Float[Tensor, "row node"]:
    """Row i: for each node, the largest membership in `sets[i]` among nodes that relation i links to it.

    Only along `visible` edges, given in canonical order, if any are.
    """
    sources, targets = compact.ends_by_relation
    count, size = sets.shape
    row = torch.repeat_interleave(torch.arange(count, device=sets.device), walks.lengths, output_size=walks.num_pairs)
    edge = torch.arange(walks.num_pairs, device=sets.device) + walks.shift[row]
    carried = sets.reshape(-1)[row * size + sources[edge]]
    if visible is not None:
        carried = carried * visible[compact.edges.by_relation.position[edge]]
    reached = torch.zeros_like(sets).view(-1).scatter_reduce_(0, row * size + targets[edge], carried, "amax")
    return reached.view(count, size)


def follow_in_parts(
    compact: CompactGraph, sets: Float[Tensor, "row node"], relations: Ids
) -> Float[Tensor, "row node"]:
    """`follow` with bounded memory, for relations of any size."""
    lengths = np.diff(compact.relation_offsets)[relations]
    part_of_row = np.cumsum(lengths) // MOST_PAIRS
    cuts = [0, *(np.flatnonzero(np.diff(part_of_row)) + 1).tolist(), len(relations)]
    parts = [slice(start, end) for start, end in pairwise(cuts) if start < end]
    reached = [follow(compact, sets[part], Walks.of(compact, relations[part])) for part in parts]
    return torch.cat(reached) if reached else torch.zeros_like(sets)


def upload(columns: Sequence[Ids], device: torch.device) -> list[Int[Tensor, " _"]]:
    """Columns of integers on a device: one copy for all of them, which the host does not wait for."""
    packed = torch.from_numpy(np.concatenate([np.empty(0, np.int64), *columns]))
    if device.type == "cuda":
        packed = packed.pin_memory().to(device, non_blocking=True)
    return list(torch.split(packed, [len(column) for column in columns]))
