"""A sparse table of ones, as products with it read it: its entries by row and by column, sorted once, on one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from unseen.graph.vocabulary import inverse_relation
from unseen.nn.kernels.work_list import WorkList

if TYPE_CHECKING:
    from unseen.nn.kernels.edge_views import EdgeViews

CHUNK_ENTRIES = {"cpu": 2048, "cuda": 128}
"""Entries in one piece of work."""


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of a table, row by row: `other` is the column of each, `position` its place in the table's order."""

    work: WorkList
    offsets: Int[Tensor, " row_1"]
    other: Int[Tensor, " entry"]
    position: Int[Tensor, " entry"]

    @classmethod
    def of(cls, own: Int[Tensor, " entry"], other: Int[Tensor, " entry"], rows: int, longest: int) -> Entries:
        """Entries sorted by their own row; those of a row stay in order."""
        position = torch.argsort(own, stable=True)
        offsets = torch.zeros(rows + 1, dtype=torch.int64)
        offsets[1:] = torch.bincount(own, minlength=rows).cumsum(0)
        columns = (offsets, other[position], position)
        return cls(WorkList.of(offsets, longest), *(column.to(torch.int32) for column in columns))

    def to(self, device: torch.device) -> Entries:
        """The same entries on another device."""
        return Entries(self.work.to(device), *(each.to(device) for each in (self.offsets, self.other, self.position)))


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Where a table of bits is one."""

    by_row: Entries
    by_column: Entries

    @property
    def transposed(self) -> SparseTable:
        """The same table with rows and columns exchanged; nothing is copied."""
        return SparseTable(self.by_column, self.by_row)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.by_row.offsets) - 1, len(self.by_column.offsets) - 1

    @property
    def num_entries(self) -> int:
        """How many ones there are."""
        return len(self.by_row.other)

    @classmethod
    def of(
        cls,
        rows: Int[Tensor, " entry"],
        columns: Int[Tensor, " entry"],
        size: tuple[int, int],
        device: torch.device | str = "cpu",
        chunk_entries: int | None = None,
    ) -> SparseTable:
        """The table with ones at these places, each given once; their order is the order of weights."""
        place = torch.device(device)
        longest = chunk_entries or CHUNK_ENTRIES.get(place.type, CHUNK_ENTRIES["cpu"])
        rows, columns = rows.to("cpu", torch.int64), columns.to("cpu", torch.int64)
        for name, ids, limit in (("row", rows, size[0]), ("column", columns, size[1])):
            if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < limit:
                raise ValueError(f"the {name} of an entry lies outside 0 … {limit - 1}")
        views = Entries.of(rows, columns, size[0], longest), Entries.of(columns, rows, size[1], longest)
        return cls(views[0].to(place), views[1].to(place))


@dataclass(frozen=True, eq=False)
class Incidence:
    """Which nodes are heads of which directed relations: the pairs of `table` (node, relation).

    A tail of a relation is a head of its inverse, so this says everything. `group_ends` are the places in the
    canonical order of edges where the edges of one pair end.
    """

    table: SparseTable
    group_ends: Int[Tensor, " pair"]

    @classmethod
    def of(cls, edges: EdgeViews) -> Incidence:
        """The pairs of all edges, which must stand there in both directions. Cost: one pass over the edges."""
        view = edges.by_target
        target, relation = view.target.cpu().long(), view.relation.cpu().long()
        last = torch.ones(len(target), dtype=torch.bool)
        last[:-1] = (target[1:] != target[:-1]) | (relation[1:] != relation[:-1])
        ends = last.nonzero().flatten()
        size = (edges.num_nodes, edges.num_relations)
        heads = torch.as_tensor(inverse_relation(relation[ends]))  # type: ignore[arg-type]
        table = SparseTable.of(target[ends], heads, size, edges.device)
        return cls(table, (ends + 1).to(edges.device))

    def visible(self, edge_mask: Bool[Tensor, " edge"], dtype: torch.dtype) -> Tensor:
        """1 for each pair that has an edge left under a mask, else 0."""
        kept = torch.nn.functional.pad(edge_mask.cumsum(0, dtype=torch.int32), (1, 0))[self.group_ends]
        return (kept.diff(prepend=kept.new_zeros(1)) > 0).to(dtype)
