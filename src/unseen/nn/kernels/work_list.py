"""Rows of edges cut into chunks of bounded length, so that a hub is many pieces of work and not one long one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

BLOCKS = 64
"""Pieces of about equal cost into which the chunks are divided, for threads to take one at a time."""
COST_OF_A_CHUNK = 4
"""What starting and storing a chunk costs, in edges."""


@dataclass(frozen=True, eq=False)
class WorkList:
    """Chunks of consecutive edges of one row. Every row has at least one chunk, so that every row gets written.

    `chunks` has the columns row, first edge, end (the edge after the last) and slot. The chunk of a row that is whole
    writes the row itself, its slot is -1; the chunks of rows that are split write `num_slots` partial results, which
    are then combined in order: `split_rows[i]` has the slots `split_offsets[i]` … `split_offsets[i + 1]`.
    """

    num_slots: int
    chunks: Int[Tensor, "chunk 4"]
    split_rows: Int[Tensor, " split"]
    split_offsets: Int[Tensor, " split_1"]
    blocks: Int[Tensor, " block_1"]

    @property
    def num_chunks(self) -> int:
        """How many pieces of work there are."""
        return len(self.chunks)

    @classmethod
    def of(cls, offsets: Int[Tensor, " row_1"], longest: int) -> WorkList:
        """Cut rows, given by their offsets, into chunks of at most `longest` edges and nearly equal length."""
        counts = offsets.diff()
        pieces = torch.clamp((counts + longest - 1) // longest, min=1)
        row = torch.repeat_interleave(torch.arange(len(counts)), pieces)
        number = torch.arange(len(row)) - (pieces.cumsum(0) - pieces)[row]
        start = offsets[row] + counts[row] * number // pieces[row]
        end = offsets[row] + counts[row] * (number + 1) // pieces[row]
        split = pieces > 1
        in_split = split[row]
        slot = torch.where(in_split, in_split.cumsum(0) - 1, -1)
        split_rows = split.nonzero().flatten()
        chunks = torch.stack([row, start, end, slot], dim=1)
        columns = (chunks, split_rows, _offsets(pieces[split]), _balanced(end - start))
        return cls(int(in_split.sum()), *(column.to(torch.int32) for column in columns))

    def to(self, device: torch.device) -> WorkList:
        """The same list on another device."""
        columns = (self.chunks, self.split_rows, self.split_offsets, self.blocks)
        return WorkList(self.num_slots, *(column.to(device) for column in columns))


def _offsets(counts: Int[Tensor, " row"]) -> Int[Tensor, " row_1"]:
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _balanced(lengths: Int[Tensor, " chunk"]) -> Int[Tensor, " block_1"]:
    """Where to cut a list of chunks so that all blocks cost about the same."""
    cost = _offsets(lengths + COST_OF_A_CHUNK)
    wanted = torch.arange(BLOCKS + 1) * cost[-1] // BLOCKS
    return torch.searchsorted(cost, wanted)
