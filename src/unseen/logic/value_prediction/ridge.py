"""Linear regression on marks and measures, with a penalty that keeps rare marks small, by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.logic.value_prediction.traits import TraitMarks

    Numbers = NDArray[np.float64]

STEPS = 20
PENALTY_OF_MEASURES = 2.0


@dataclass(frozen=True)
class Design:
    """Traits of all rows: marks, each row of them of length one, and measures with zeros where they are unknown."""

    rows: NDArray[np.int64]
    marks: NDArray[np.int64]
    sizes: Numbers
    num_marks: int
    measures: Numbers

    @classmethod
    def of(cls, marks: TraitMarks, measures: Numbers) -> Design:
        """The traits of rows; a measure that is unknown says so by a column of its own."""
        known = np.isfinite(measures)
        columns = np.concatenate([np.ones((len(measures), 1)), np.where(known, measures, 0), known], axis=1)
        counts = np.bincount(marks.rows, minlength=len(measures))
        return cls(marks.rows, marks.marks, 1 / np.sqrt(counts[marks.rows].clip(1)), marks.count, columns)

    def applied(self, weights: Numbers) -> Numbers:
        """The sum of the weights of each row's traits."""
        by_marks = np.bincount(
            self.rows, self.sizes * weights[: self.num_marks][self.marks], minlength=len(self.measures)
        )
        return by_marks + self.measures @ weights[self.num_marks :]

    def gathered(self, rows: Numbers) -> Numbers:
        """For each trait the sum over the rows that have it."""
        by_marks = np.bincount(self.marks, self.sizes * rows[self.rows], minlength=self.num_marks)
        return np.concatenate([by_marks, self.measures.T @ rows])


def fitted(design: Design, targets: Numbers, used: NDArray[np.bool_], penalty: float) -> Numbers:
    """The weights that fit the targets of the rows in use."""
    penalties = np.full(design.num_marks + design.measures.shape[1], penalty)
    penalties[design.num_marks :] = PENALTY_OF_MEASURES
    penalties[design.num_marks] = 1e-3
    mask = used.astype(float)
    weights = np.zeros(len(penalties))
    rest = design.gathered(np.where(used, targets, 0.0))
    scale = 1 / (penalties + _squares(design, mask))
    turned = scale * rest
    direction, product = turned.copy(), float(rest @ turned)
    for _ in range(STEPS):
        check_stop()
        if product < 1e-10:
            break
        applied = design.gathered(mask * design.applied(direction)) + penalties * direction
        step = product / float(direction @ applied)
        weights += step * direction
        rest -= step * applied
        turned = scale * rest
        before, product = product, float(rest @ turned)
        direction = turned + (product / before) * direction
    return weights


def _squares(design: Design, mask: Numbers) -> Numbers:
    """The diagonal of the normal equations."""
    marks = np.bincount(design.marks, design.sizes**2 * mask[design.rows], minlength=design.num_marks)
    return np.concatenate([marks, (design.measures**2 * mask[:, None]).sum(axis=0)])
