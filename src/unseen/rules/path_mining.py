"""Rules over paths: proposed by facts, then measured, in small pieces of work.

Memory beside the graph: 50 MB for the table of each thread, and 100 bytes for each of at most 4 million proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.rules.body_sampling import measure_bodies
from unseen.rules.proposing import count_bodies, count_long_bodies, row_starts, sampled_facts
from unseen.rules.rule_set import SMOOTHING, PathRules
from unseen.rules.scratch import Scratch
from unseen.rules.tally import EMPTY, new_tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.rules.rounds import Round

    Proposed = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

FACTS_PER_SAMPLE, LONG_FACTS_PER_SAMPLE, LONG_WIDTH = 10, 5, 16
LEAST_SAMPLES, LEAST_LONG_SAMPLES = 25, 10
"""Sources from which a body is followed in any case: of fewer, one hub more or less decides."""
LEAST_SUPPORT, LEAST_CONFIDENCE = 2, 0.001
ENOUGH_HITS = 20
"""From so many sampled hits on, confidence is their share of the sampled pairs; below, facts counted over pairs."""
MOST_PROPOSALS, LEAST_PROPOSALS = 4_000_000, 100
"""Proposals of all heads together, and those that each head may have in any case."""
FACTS_AT_ONCE, STEPS_AT_ONCE = 256, 2500
"""Facts that propose bodies, and sources from which bodies are followed, in one compiled call."""


def mined_paths(this: Round, heads: NDArray[np.int64]) -> PathRules:
    """The rules over paths for some directed relations."""
    starts = row_starts(this.adjacency)
    facts = np.diff(starts[this.adjacency.relation_rows])[heads]
    most = max(LEAST_PROPOSALS, MOST_PROPOSALS // max(1, this.adjacency.num_relations))
    frequent_first = heads[np.argsort(-facts, kind="stable")].tolist()
    proposed = list(this.each("proposing", lambda head: _proposed(this, head, starts, most), frequent_first, 0.35))
    short = _joined([pair[0] for pair in proposed])
    long = _joined([pair[1] for pair in proposed])
    stamps = Scratch(lambda: np.zeros(this.adjacency.num_entities + 1, np.int64))
    found = [_measured(this, short, max(LEAST_SAMPLES, this.samples), stamps, ("measuring", 0.6))]
    if len(long[0]):
        share = ("measuring long bodies", 0.7)
        found.append(_measured(this, long, max(LEAST_LONG_SAMPLES, this.samples // 4), stamps, share))
    joined = (np.concatenate([getattr(part, name) for part in found]) for name in vars(found[0]))
    return PathRules(*joined).sorted()


def _proposed(this: Round, head: int, starts: NDArray[np.int64], most: int) -> tuple[Proposed, Proposed]:
    """Short and long bodies of one head, with the number of facts that they hold for."""
    adjacency, salt = this.adjacency, np.uint64(this.seed * 1_000_003 + head)
    total = int(starts[adjacency.relation_rows[head + 1]] - starts[adjacency.relation_rows[head]])
    wanted = FACTS_PER_SAMPLE * this.samples
    facts = sampled_facts(adjacency, head, starts, wanted, salt)
    bodies, counts, done = _counted(
        this, facts, lambda low, high, *table: count_bodies(adjacency, head, *facts, low, high, salt, *table)
    )
    short = _kept(head, bodies, counts, total / max(1, done), most)
    some = sampled_facts(adjacency, head, starts, LONG_FACTS_PER_SAMPLE * this.samples, salt)
    bodies, counts, done = _counted(
        this, some, lambda low, high, *table: count_long_bodies(adjacency, *some, low, high, LONG_WIDTH, salt, *table)
    )
    return short, _kept(head, bodies, counts, total / max(1, done), min(most, this.samples))


def _counted(
    this: Round, facts: tuple[NDArray[np.int32], NDArray[np.int32]], count: Callable[..., Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Bodies, for how many facts they hold, and how many facts were looked at before the time was up."""
    table, used, done = new_tally(256), 0, 0
    while done < len(facts[0]) and not (done and this.is_over()):
        high = min(done + FACTS_AT_ONCE, len(facts[0]))
        table, used = count(done, high, table, used)
        done = high
    kept = table[0] != EMPTY
    return table[0][kept], table[1][kept], done


def _kept(head: int, bodies: NDArray[np.int64], counts: NDArray[np.float64], scale: float, most: int) -> Proposed:
    """Bodies that hold for two facts at least, the `most` frequent of them."""
    chosen = np.flatnonzero(counts >= LEAST_SUPPORT)
    chosen = chosen[np.lexsort((bodies[chosen], -counts[chosen]))[:most]]
    return np.full(len(chosen), head, np.int32), bodies[chosen], counts[chosen] * scale


def _joined(parts: Sequence[Proposed]) -> Proposed:
    """All proposals, by body, then head."""
    heads = np.concatenate([np.empty(0, np.int32), *(part[0] for part in parts)])
    bodies = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
    counts = np.concatenate([np.empty(0), *(part[2] for part in parts)])
    order = np.lexsort((heads, bodies))
    return heads[order], bodies[order], counts[order]


def _measured(
    this: Round,
    proposals: Proposed,
    samples: int,
    stamps: Scratch[NDArray[np.int64]],
    stage: tuple[str, float],
) -> PathRules:
    """The proposals that hold often enough; those that time did not suffice for are left out."""
    heads, bodies, facts = proposals
    distinct, starts = np.unique(bodies, return_index=True)
    offsets = np.append(starts, len(bodies)).astype(np.int64)
    pairs, hits, seen = np.zeros(len(distinct)), np.zeros(len(heads)), np.zeros(len(distinct), np.int64)
    size = max(1, STEPS_AT_ONCE // samples)

    def measure(low: int) -> None:
        high = min(low + size, len(distinct))
        own = slice(offsets[low], offsets[high])
        edges = offsets[low : high + 1] - offsets[low]
        piece = (distinct[low:high], edges, heads[own], samples, this.seed)
        with stamps.lent() as stamp:
            measure_bodies(this.adjacency, *piece, pairs[low:high], hits[own], seen[low:high], stamp)

    chunks = np.arange(0, len(distinct), size)
    if len(chunks):
        chunks = chunks[np.argsort(-np.add.reduceat(facts, offsets[chunks]), kind="stable")]
    for _ in this.each(stage[0], measure, chunks.tolist(), stage[1]):
        pass
    per_rule = np.diff(offsets)
    all_pairs = np.repeat(pairs, per_rule)
    scale = np.repeat(pairs / np.maximum(1, seen), per_rule)
    is_sampled_well = (hits >= ENOUGH_HITS * scale) | (len(distinct) > 0 and _is_long(this, bodies))
    support = np.where(is_sampled_well, hits, np.minimum(facts, all_pairs))
    kept = (support >= LEAST_SUPPORT) & (support >= LEAST_CONFIDENCE * (all_pairs + SMOOTHING))
    values = (column[kept].astype(np.float32) for column in (support, all_pairs))
    return PathRules(heads[kept], _steps(bodies[kept], this.adjacency.num_relations + 1), *values)


def _is_long(this: Round, bodies: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a body has three steps; the facts that propose such a body are not counted in full."""
    return bodies >= (this.adjacency.num_relations + 1) ** 2


def _steps(bodies: NDArray[np.int64], base: int) -> NDArray[np.int32]:
    """The directed relations of bodies that are written as numbers; -1 behind the last."""
    parts = [bodies % base, bodies // base % base - 1, bodies // base**2 - 1]
    return np.stack(parts, axis=1).astype(np.int32)
