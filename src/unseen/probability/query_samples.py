"""Observations of one query with known answers: how many entities have each membership, and how many are true.

Entities are counted on the grid of `probability.soft_rank`, some hundred numbers a query however large the graph is, so
thousands of queries are kept at once and a calibration is fitted to them, and judged by them, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.traverse import Traversal
from unseen.nn.query_loss import logit
from unseen.probability.query_calibration import answer_masks, ceiling_of, query_features, scaled_logits
from unseen.probability.soft_rank import above_points, grid, spread

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-9
EXACT_RANKS = 64
"""Beyond these the grid may be coarser."""
COARSE = 8
"""Grid points that are then one."""


@dataclass(frozen=True, eq=False)
class CountedAnswers:
    """Entities of one query by value, rising: how many others lie above, how many there are, how many are answers."""

    values: Floats
    above: Floats
    counts: Floats
    true: Floats

    def first(self, number: int) -> CountedAnswers:
        """The first entities by rank, parts of them where a grid point has more."""
        before = np.cumsum(self.counts[::-1])[::-1] - self.counts
        taken = np.clip(number - before, 0, self.counts)
        share = taken / np.maximum(self.counts, NEGLIGIBLE)
        kept = taken > NEGLIGIBLE
        return CountedAnswers(self.values[kept], self.above[kept], taken[kept], (self.true * share)[kept])


@dataclass(frozen=True, eq=False)
class QuerySample:
    """A query's features, its entities that are only predicted, and its known answers."""

    features: dict[str, float]
    predicted: CountedAnswers
    known: CountedAnswers

    @classmethod
    def of(
        cls,
        graph: KnowledgeGraph,
        query: Query,
        memberships: Float[Tensor, " entity"],
        is_true: Bool[Tensor, " entity"],
        ceiling: float,
    ) -> QuerySample:
        """What memberships on an incomplete graph say, beside what is true."""
        is_known, is_rival = answer_masks(Traversal(graph), query, memberships.device)
        x, z = scaled_logits(memberships, ceiling_of(query, ceiling)), logit(memberships.double())
        features = query_features(query, int(is_known.sum()), x[is_rival])
        return cls(features, _counted(x[is_rival], is_true[is_rival]), _counted(z[is_known], is_true[is_known]))


def _counted(values: Float[Tensor, " entity"], is_true: Bool[Tensor, " entity"]) -> CountedAnswers:
    """The entities on the grid; where many lie above, neighbouring grid points are one."""
    points = spread(values)
    above = (above_points(points) - 0.5).clamp(min=0)
    columns = [column.cpu().numpy() for column in (grid(), above, points, spread(values, is_true))]
    point = np.arange(len(columns[0]))
    cell = np.where(columns[1] < EXACT_RANKS, point, point // COARSE * COARSE)
    return _merged(cell, *columns)


def _merged(cell: NDArray[np.int64], values: Floats, above: Floats, counts: Floats, true: Floats) -> CountedAnswers:
    """The means of the points of each cell, and their sums; cells without entities are left out."""
    size = int(cell.max()) + 1
    number, answers = (np.bincount(cell, column, size).astype(np.float64) for column in (counts, true))
    kept = number > NEGLIGIBLE
    means = [np.bincount(cell, counts * column, size)[kept] / number[kept] for column in (values, above)]
    return CountedAnswers(means[0], means[1], number[kept], answers[kept])
