"""Rules over paths: proposed by facts, then measured, in small pieces of work.

Memory beside the graph: 50 MB for the table of each thread, and 100 bytes for each of at most 4 million proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.rules.body_sampling import measure_bodies
from unseen.rules.estimating import Sampled, estimates
from unseen.rules.path_totals import path_totals
from unseen.rules.proposing import count_bodies, count_long_bodies, row_starts, sampled_facts
from unseen.rules.rule_set import SMOOTHING, PathRules
from unseen.rules.scratch import Scratch
from unseen.rules.tally import EMPTY, new_tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.rules.path_totals import PathTotals
    from unseen.rules.rounds import Round

    Proposed = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

FACTS_PER_SAMPLE, LONG_FACTS_PER_SAMPLE, LONG_WIDTH = 10, 5, 16
LEAST_SAMPLES, LEAST_LONG_SAMPLES = 25, 10
"""Sources from which a body is followed in any case: of fewer, one hub more or less decides."""
LEAST_SUPPORT, LEAST_CONFIDENCE = 2, 0.001
MOST_PROPOSALS, LEAST_PROPOSALS = 4_000_000, 100
"""Proposals of all heads together, and those that each head may have in any case."""
NOT_MEASURED = -1
FACTS_AT_ONCE, STEPS_AT_ONCE = 256, 2500
"""Facts that propose bodies, and sources from which bodies are followed, in one compiled call."""


def mined_paths(this: Round, heads: NDArray[np.int64]) -> PathRules:
    """The rules over paths for some directed relations."""
    starts = row_starts(this.adjacency)
    facts = np.diff(starts[this.adjacency.relation_rows])[heads]
    most = max(LEAST_PROPOSALS, MOST_PROPOSALS // max(1, this.adjacency.num_relations))
    frequent_first = heads[np.argsort(-facts, kind="stable")].tolist()
    proposed = list(this.each("proposing", lambda head: _proposed(this, head, starts, most), frequent_first, 0.35))
    short = joined([pair[0] for pair in proposed])
    long = joined([pair[1] for pair in proposed])
    return measured(this, short, long)


def measured(this: Round, short: Proposed, long: Proposed) -> PathRules:
    """The proposals that hold often enough, of bodies of one or two edges and of three."""
    stamps = Scratch(lambda: np.zeros(this.adjacency.num_entities + 1, np.int64))
    totals = path_totals(this)
    found = [_measured(this, short, max(LEAST_SAMPLES, this.samples), stamps, ("measuring", 0.6), totals)]
    if len(long[0]):
        share = ("measuring long bodies", 0.7)
        found.append(_measured(this, long, max(LEAST_LONG_SAMPLES, this.samples // 4), stamps, share, None))
    columns = (np.concatenate([getattr(part, name) for part in found]) for name in vars(found[0]))
    return PathRules(*columns).sorted()


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


def joined(parts: Sequence[Proposed]) -> Proposed:
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
    totals: PathTotals | None,
) -> PathRules:
    """The proposals that hold often enough; those that time did not suffice for are left out."""
    heads, bodies, facts = proposals
    distinct, starts = np.unique(bodies, return_index=True)
    offsets = np.append(starts, len(bodies)).astype(np.int64)
    pairs, paths, hits = np.zeros(len(distinct)), np.zeros(len(distinct)), np.zeros(len(heads))
    seen = np.full(len(distinct), NOT_MEASURED, np.int64)
    size = max(1, STEPS_AT_ONCE // samples)

    def measure(low: int) -> None:
        high = min(low + size, len(distinct))
        seen[low:high] = 0
        own = slice(offsets[low], offsets[high])
        edges = offsets[low : high + 1] - offsets[low]
        piece = (distinct[low:high], edges, heads[own], samples, this.seed)
        with stamps.lent() as stamp:
            measure_bodies(this.adjacency, *piece, pairs[low:high], paths[low:high], hits[own], seen[low:high], stamp)

    chunks = np.arange(0, len(distinct), size)
    if len(chunks):
        chunks = chunks[np.argsort(-np.add.reduceat(np.nan_to_num(facts), offsets[chunks]), kind="stable")]
    for _ in this.each(stage[0], measure, chunks.tolist(), stage[1]):
        pass
    per_rule = np.diff(offsets)
    is_measured = np.repeat(seen != NOT_MEASURED, per_rule)
    looked = np.repeat(np.maximum(seen, 0), per_rule).astype(np.float64)
    found = Sampled(np.repeat(pairs, per_rule), np.repeat(paths, per_rule), hits, looked)
    counted = np.full(len(distinct), np.nan) if totals is None else totals.of(distinct)
    is_long = bodies >= (this.adjacency.num_relations + 1) ** 2  # the facts that propose those are not counted in full
    support, all_pairs = estimates(found, np.where(is_long, np.nan, facts), np.repeat(counted, per_rule))
    kept = is_measured & (support >= LEAST_SUPPORT) & (support >= LEAST_CONFIDENCE * (all_pairs + SMOOTHING))
    values = (column[kept].astype(np.float32) for column in (support, all_pairs))
    return PathRules(heads[kept], steps_of(bodies[kept], this.adjacency.num_relations + 1), *values)


def steps_of(bodies: NDArray[np.int64], base: int) -> NDArray[np.int32]:
    """The directed relations of bodies that are written as numbers; -1 behind the last."""
    parts = [bodies % base, bodies // base % base - 1, bodies // base**2 - 1]
    return np.stack(parts, axis=1).astype(np.int32)


def bodies_of(steps: NDArray[np.int32], base: int) -> NDArray[np.int64]:
    """The numbers of bodies."""
    wide = steps.astype(np.int64)
    return wide[:, 0] + (wide[:, 1] + 1) * base + (wide[:, 2] + 1) * base**2
