"""Whole questions from scores of single links: THE place where an executor takes over.

`execute_links` is the one function that turns a `LinkScorer` into answers. It runs the fuzzy-set executor with a
projection that looks at the `BEAM` likeliest members of a set:

    m'(t) = max over the likeliest members h of  m(h) sigmoid(logit(h, r, t))

which for one relation step from an anchor is the sigmoid of the link's logit. CQD-Beam, with its choice of logic and
normalisation, belongs in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution, execute
from unseen.logic.protocols import LinkScorer, Projector
from unseen.methods.known_facts import KnownFactsProjector

BEAM = 32
MOST_CELLS = 1 << 24
"""Logits held at a time."""


def execute_links(
    scorer: LinkScorer,
    graph: KnowledgeGraph,
    queries: Sequence[Query],
    device: torch.device | str,
    *,
    known_facts: bool = True,
) -> Execution:
    """The fuzzy sets of queries and sub-queries; with `known_facts`, projections follow observed edges too."""
    projector: Projector = LinkProjector(scorer)
    return execute(KnownFactsProjector(projector) if known_facts else projector, graph, queries, device=device)


@dataclass(frozen=True)
class LinkProjector:
    """A `Projector` from scores of links; see the module."""

    scorer: LinkScorer
    beam: int = BEAM

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """The best way to each entity from the likeliest members of each set."""
        scores = self.scorer.opened(graph)
        width = max(1, min(self.beam, int((sets > 0).sum(dim=1).max())))
        members, heads = sets.topk(width, dim=1)
        towards = scores.towards(heads.flatten(), relations.repeat_interleave(width))
        size = max(1, MOST_CELLS // max(1, len(towards)))
        reached = torch.empty_like(sets)
        for start in range(0, scores.num_entities, size):
            stop = min(start + size, scores.num_entities)
            logits = scores.block(towards, start, stop).view(len(sets), width, stop - start)
            reached[:, start:stop] = (logits.sigmoid() * members.unsqueeze(2)).amax(dim=1)
        return reached
