"""Which candidate queries become questions of a benchmark, and what counts as their easy answers.

The published rules have quirks: easy answers of a negation include what the complete graph refutes, and easy answers
may be any number. `compatible` keeps both; otherwise every listed answer is true and their whole number is capped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.datasets.answering import AnswerBits, members
from unseen.datasets.query_table import QueryTable, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]

MAX_ANSWERS = 1000


class SplitGraphs(NamedTuple):
    """What a split's queries are sampled from: `complete` is true, `observed` is known; equal in the train split."""

    name: str
    observed: KnowledgeGraph
    complete: KnowledgeGraph

    @property
    def is_training(self) -> bool:
        """Whether nothing is missing, so that every answer is easy."""
        return self.observed is self.complete


@dataclass(frozen=True)
class SelectionRules:
    """The rules for one shape in one split."""

    shape: Shape
    training: bool
    compatible: bool = False

    def accepted(self, found: AnswerBits) -> NDArray[np.bool_]:
        """Which queries are kept: some answers, not too many, and in validation and test something to predict.

        A negation must also have a false positive there: an answer that only the missing edges refute.
        """
        complete, missed, refuted = found.counts[:, 0], found.counts[:, 1], found.counts[:, 2]
        if self.training:
            return (complete > 0) & (complete <= MAX_ANSWERS)
        kept: NDArray[np.bool_] = (missed > 0) & (np.maximum(missed, refuted) <= MAX_ANSWERS)
        if self.shape.has_negation:
            kept &= refuted > 0
        return kept if self.compatible else kept & (complete <= MAX_ANSWERS)

    def table(self, slots: Ids, found: AnswerBits) -> QueryTable:
        """The queries with their answers."""
        if self.training:
            return QueryTable(self.shape, slots, members(found.complete), Ragged.empty(len(slots)))
        easy = found.observed if self.compatible else found.confirmed
        return QueryTable(self.shape, slots, members(easy), members(found.missed))
