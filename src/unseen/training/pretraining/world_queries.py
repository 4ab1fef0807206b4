"""A few queries of every shape, drawn quickly: a world is asked a thousand questions, then forgotten.

Unlike `benchmark.sampling.sample_queries`, which goes on until it has what was asked for, this takes what a bounded
number of candidates brings, so that no world keeps the device waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.sampling.candidates import CandidateStream
from unseen.datasets.sampling.grounding import stream_key
from unseen.datasets.sampling.link_tables import all_links, is_one_link
from unseen.datasets.sampling.sample import joined_tables
from unseen.datasets.sampling.selection_rules import SelectionRules
from unseen.logic.shapes import template_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.datasets.query_table import QueryTable
    from unseen.datasets.sampling.selection_rules import SplitGraphs
    from unseen.logic.shapes import Shape

MOST_DRAWS = 6
CANDIDATES_PER_QUERY = 4
"""In the first draw; each further one takes twice as many as the one before."""


def drawn_tables(graphs: SplitGraphs, counts: Mapping[Shape, int], seed: int) -> dict[Shape, QueryTable]:
    """At most so many queries of each shape; the same seed gives the same ones."""
    return {shape: _drawn(graphs, shape, count, seed) for shape, count in counts.items()}


def _drawn(graphs: SplitGraphs, shape: Shape, count: int, seed: int) -> QueryTable:
    rules, key = SelectionRules(shape, graphs.is_training), stream_key(seed, graphs.name, template_of(shape.skeleton))
    if is_one_link(shape):
        table = all_links(graphs, rules)
        rows = np.random.default_rng(key).permutation(len(table))[:count]
        return table.take(np.sort(rows))
    stream, parts, found = CandidateStream(graphs, rules, key), [], 0
    size = max(64, CANDIDATES_PER_QUERY * count)
    for _ in range(MOST_DRAWS):
        parts.append(stream.draw(min(size, stream.largest_batch)))
        found += len(parts[-1])
        size *= 2
        if found >= count:
            break
    table = joined_tables(shape, parts)
    return table.take(np.arange(min(count, len(table))))
