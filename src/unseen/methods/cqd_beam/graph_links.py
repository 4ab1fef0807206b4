"""One graph as CQD-Beam sees it: the links a method scores, the links that are there, and who can be an answer.

Only entities with an edge are tails of a predicted link; the others (of a split that is not asked, say) would waste
beams. Blocks of entities are ranges of ids; those without a candidate are never scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.protocols import LinkScores
from unseen.methods.cqd_beam.observed_links import ObservedLinks

MOST_CELLS = {"cpu": 1 << 23, "cuda": 1 << 28}
"""(row, entity) memberships computed at once: 32 MB on the CPU, 1 GB on a GPU."""
SMALLEST_BLOCK = {"cpu": 1 << 13, "cuda": 1 << 16}
"""Entities of a block at the least: below, a matrix product is not worth its call."""


class GraphFacts:
    """What the graph alone says, on one device; holds arrays of its own and not the graph."""

    def __init__(self, graph: KnowledgeGraph, device: torch.device) -> None:
        self.device, self.num_entities = device, graph.num_entities
        self.observed = ObservedLinks.of(graph, device)
        mask = np.zeros(graph.num_entities, bool)
        mask[graph.connected_entities] = True
        self.is_candidate: Bool[Tensor, " entity"] = torch.from_numpy(mask).to(device)
        self._before: NDArray[np.int64] = np.concatenate([[0], np.cumsum(mask)])
        self._ends = (graph.heads, graph.tails)

    @cached_property
    def popularity(self) -> Float[Tensor, " entity"]:
        """log(1 + degree) of every entity, less its mean over the candidates; counted when first asked for."""
        logarithms = np.log1p(np.bincount(np.concatenate(self._ends), minlength=self.num_entities)).astype(np.float32)
        found = torch.from_numpy(logarithms).to(self.device)
        return found - found[self.is_candidate].mean() if bool(self.is_candidate.any()) else found

    def candidates_in(self, start: int, stop: int) -> int:
        """How many candidates a range of ids has."""
        return int(self._before[stop] - self._before[start])


@dataclass(frozen=True, eq=False)
class GraphLinks:
    """A graph, its facts and its scored links; made for one call and forgotten after it."""

    graph: KnowledgeGraph
    scores: LinkScores
    facts: GraphFacts
    affine: Float[Tensor, "2 relation"] | None = None
    """Factor and shift of every directed relation, where they were learned."""
    popularity: float = 0.0
    """How much the degree of a tail counts."""

    @property
    def device(self) -> torch.device:
        """Where everything is computed."""
        return self.facts.device

    @property
    def num_entities(self) -> int:
        """Entities of the graph's vocabulary."""
        return self.facts.num_entities

    @cached_property
    def most_cells(self) -> int:
        """(row, entity) pairs that are computed at once."""
        return MOST_CELLS.get(self.device.type, MOST_CELLS["cpu"])

    @property
    def smallest_block(self) -> int:
        """Entities of a block at the least."""
        return SMALLEST_BLOCK.get(self.device.type, SMALLEST_BLOCK["cpu"])

    def block_size(self, rows: int) -> int:
        """Entities of a block for so many rows."""
        return max(1, min(self.num_entities, max(self.smallest_block, self.most_cells // max(1, rows))))

    def blocks(self, size: int) -> Iterator[tuple[int, int]]:
        """The ranges of ids, all together."""
        for start in range(0, self.num_entities, size):
            yield start, min(start + size, self.num_entities)

    def logits(self, towards: Float[Tensor, "row dim"], start: int, stop: int) -> Float[Tensor, "row block"]:
        """The logits of a block, in float32 and for the caller to write over: never a part of what a scorer keeps."""
        logits = self.scores.block(towards, start, stop).float()
        own = logits.clone() if logits._is_view() else logits
        return own.add_(self.facts.popularity[start:stop], alpha=self.popularity) if self.popularity else own

    def candidate_logits(self, towards: Float[Tensor, "row dim"]) -> Iterator[Float[Tensor, "row _"]]:
        """The logits of all candidates, block by block."""
        for start, stop in self.blocks(self.block_size(len(towards))):
            count = self.facts.candidates_in(start, stop)
            if count:
                logits = self.logits(towards, start, stop)
                yield logits if count == stop - start else logits[:, self.facts.is_candidate[start:stop]]

    def only_candidates_(
        self, values: Float[Tensor, "row block"], start: int, outside: float
    ) -> Float[Tensor, "row block"]:
        """The values of a block with `outside` written over those of entities that are not candidates."""
        stop = start + values.shape[1]
        if self.facts.candidates_in(start, stop) < stop - start:
            values.masked_fill_(~self.facts.is_candidate[start:stop], outside)
        return values


def device_of(scores: LinkScores, graph: KnowledgeGraph) -> torch.device:
    """Where a method's link scores are computed: its own word, or where a first vector is."""
    device = getattr(scores, "device", None)
    if device is not None:
        return torch.device(device)
    if not (graph.num_entities and graph.num_relations):
        return torch.device("cpu")
    first: Int[Tensor, " row"] = torch.zeros(1, dtype=torch.int64)
    return scores.towards(first, first).device
