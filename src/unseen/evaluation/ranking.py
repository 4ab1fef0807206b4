"""Filtered ranks with ties, and the metrics made of them.

For one wanted answer a of a query, the *pool* is the candidates without all answers of the query. With `better` members
of the pool scored above a and `equal` ones scored the same:

| rank | value |
| --- | --- |
| optimistic | 1 + better |
| expected | 1 + better + equal / 2 |
| pessimistic | 1 + better + equal |

If ties are broken at random, the place of a is uniform over better + 1, ..., better + equal + 1, and its mean is the
expected rank. MRR is 1 / expected rank. Hits@k is the *chance* that the place is at most k: (k - better) / (equal + 1),
cut to [0, 1]. A rank is one number, but "among the first k" is an event: a method that ties an answer with 29 others
shows it among the first ten once in three times, where a threshold on the expected rank would say never. It is also
what the paper measures: its edge-type heuristic shuffles ties, and only this gives its numbers.
Without ties all definitions agree. An answer that is not a candidate is never found: its rank comes after the
whole pool.

Counting costs one pass over the candidates, with a binary search among the wanted scores only for candidates that beat
the lowest of them; nothing is sorted but the wanted scores. The numbers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import EvaluationError
from unseen.graph.compiling import compiled, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.query_table import Ragged

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Scores = NDArray[np.floating[Any]]
    Ids = NDArray[np.int32]
    Mask = NDArray[np.bool_]
    Rows = tuple[Counts, Ids]
    ScoreRows = tuple[Counts, Scores]


@dataclass(frozen=True, eq=False)
class Ranks:
    """For each wanted answer: how many of its pool are scored higher, and how many the same."""

    better: Counts
    equal: Counts

    @property
    def expected(self) -> Floats:
        """The mean place when ties are broken at random."""
        return 1.0 + self.better + self.equal / 2

    @property
    def optimistic(self) -> Floats:
        """The place when ties are broken in favour of the answer."""
        return (1 + self.better).astype(np.float64)

    @property
    def pessimistic(self) -> Floats:
        """The place when ties are broken against the answer."""
        return (1 + self.better + self.equal).astype(np.float64)

    def hits_at(self, k: int) -> Floats:
        """The chance of a place among the first k when ties are broken at random."""
        return np.clip((k - self.better) / (self.equal + 1), 0.0, 1.0)

    def chosen(self, mask: Mask) -> Ranks:
        """The ranks of some of the answers."""
        return Ranks(self.better[mask], self.equal[mask])


def filtered_ranks(scores: Scores, wanted: Ragged, others: Ragged, candidates: Ids) -> Ranks:
    """The ranks of the `wanted` answers of each row of `scores`, in order.

    The pool of row i is `candidates` without `wanted.row(i)` and `others.row(i)`, which never overlap.
    """
    is_candidate = np.zeros(scores.shape[1], bool)
    is_candidate[candidates] = True
    found = np.zeros((2, len(wanted.values)), np.int64)
    wanted_rows, other_rows = (wanted.offsets, wanted.values), (others.offsets, others.values)
    row = _count(np.ascontiguousarray(scores), candidates, is_candidate, wanted_rows, other_rows, found)
    if row >= 0:
        raise EvaluationError(f"the method scored a candidate NaN, which has no rank (query {row} of its batch)")
    return Ranks(found[0], found[1])


def mean_by_row(values: Floats, lengths: Counts) -> Floats:
    """The means of consecutive values along the last axis, `lengths` of them at a time; empty rows are left out."""
    filled = lengths[lengths > 0]
    if not len(filled):
        return np.empty((*values.shape[:-1], 0))
    sums: Floats = np.add.reduceat(values, np.cumsum(filled) - filled, axis=-1)
    return sums / filled


def roc_auc(scores: Scores, easy: Ragged, hard: Ragged) -> Floats:
    """For each row the chance that an easy answer is scored above a hard one, ties half; NaN without both kinds."""
    return separation(scores_at(scores, easy), easy, scores_at(scores, hard), hard)


def scores_at(scores: Scores, chosen: Ragged) -> Scores:
    """The scores of some entities of each row, one row after the other."""
    values: Scores = scores[np.repeat(np.arange(len(chosen)), chosen.lengths), chosen.values]
    return values


def separation(easy_scores: Scores, easy: Ragged, hard_scores: Scores, hard: Ragged) -> Floats:
    """`roc_auc` from the scores of the answers alone."""
    result = np.full(len(easy), np.nan)
    _separate((easy.offsets, easy_scores), (hard.offsets, hard_scores), result)
    return result


@compiled
def _count(scores: Scores, candidates: Ids, is_candidate: Mask, wanted: Rows, others: Rows, found: Counts) -> int:
    """Fill `found` with the numbers of better and of equal ones, row by row; the row of a NaN, or -1."""
    for row in range(len(scores)):
        first, last = wanted[0][row], wanted[0][row + 1]
        answers = (wanted[1][first:last], others[1][others[0][row] : others[0][row + 1]])
        if first < last and not _count_row(scores[row], candidates, is_candidate, answers, found[:, first:last]):
            return row
    return -1


@inner
def _count_row(line: Scores, candidates: Ids, is_candidate: Mask, answers: tuple[Ids, Ids], found: Counts) -> bool:
    """Fill the numbers of one row; whether it was free of NaN."""
    wanted, others = answers
    levels = _distinct(np.sort(line[wanted]))
    counts = np.zeros((2, len(levels) + 1), np.int64)
    pool = _add(line, candidates, is_candidate, levels, 1, counts)
    if pool < 0 or np.isnan(levels[-1]):
        return False
    pool += _add(line, wanted, is_candidate, levels, -1, counts)
    pool += _add(line, others, is_candidate, levels, -1, counts)
    for level in range(len(levels) - 1, -1, -1):
        counts[0, level] += counts[0, level + 1]
    for place in range(len(wanted)):
        level = first_not_below(levels, line[wanted[place]])
        can_be_found = is_candidate[wanted[place]]
        found[0, place] = counts[0, level + 1] if can_be_found else pool
        found[1, place] = counts[1, level] if can_be_found else 0
    return True


@compiled
def _add(line: Scores, ids: Ids, is_candidate: Mask, levels: Scores, sign: int, counts: Counts) -> int:
    """Count candidates by how many levels they beat and by the level they tie with; how many, or -1 for a NaN."""
    counted, lowest = 0, levels[0]
    for entity in ids:
        if not is_candidate[entity]:
            continue
        counted += sign
        score = line[entity]
        if score < lowest:
            continue
        if np.isnan(score):
            return -1
        level = first_not_below(levels, score)
        counts[0, level] += sign
        if level < len(levels) and levels[level] == score:
            counts[1, level] += sign
    return counted


@compiled
def _distinct(ordered: Scores) -> Scores:
    """Sorted values, each once; written over the front of `ordered`."""
    kept = 1
    for value in ordered[1:]:
        if value != ordered[kept - 1]:
            ordered[kept] = value
            kept += 1
    return ordered[:kept]


@inner
def first_not_below(levels: Scores, score: float) -> int:
    """The first position whose level is at least `score`; a little quicker than `np.searchsorted`."""
    low, high = 0, len(levels)
    while low < high:
        middle = (low + high) // 2
        if levels[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _separate(easy: ScoreRows, hard: ScoreRows, result: Floats) -> None:
    """Fill `result` with each row's share of pairs in the right order."""
    for row in range(len(result)):
        easy_scores = easy[1][easy[0][row] : easy[0][row + 1]]
        levels = np.sort(hard[1][hard[0][row] : hard[0][row + 1]])
        if len(easy_scores) == 0 or len(levels) == 0:
            continue
        right = 0.0
        for score in easy_scores:
            right += (first_not_below(levels, score) + np.searchsorted(levels, score, side="right")) / 2
        result[row] = right / (len(easy_scores) * len(levels))
