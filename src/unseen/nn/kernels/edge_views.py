"""The edges of a graph as message passing reads them: sorted once, in three orders, on one device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from unseen.errors import TooLarge
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation, inverse_relation
from unseen.nn.kernels.degree_order import DegreeOrder
from unseen.nn.kernels.work_list import WorkList

CHUNK_EDGES = {"cpu": 2048, "cuda": 128}
"""Edges in one piece of work: few enough for balance, so many that what a piece costs by itself does not count."""
MOST_CHUNK_EDGES = 2**20


@dataclass(frozen=True, eq=False)
class View:
    """Edges in rows, by target, source or relation: row i is `offsets[i]` … `offsets[i + 1]`.

    `source`, `relation`, `target` belong to the edge at each place of this order; `position` is the place of that edge
    in the canonical order, so `mask[position]` is a canonical mask in this order. `work` cuts the rows into chunks.
    """

    work: WorkList
    offsets: Int[Tensor, " row_1"]
    source: Int[Tensor, " edge"]
    relation: Int[Tensor, " edge"]
    target: Int[Tensor, " edge"]
    position: Int[Tensor, " edge"]

    def to(self, device: torch.device) -> View:
        """The same view on another device."""
        columns = (self.offsets, self.source, self.relation, self.target, self.position)
        return View(self.work.to(device), *(column.to(device) for column in columns))


class WholeDegrees(NamedTuple):
    """Of the nodes of a part of a graph: the degrees that they have in all of it."""

    of_nodes: Int[Tensor, " node"]
    mean_logarithm: float
    """The mean of log(1 + degree) over all nodes of that graph."""

    def to(self, device: torch.device) -> WholeDegrees:
        """The same on another device."""
        return WholeDegrees(self.of_nodes.to(device), self.mean_logarithm)


@dataclass(frozen=True, eq=False)
class EdgeViews:
    """All directed edges of a graph on one device.

    An edge (head, relation r, tail) stands here twice: as (head, 2r, tail) and as (tail, 2r + 1, head). The *canonical
    order* is by target, then directed relation, then source: `by_target`. Edge masks are given, and positions counted,
    in that order. All columns are int32, but for `keys`, which number the edges so that they can be found. `longest`
    is the length of a chunk of work. Edges of a part of a graph (`whole`) come in any order within a target, so they
    cannot be found by number.
    """

    num_nodes: int
    num_relations: int
    longest: int
    by_target: View
    keys: Int[Tensor, " edge"]
    whole: WholeDegrees | None = None

    @property
    def num_edges(self) -> int:
        """Directed edges: two for each edge of the graph."""
        return len(self.keys)

    @property
    def device(self) -> torch.device:
        """Where the columns are; tensors that pass along these edges must be there too."""
        return self.keys.device

    @classmethod
    def of(cls, graph: KnowledgeGraph, device: torch.device | str = "cpu") -> EdgeViews:
        """The views of a graph: made at the first call for a graph and a device, found again at later ones."""
        place = torch.empty(0, device=device).device  # "cuda" has no number, the device of a tensor has
        known = _VIEWS.setdefault(graph, {})
        if place not in known:
            count = graph.num_relations
            numbers = [[directed_relation(relation, way) for relation in range(count)] for way in (False, True)]
            relations = np.array(numbers, np.int64)[:, graph.relations].ravel()
            sources = np.concatenate([graph.heads, graph.tails])
            targets = np.concatenate([graph.tails, graph.heads])
            columns = (torch.from_numpy(sources), torch.from_numpy(relations), torch.from_numpy(targets))
            size = (graph.num_entities, graph.vocabulary.num_directed_relations)
            known[place] = cls.from_edges(*columns, size=size, device=place)
        return known[place]

    @classmethod
    def from_edges(
        cls,
        sources: Int[Tensor, " edge"],
        relations: Int[Tensor, " edge"],
        targets: Int[Tensor, " edge"],
        *,
        size: tuple[int, int],
        device: torch.device | str = "cpu",
        chunk_edges: int | None = None,
    ) -> EdgeViews:
        """Views of directed edges as they are given, in any order, without repeats; `size`: nodes and relations.

        Cost: a sort on the CPU, and one more for each other view that is asked for: 0.4 s for ten million edges.
        """
        place = torch.device(device)
        longest = min(chunk_edges or CHUNK_EDGES.get(place.type, CHUNK_EDGES["cpu"]), MOST_CHUNK_EDGES)
        columns = [column.to("cpu", torch.int64) for column in (sources, relations, targets)]
        _check(columns, size)
        keys = torch.from_numpy(np.sort(_keys(size, *columns).numpy()))
        edges = _edges_of(keys, size)
        return cls(*size, longest, _view(edges, edges[2], size[0], longest).to(place), keys.to(place))

    @classmethod
    def of_part(
        cls,
        offsets: Int[Tensor, " node_1"],
        sources: Int[Tensor, " edge"],
        relations: Int[Tensor, " edge"],
        num_relations: int,
        whole: WholeDegrees,
    ) -> EdgeViews:
        """Views of a part of a graph on the CPU, to answer with: directed edges that lie by target already, int32."""
        nodes, longest = len(offsets) - 1, CHUNK_EDGES["cpu"]
        targets = torch.repeat_interleave(torch.arange(nodes, dtype=torch.int32), offsets.diff())
        columns = (offsets, sources, relations, targets, torch.arange(len(sources), dtype=torch.int32))
        keys = _keys((nodes, num_relations), sources.long(), relations.long(), targets.long())
        return cls(nodes, num_relations, longest, View(WorkList.of(offsets.long(), longest), *columns), keys, whole)

    def to(self, device: torch.device) -> EdgeViews:
        """The same views on another device."""
        whole = None if self.whole is None else self.whole.to(device)
        parts = (self.by_target.to(device), self.keys.to(device))
        return EdgeViews(self.num_nodes, self.num_relations, self.longest, *parts, whole)

    @cached_property
    def by_source(self) -> View:
        """The edges by source, then in canonical order; sorted when first asked for."""
        edges = self._columns()
        return _view(edges, edges[0], self.num_nodes, self.longest).to(self.device)

    @cached_property
    def by_relation(self) -> View:
        """The edges by relation, then in canonical order; sorted when first asked for."""
        edges = self._columns()
        return _view(edges, edges[1], self.num_relations, self.longest).to(self.device)

    @cached_property
    def by_degree(self) -> DegreeOrder:
        """The nodes by degree, on the host; sorted when first asked for."""
        whole = None if self.whole is None else self.whole.of_nodes.cpu().numpy()
        return DegreeOrder.of(self.by_target.offsets.cpu().numpy(), whole)

    def _columns(self) -> tuple[Tensor, Tensor, Tensor]:
        view = self.by_target
        return view.source.cpu(), view.relation.cpu(), view.target.cpu()

    def positions_of(
        self, sources: Int[Tensor, " wanted"], relations: Int[Tensor, " wanted"], targets: Int[Tensor, " wanted"]
    ) -> Int[Tensor, " wanted"]:
        """Positions, in the canonical order, of edges given by source, directed relation and target; -1 if absent."""
        if self.num_edges == 0:
            return torch.full_like(sources, -1, dtype=torch.int64)
        size = (self.num_nodes, self.num_relations)
        wanted = _keys(size, sources.long(), relations.long(), targets.long())
        found = torch.searchsorted(self.keys, wanted).clamp(max=self.num_edges - 1)
        return torch.where(self.keys[found] == wanted, found, -1)

    @cached_property
    def reverse(self) -> Int[Tensor, " edge"]:
        """The position of each edge read backwards, (target, inverse relation, source); -1 if the graph lacks it."""
        view = self.by_target
        inverse = torch.as_tensor(inverse_relation(view.relation))  # type: ignore[arg-type]
        return self.positions_of(view.target, inverse, view.source).to(torch.int32)

    def mask_without(self, positions: Int[Tensor, " dropped"]) -> Bool[Tensor, " edge"]:
        """The edge mask that keeps all but some edges and those edges read backwards; -1 stands for no edge."""
        mask = torch.ones(self.num_edges, dtype=torch.bool, device=self.device)
        dropped = positions[positions >= 0].long()
        backwards = self.reverse[dropped]
        mask[dropped] = False
        mask[backwards[backwards >= 0].long()] = False
        return mask


_VIEWS: WeakKeyDictionary[KnowledgeGraph, dict[torch.device, EdgeViews]] = WeakKeyDictionary()


def _check(columns: list[Tensor], size: tuple[int, int]) -> None:
    nodes, relations = size
    if nodes * nodes * max(relations, 1) > torch.iinfo(torch.int64).max:
        raise TooLarge(f"{nodes:,} nodes and {relations:,} relations are more than edges can be numbered for")
    if len(columns[0]) > torch.iinfo(torch.int32).max:
        raise TooLarge(f"{len(columns[0]):,} directed edges are more than int32 can count")
    for column, limit in zip(columns, (nodes, relations, nodes), strict=True):
        if len(column) and not 0 <= int(column.min()) <= int(column.max()) < limit:
            raise ValueError(f"an id of an edge lies outside 0 … {limit - 1}")


def _keys(size: tuple[int, int], sources: Tensor, relations: Tensor, targets: Tensor) -> Int[Tensor, " edge"]:
    """One number for each edge; they sort by target, then relation, then source."""
    return (targets * size[1] + relations) * size[0] + sources


def _edges_of(keys: Int[Tensor, " edge"], size: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    """Source, relation and target of numbered edges."""
    nodes, relations = max(size[0], 1), max(size[1], 1)
    rows = keys // nodes
    return keys % nodes, rows % relations, rows // relations


def _view(edges: tuple[Tensor, Tensor, Tensor], row_of: Int[Tensor, " edge"], rows: int, longest: int) -> View:
    """The edges by row, those of a row in canonical order."""
    position = _by_row(row_of)
    offsets = torch.zeros(rows + 1, dtype=torch.int64)
    offsets[1:] = torch.bincount(row_of, minlength=rows).cumsum(0)
    columns = (offsets, *(column[position] for column in edges), position)
    return View(WorkList.of(offsets, longest), *(column.to(torch.int32) for column in columns))


def _by_row(row_of: Int[Tensor, " edge"]) -> Int[Tensor, " edge"]:
    """The edges by row, those of a row in order: numpy sorts numbers several times faster than torch finds an order."""
    own = torch.arange(len(row_of))
    if len(row_of) < 2 or bool((row_of[1:] >= row_of[:-1]).all()):
        return own
    return torch.from_numpy(np.sort((row_of.long() * len(row_of) + own).numpy())) % len(row_of)
