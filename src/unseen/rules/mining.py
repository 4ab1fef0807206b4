"""The rules of a graph: proposed from its facts, measured on samples, weighed on facts hidden from themselves.

1. For up to 10 `samples` facts of every directed relation, all paths of length 1 and 2 between their ends propose
   bodies; for some of them paths of length 3, as far as they are found.
2. Every proposed body is followed from up to `samples` sources; that gives the confidence of all its heads together.
3. Rules with constants are counted from the members of their heads, for the listing.
4. Hidden facts say how much each kind of evidence counts.

What comes out depends on the graph, the seed and the number of samples alone. With `seconds`, samples are quadrupled
from round to round as long as time is left; the last complete round counts. Memory: the adjacency (0.9 GB for 10 M
triples at most), 24 bytes a rule, and 50 MB for hidden facts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import UnseenError
from unseen.rules.adjacency import adjacency_of
from unseen.rules.body_sampling import measure_bodies
from unseen.rules.compiling import in_order
from unseen.rules.constant_mining import mined_constants
from unseen.rules.fingerprints import fingerprints
from unseen.rules.indexing import index_of
from unseen.rules.proposing import count_bodies, count_long_bodies, row_starts, sampled_facts
from unseen.rules.rule_set import SMOOTHING, PathRules, Rules, relation_keys
from unseen.rules.weighing import Weights, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.rules.adjacency import Adjacency

    Progress = Callable[[str, int, int], None]
    Proposed = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

SAMPLES = 100
FIRST_SAMPLES = 25
FACTS_PER_SAMPLE, LONG_FACTS_PER_SAMPLE, LONG_WIDTH = 10, 5, 16
LEAST_SUPPORT, LEAST_CONFIDENCE = 2, 0.001
ENOUGH_HITS = 20
"""From so many sampled hits on, confidence is their share of the sampled pairs; below, facts counted over pairs."""
BUDGET = 30_000
"""Edges that the rules of one source touch."""
CHUNK = 256
"""Bodies that are measured in one piece of work."""
SMALL = 100_000
"""Triples up to which a change makes all rules anew."""


class _TimeIsUp(Exception):
    """A round of mining did not end in time."""


@dataclass(frozen=True)
class _Round:
    """One pass of mining with a number of samples; `deadline` ends it by an exception."""

    adjacency: Adjacency
    samples: int
    seed: int
    progress: Progress
    deadline: float | None = None

    def watched(self, label: str, items: Iterable[object], total: int) -> Iterator[object]:
        """The items, with progress and an eye on the clock."""
        for done, item in enumerate(items, start=1):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise _TimeIsUp
            self.progress(label, done, total)
            yield item


def mine(
    graph: KnowledgeGraph,
    *,
    samples: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Rules:
    """The rules of a graph from `samples` (100 by default) or from as many as `seconds` allow."""
    if samples is not None and seconds is not None:
        raise UnseenError("give a number of samples or of seconds, not both")
    if (samples is not None and samples < 1) or (seconds is not None and seconds <= 0):
        raise UnseenError("mining needs at least one sample, or some time")
    report = progress or (lambda _label, _done, _total: None)
    if seconds is None:
        return _mined(graph, _Round(adjacency_of(graph), samples or SAMPLES, seed, report))
    return _mined_in_time(graph, seconds, seed, report)


def updated(rules: Rules, graph: KnowledgeGraph) -> Rules:
    """The rules of a graph that has grown out of the one they were mined from, or lost some of its facts.

    Relations whose facts changed are mined anew; rules of others keep their counts, also where their bodies changed.
    A small graph is mined anew as a whole, and so is one whose relations are others.
    """
    keys, sums = relation_keys(graph), fingerprints(graph)
    known = len(rules.relation_keys)
    if graph.num_triples <= SMALL or keys[:known] != rules.relation_keys:
        return mine(graph, samples=rules.samples, seed=rules.seed)
    touched = np.ones(len(keys), bool)
    touched[:known] = sums[:known] != rules.fingerprints
    if not touched.any():
        return rules
    heads = np.flatnonzero(np.repeat(touched, 2))
    kept = rules.paths.take(~np.isin(rules.paths.heads, heads))
    fresh = _paths(_Round(adjacency_of(graph), rules.samples, rules.seed, lambda _label, _done, _total: None), heads)
    both = (np.concatenate([getattr(kept, name), getattr(fresh, name)]) for name in vars(kept))
    weights = rules.weights.for_relations(2 * len(keys))
    return Rules(PathRules(*both).sorted(), rules.constants, weights, keys, sums, rules.samples, rules.seed)


def _mined_in_time(graph: KnowledgeGraph, seconds: float, seed: int, progress: Progress) -> Rules:
    start = time.monotonic()
    best = _mined(graph, _Round(adjacency_of(graph), FIRST_SAMPLES, seed, progress))
    samples, last = FIRST_SAMPLES, time.monotonic() - start
    while time.monotonic() + 2 * last < start + seconds:
        samples, begun = 4 * samples, time.monotonic()
        try:
            best = _mined(graph, _Round(adjacency_of(graph), samples, seed, progress, start + seconds))
        except _TimeIsUp:
            break
        last = time.monotonic() - begun
    return best


def _mined(graph: KnowledgeGraph, this: _Round) -> Rules:
    heads = np.arange(this.adjacency.num_relations)
    paths = _paths(this, heads)
    constants = mined_constants(this.adjacency, this.seed)
    this.progress("weighing", 0, 1)
    weights: Weights = fitted(this.adjacency, index_of(this.adjacency, paths, SMOOTHING), BUDGET, this.seed)
    if this.deadline is not None and time.monotonic() > this.deadline:
        raise _TimeIsUp
    return Rules(paths, constants, weights, relation_keys(graph), fingerprints(graph), this.samples, this.seed)


def _paths(this: _Round, heads: NDArray[np.int64]) -> PathRules:
    """The rules over paths for some directed relations."""
    starts = row_starts(this.adjacency)
    work = in_order(lambda head: _proposed(this, int(head), starts), heads)
    proposed: list[tuple[Proposed, Proposed]] = list(this.watched("proposing", work, len(heads)))  # type: ignore[arg-type]
    short = _joined([pair[0] for pair in proposed])
    long = _joined([pair[1] for pair in proposed])
    found = [_measured(this, *short, this.samples, "measuring")]
    if len(long[0]):
        found.append(_measured(this, *long, max(10, this.samples // 4), "measuring long bodies"))
    joined = (np.concatenate([getattr(part, name) for part in found]) for name in vars(found[0]))
    return PathRules(*joined).sorted()


def _proposed(this: _Round, head: int, starts: NDArray[np.int64]) -> tuple[Proposed, Proposed]:
    """Short and long bodies of one head, with the number of facts that they hold for."""
    adjacency, salt = this.adjacency, np.uint64(this.seed * 1_000_003 + head)
    total = int(starts[adjacency.relation_rows[head + 1]] - starts[adjacency.relation_rows[head]])
    sources, targets = sampled_facts(adjacency, head, starts, FACTS_PER_SAMPLE * this.samples, salt)
    bodies, counts = count_bodies(adjacency, head, sources, targets, salt)
    short = _kept(head, bodies, counts, total / max(1, len(sources)), len(bodies))
    sources, targets = sampled_facts(adjacency, head, starts, LONG_FACTS_PER_SAMPLE * this.samples, salt)
    bodies, counts = count_long_bodies(adjacency, sources, targets, LONG_WIDTH, salt)
    return short, _kept(head, bodies, counts, total / max(1, len(sources)), this.samples)


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
    this: _Round,
    heads: NDArray[np.int32],
    bodies: NDArray[np.int64],
    facts: NDArray[np.float64],
    samples: int,
    label: str,
) -> PathRules:
    """The proposals that hold often enough."""
    distinct, starts = np.unique(bodies, return_index=True)
    offsets = np.append(starts, len(bodies)).astype(np.int64)
    pairs, hits, seen = np.zeros(len(distinct)), np.zeros(len(heads)), np.zeros(len(distinct), np.int64)

    def measure(low: int) -> None:
        high = min(low + CHUNK, len(distinct))
        own = slice(offsets[low], offsets[high])
        edges = offsets[low : high + 1] - offsets[low]
        piece = (distinct[low:high], edges, heads[own], samples, this.seed)
        measure_bodies(this.adjacency, *piece, pairs[low:high], hits[own], seen[low:high])

    chunks = range(0, len(distinct), CHUNK)
    for _ in this.watched(label, in_order(measure, chunks), len(chunks)):
        pass
    per_rule = np.diff(offsets)
    all_pairs = np.repeat(pairs, per_rule)
    scale = np.repeat(pairs / np.maximum(1, seen), per_rule)
    is_sampled_well = (hits >= ENOUGH_HITS * scale) | (len(distinct) > 0 and _is_long(this, bodies))
    support = np.where(is_sampled_well, hits, np.minimum(facts, all_pairs))
    kept = (support >= LEAST_SUPPORT) & (support >= LEAST_CONFIDENCE * (all_pairs + SMOOTHING))
    values = (column[kept].astype(np.float32) for column in (support, all_pairs))
    return PathRules(heads[kept], _steps(bodies[kept], this.adjacency.num_relations + 1), *values)


def _is_long(this: _Round, bodies: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a body has three steps; the facts that propose such a body are not counted in full."""
    return bodies >= (this.adjacency.num_relations + 1) ** 2


def _steps(bodies: NDArray[np.int64], base: int) -> NDArray[np.int32]:
    """The directed relations of bodies that are written as numbers; -1 behind the last."""
    parts = [bodies % base, bodies // base % base - 1, bodies // base**2 - 1]
    return np.stack(parts, axis=1).astype(np.int32)
