"""Filtered ranks from scores that come block by block, so that no matrix of queries x entities is ever needed.

The blocks are walked twice. The first walk picks out the scores of the answers. The second counts, for every wanted
answer, how many candidates are scored higher and how many the same; what other answers add to that is taken off again.
The numbers are those of `ranking.filtered_ranks`, exactly, as long as both walks give the same scores.

On the CPU counting is one compiled pass over each block. On a GPU a block is compared with one wanted score after
the other; only counts come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unseen.errors import EvaluationError
from unseen.evaluation.ranking import Ranks, first_not_below
from unseen.graph.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.datasets.query_table import Ragged
    from unseen.logic.protocols import ScoreBlocks

    Ids = NDArray[np.int32]
    Counts = NDArray[np.int64]
    Scores = NDArray[np.floating[Any]]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StreamedRanks:
    """The ranks of the wanted answers, and the scores of all answers in the order they were given."""

    ranks: Ranks
    wanted_scores: Scores
    other_scores: Scores


def streamed_ranks(scores: ScoreBlocks, wanted: Ragged, others: Ragged, candidates: Ids) -> StreamedRanks:
    """The ranks of the `wanted` answers of each query among `candidates` without all answers."""
    wanted_scores, other_scores = _gathered(scores, (wanted, others))
    levels = Levels(wanted, wanted_scores)
    is_candidate = np.zeros(
        1 + max(int(ids.max(initial=0)) for ids in (candidates, wanted.values, others.values)), bool
    )
    is_candidate[candidates] = True
    levels.count(scores, candidates)
    for answers, values in ((wanted, wanted_scores), (others, other_scores)):
        levels.take_off(answers, values, is_candidate[answers.values])
    ranks = levels.ranks(len(candidates), (wanted, others), is_candidate)
    return StreamedRanks(ranks, wanted_scores, other_scores)


class Levels:
    """The wanted scores of every query in ascending order, and how many candidates lie above and on each."""

    def __init__(self, wanted: Ragged, scores: Scores) -> None:
        self.wanted, self.scores = wanted, scores
        owners = np.repeat(np.arange(len(wanted)), wanted.lengths)
        self.values = scores[np.lexsort((scores, owners))]
        self.counts = np.zeros((2, len(scores) + len(wanted)), np.int64)
        """Of query i from position offsets[i] + i: how many candidates beat so many levels, and how many tie."""

    def count(self, scores: ScoreBlocks, candidates: Ids) -> None:
        """Walk over all blocks and count their candidates."""
        device_counter: DeviceCounter | None = None
        for start, block in scores.blocks():
            first, last = np.searchsorted(candidates, [start, start + block.shape[1]])
            here = candidates[first:last] - start
            if not len(here):
                continue
            if block.device.type == "cpu":
                self.count_block(block.detach().float().numpy(), here)
            else:
                device_counter = device_counter or DeviceCounter(self, block.device)
                device_counter.count_block(block.detach().float(), here)
        if device_counter is not None:
            device_counter.finish()

    def count_block(self, block: Scores, here: Ids) -> None:
        """Count the candidates of a block that is on this machine; `here` are their columns."""
        row = _tally(np.ascontiguousarray(block), here, self.wanted.offsets, self.values, self.counts)
        if row >= 0:
            raise EvaluationError(f"the method scored a candidate NaN, which has no rank (query {row} of its batch)")

    def take_off(self, answers: Ragged, values: Scores, is_candidate: Mask) -> None:
        """Answers are not counted: their own numbers come off again."""
        _take_off((answers.offsets, values), is_candidate, self.wanted.offsets, self.values, self.counts)

    def ranks(self, num_candidates: int, answers: tuple[Ragged, Ragged], is_candidate: Mask) -> Ranks:
        """The ranks of the wanted answers; those of answers that are not candidates come after the whole pool."""
        found = np.zeros((2, len(self.scores)), np.int64)
        _look_up((self.wanted.offsets, self.scores), self.values, self.counts, found)
        pool = np.full(len(self.wanted), num_candidates, np.int64)
        for some in answers:
            owners = np.repeat(np.arange(len(some)), some.lengths)
            pool -= np.bincount(owners, weights=is_candidate[some.values], minlength=len(some)).astype(np.int64)
        outside = ~is_candidate[self.wanted.values]
        found[0, outside] = np.repeat(pool, self.wanted.lengths)[outside]
        found[1, outside] = 0
        return Ranks(found[0], found[1])


class DeviceCounter:
    """Counts on a GPU: queries with most wanted answers first, so that level j concerns only the first of them."""

    def __init__(self, levels: Levels, device: torch.device) -> None:
        self.levels = levels
        lengths = levels.wanted.lengths
        self.order = np.argsort(-lengths, kind="stable")
        self.rows = torch.from_numpy(self.order).to(device)
        self.with_level = [int((lengths > level).sum()) for level in range(int(lengths.max(initial=0)))]
        padded = np.zeros((len(lengths), len(self.with_level)), np.float32)
        for row, query in enumerate(self.order):
            padded[row, : lengths[query]] = levels.values[levels.wanted.offsets[query] :][: lengths[query]]
        self.thresholds = torch.from_numpy(padded).to(device)
        self.above, self.not_below = (torch.zeros(padded.shape, dtype=torch.int64, device=device) for _ in range(2))
        self.found_nan = torch.zeros((), dtype=torch.bool, device=device)

    def count_block(self, block: Tensor, here: Ids) -> None:
        """Count the candidates of a block; `here` are their columns."""
        columns = None if len(here) == block.shape[1] else torch.from_numpy(here.astype(np.int64)).to(block.device)
        some = block[self.rows] if columns is None else block[self.rows][:, columns]
        self.found_nan |= some.isnan().any()
        for level, count in enumerate(self.with_level):
            threshold = self.thresholds[:count, level : level + 1]
            self.above[:count, level] += (some[:count] > threshold).sum(dim=1)
            self.not_below[:count, level] += (some[:count] >= threshold).sum(dim=1)

    def finish(self) -> None:
        """Hand the counts over."""
        if bool(self.found_nan):
            raise EvaluationError("the method scored a candidate NaN, which has no rank")
        above, not_below = self.above.cpu().numpy(), self.not_below.cpu().numpy()
        offsets, lengths = self.levels.wanted.offsets, self.levels.wanted.lengths
        for row, query in enumerate(self.order):
            place, length = offsets[query] + query, lengths[query]
            mine = np.append(above[row, :length], 0)
            self.levels.counts[0, place + 1 : place + 1 + length] += mine[:-1] - mine[1:]
            self.levels.counts[1, place : place + length] += not_below[row, :length] - above[row, :length]


def _gathered(scores: ScoreBlocks, parts: tuple[Ragged, ...]) -> list[Scores]:
    """The scores of some entities of each query, in one walk over the blocks."""
    rows = np.concatenate([np.repeat(np.arange(len(part)), part.lengths) for part in parts])
    entities = np.concatenate([part.values for part in parts]).astype(np.int64)
    order = np.argsort(entities, kind="stable")
    rows, entities = rows[order], entities[order]
    found = []
    for start, block in scores.blocks():
        first, last = np.searchsorted(entities, [start, start + block.shape[1]])
        places = [torch.from_numpy(ids[first:last]).to(block.device) for ids in (rows, entities - start)]
        found.append(block[places[0], places[1]].detach())
    values = torch.cat(found).float().cpu().numpy() if found else np.empty(0, np.float32)
    if len(values) != len(entities):
        raise EvaluationError(f"the method scored {len(values)} of {len(entities)} answers: its blocks have gaps")
    in_order = np.empty_like(values)
    in_order[order] = values
    return list(np.split(in_order, np.cumsum([len(part.values) for part in parts])[:-1]))


@compiled
def _tally(block: Scores, here: Ids, offsets: Counts, levels: Scores, counts: Counts) -> int:
    """Add the candidates of a block to the counts of every row; the row of a NaN, or -1."""
    for row in range(len(block)):
        mine, line = levels[offsets[row] : offsets[row + 1]], block[row]
        if len(mine) == 0:
            continue
        lowest, place = mine[0], offsets[row] + row
        for entity in here:
            score = line[entity]
            if score < lowest:
                continue
            if np.isnan(score) or np.isnan(lowest):
                return row
            level = first_not_below(mine, score)
            counts[0, place + level] += 1
            if level < len(mine) and mine[level] == score:
                counts[1, place + level] += 1
    return -1


@compiled
def _take_off(
    answers: tuple[Counts, Scores], is_candidate: Mask, offsets: Counts, levels: Scores, counts: Counts
) -> None:
    """Undo `_tally` for answers that are candidates."""
    starts, scores = answers
    for row in range(len(offsets) - 1):
        mine, place = levels[offsets[row] : offsets[row + 1]], offsets[row] + row
        if len(mine) == 0:
            continue
        for answer in range(starts[row], starts[row + 1]):
            if is_candidate[answer] and scores[answer] >= mine[0]:
                level = first_not_below(mine, scores[answer])
                counts[0, place + level] -= 1
                if level < len(mine) and mine[level] == scores[answer]:
                    counts[1, place + level] -= 1


@compiled
def _look_up(wanted: tuple[Counts, Scores], levels: Scores, counts: Counts, found: Counts) -> None:
    """Fill `found` with the numbers of better and of equal ones of every wanted answer; sums up `counts` for it."""
    offsets, scores = wanted
    for row in range(len(offsets) - 1):
        first, last = offsets[row], offsets[row + 1]
        place = first + row
        for level in range(last - first - 1, -1, -1):
            counts[0, place + level] += counts[0, place + level + 1]
        for answer in range(first, last):
            level = first_not_below(levels[first:last], scores[answer])
            found[0, answer] = counts[0, place + level + 1]
            found[1, answer] = counts[1, place + level]
