"""Links scored by given vectors: ComplEx over one matrix of entities and one of directed relations.

The logit of (h, r, t) is Re(<h, r, conj(t)>) = (h * r) . t, where * multiplies complex numbers whose real parts fill
the first half of a vector and whose imaginary parts fill the second. This is the smallest `LinkScorer`: embeddings from
anywhere can be asked whole queries with it. Cost of a block: one matrix product, rows x dim x block.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class VectorLinks:
    """The links between the rows of a matrix; bfloat16 entities halve its memory and are multiplied in float32."""

    entities: Float[Tensor, "entity dim"]
    relations: Float[Tensor, "relation dim"]

    @property
    def num_entities(self) -> int:
        """Rows of the matrix."""
        return len(self.entities)

    @property
    def device(self) -> torch.device:
        """Where the vectors are, and where everything is computed."""
        return self.entities.device

    def towards(self, heads: Int[Tensor, " row"], relations: Int[Tensor, " row"]) -> Float[Tensor, "row dim"]:
        """The complex product of head and relation."""
        head, relation = self.entities[heads].float(), self.relations[relations].float()
        (a, b), (c, d) = head.chunk(2, dim=1), relation.chunk(2, dim=1)
        return torch.cat([a * c - b * d, a * d + b * c], dim=1)

    def block(self, towards: Float[Tensor, "row dim"], start: int, stop: int) -> Float[Tensor, "row block"]:
        """The dot product with every entity of the block."""
        return towards @ self.entities[start:stop].to(towards.dtype).t()


@dataclass(frozen=True, eq=False)
class VectorScorer:
    """The same vectors for every graph: only for graphs of the entities and relations that the rows stand for."""

    links: VectorLinks

    def opened(self, graph: KnowledgeGraph) -> VectorLinks:
        """The vectors, if they are as many as the graph has entities and directed relations."""
        has = (len(self.links.entities), len(self.links.relations))
        needs = (graph.num_entities, graph.vocabulary.num_directed_relations)
        if has != needs:
            raise UnseenError(
                f"there are vectors of {has[0]:,} entities and {has[1]:,} directed relations, but the graph has "
                f"{needs[0]:,} and {needs[1]:,}"
            )
        return self.links
