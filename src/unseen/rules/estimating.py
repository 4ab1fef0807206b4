"""Support and pairs of rules, from what samples and counts say about them.

Two estimates of the support are at hand. *Hits* are the sampled pairs of the body that have the head. *Facts* are the
sampled facts of the head that have a path of the body, scaled to all of them. Hits are right where the sample of the
body is large and meets its hubs; facts do not depend on that, and count where there are few hits or hubs were missed.
Where facts are not counted (bodies of three edges, updates), one more pair without the head is assumed.

The pairs of a body are its paths, which are counted exactly (`path_totals`), times the pairs for each path in the
sample. Without a count they are the sampled pairs, scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ENOUGH_HITS = 20
DOUBT = 1.0
"""Pairs without the head that are added to those looked at, where hits are all there is."""
FEWEST_PATHS, MOST_PATHS = 0.5, 2.0
"""Counted paths for each sampled one, between which a sample has met its hubs."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """What the sample of each body found, scaled to all sources; one row a rule."""

    pairs: Floats
    paths: Floats
    hits: Floats
    seen: Floats
    """Pairs that were looked at, not scaled."""


def estimates(sampled: Sampled, facts: Floats, paths: Floats) -> tuple[Floats, Floats]:
    """Support and pairs of each rule; `facts` and counted `paths` are NaN where they are not known."""
    missed = np.where(sampled.paths > 0, paths / np.maximum(sampled.paths, 1e-9), np.inf)
    missed = np.where(np.isnan(paths), 1.0, missed)
    pairs = np.where(np.isinf(missed), paths, sampled.pairs * np.where(np.isinf(missed), 1.0, missed))
    has_met_hubs = (missed >= FEWEST_PATHS) & (missed <= MOST_PATHS)
    every = (sampled.pairs == sampled.seen) & np.isclose(missed, 1.0)
    hits_seen = sampled.hits * sampled.seen / np.maximum(sampled.pairs, 1e-9)
    share, fewer = sampled.hits / np.maximum(sampled.pairs, 1e-9), sampled.seen / (sampled.seen + DOUBT)
    alone = share * fewer * np.where(has_met_hubs, pairs, np.minimum(sampled.pairs, pairs))
    support = np.where((hits_seen >= ENOUGH_HITS) & has_met_hubs, share * pairs, np.minimum(facts, pairs))
    return np.where(every, sampled.hits, np.where(np.isnan(facts), alone, support)), pairs
