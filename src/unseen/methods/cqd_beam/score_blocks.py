"""The scores of a batch as blocks of entities, the same values each time they are walked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.logic.algebra import Query
from unseen.methods.cqd_beam.beam_execution import BeamExecution
from unseen.methods.cqd_beam.graph_links import GraphLinks


class BeamScoreBlocks:
    """The answers of some executions together, row by row in the order of the queries."""

    def __init__(
        self,
        num_queries: int,
        executed: Sequence[tuple[BeamExecution, list[int]]],
        queries: Sequence[Query],
        links: GraphLinks,
    ) -> None:
        self.num_queries, self.links = num_queries, links
        self._stages = [(execution.answers([queries[row] for row in rows]), rows) for execution, rows in executed]

    def blocks(self) -> Iterator[tuple[int, Float[Tensor, "query block"]]]:
        """The first entity of every block and the scores of its entities."""
        size = min((stage.block_size for stage, _ in self._stages), default=self.links.num_entities)
        for start, stop in self.links.blocks(max(1, size)):
            yield start, self._scores(start, stop)

    def _scores(self, start: int, stop: int) -> Float[Tensor, "query block"]:
        with torch.no_grad():
            if len(self._stages) == 1:
                return self._stages[0][0].values(start, stop)
            scores = torch.empty(self.num_queries, stop - start, device=self.links.device)
            for stage, rows in self._stages:
                scores[rows] = stage.values(start, stop)
            return scores
