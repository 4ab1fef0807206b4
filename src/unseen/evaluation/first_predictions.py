"""The predictions that a person sees first, and which of them are hidden truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.evaluation.query_sets import Questions


def first_predictions(
    values: NDArray[np.floating], asked: Questions, count: int
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """For each question the largest `count` probabilities among what is not known, and whether they are wanted.

    `values[i]` are the probabilities of all entities as answers to question i. Known answers and entities that are no
    candidates are left out; where too few remain, the rest of a row is negative.
    """
    shown = np.full(values.shape, -1.0, values.dtype)
    shown[:, asked.candidates] = values[:, asked.candidates]
    is_wanted = np.zeros(values.shape, bool)
    for row in range(len(asked)):
        shown[row, asked.others.row(row)] = -1
        is_wanted[row, asked.wanted.row(row)] = True
    first = np.argsort(-shown, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(shown, first, axis=1), np.take_along_axis(is_wanted, first, axis=1)
