"""The rules of a graph: proposed from its facts, measured on samples, weighed on facts hidden from themselves.

1. For up to 10 `samples` facts of every directed relation, all paths of length 1 and 2 between their ends propose
   bodies; for some of them paths of length 3, as far as they are found.
2. Every proposed body is followed from up to `samples` sources; that gives the confidence of all its heads together.
3. Rules with constants are counted from the members of their heads, for the listing.
4. Hidden facts say how much each kind of evidence counts.

What comes out depends on the graph, the seed and the number of samples alone. With `seconds`, samples are quadrupled
from round to round as long as time is left; the last complete round counts. If not even the first one ends in time, it
is cut short, and rules are missing. Compiled calls are small: the clock and Ctrl-C count between them.

Memory: the adjacency (0.9 GB for 10 M triples at most), and for each thread 150 bytes an entity and a table of 50 MB;
100 bytes for each of at most 4 million proposals, 24 a rule, and 150 MB for hidden facts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph
from unseen.rules.adjacency import adjacency_of
from unseen.rules.constant_mining import mined_constants
from unseen.rules.fair_clock import CLOCK
from unseen.rules.fingerprints import counts_of, fingerprints, relation_keys
from unseen.rules.indexing import index_of
from unseen.rules.path_mining import mined_paths
from unseen.rules.rounds import Round, TimeIsUpError
from unseen.rules.rule_set import SMOOTHING, Rules
from unseen.rules.weighing import fitted

if TYPE_CHECKING:
    from unseen.rules.rounds import Progress
    from unseen.rules.rule_set import ConstantRules

SAMPLES = 100
FIRST_SAMPLES, FIRST_SAMPLES_OF_LARGE = 25, 3
"""Samples of the first round where time is limited."""
LARGE = 500_000
"""Triples up to which a first round has 25 samples."""
UNLIMITED = 1 << 40
CUT_SHORT = "cut short"
"""What progress is told when even the first round did not end in time."""


def mine(
    graph: KnowledgeGraph,
    *,
    samples: int | None = None,
    seconds: float | None = None,
    most: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Rules:
    """The rules of a graph from `samples` (100 by default), or from as many as `seconds` allow, `most` at most."""
    if samples is not None and seconds is not None:
        raise UnseenError("give a number of samples or of seconds, not both")
    if (samples is not None and samples < 1) or (seconds is not None and seconds <= 0):
        raise UnseenError("mining needs at least one sample, or some time")
    report = progress or (lambda _label, _done, _total: None)
    if seconds is None:
        return _mined(graph, Round(adjacency_of(graph), samples or SAMPLES, seed, report))
    return _mined_in_time(graph, seconds, most or UNLIMITED, seed, report)


def _mined_in_time(graph: KnowledgeGraph, seconds: float, most: int, seed: int, progress: Progress) -> Rules:
    _compile()
    end = CLOCK.now() + seconds
    adjacency, begun = adjacency_of(graph), CLOCK.now()
    samples = min(most, FIRST_SAMPLES if graph.num_triples <= LARGE else FIRST_SAMPLES_OF_LARGE)
    first = Round(adjacency, samples, seed, progress, max(end, begun))
    best = _mined(graph, first)
    if first.was_cut:
        progress(CUT_SHORT, 1, 1)
        return best
    while samples < most and (now := CLOCK.now()) + 2 * (now - begun) < end:
        samples, begun = min(most, 4 * samples), now
        try:
            best = _mined(graph, Round(adjacency, samples, seed, progress, end, is_first=False), best.constants)
        except TimeIsUpError:
            break
    return best


@cache
def _compile() -> None:
    """Have all loops compiled, which can take longer than mining; that is not to count as its time."""
    shapes = (("x", "a", "y"), ("y", "b", "z"), ("z", "c", "w"), ("x", "r", "z"), ("x", "s", "w"))
    facts = [(f"{x}{i}", relation, f"{y}{i}") for i in range(4) for x, relation, y in shapes]
    graph = KnowledgeGraph.from_triples([*facts, *((f"x{i}", "is", "known") for i in range(4))])
    _mined(graph, Round(adjacency_of(graph), 1, 0, lambda _label, _done, _total: None))


def _mined(graph: KnowledgeGraph, this: Round, constants: ConstantRules | None = None) -> Rules:
    paths = mined_paths(this, np.arange(this.adjacency.num_relations))
    constants = constants or mined_constants(this, 0.8)
    weights = fitted(this, index_of(this.adjacency, paths, SMOOTHING), 1.0)
    about = relation_keys(graph), fingerprints(graph), counts_of(graph)
    return Rules(paths, constants, weights, *about, this.samples, this.seed, not this.was_cut)
