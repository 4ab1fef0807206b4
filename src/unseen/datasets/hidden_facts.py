"""What a graph would say if a tenth of it were not written down: facts hidden at random, and questions about them.

Unlike `split`, nothing is set aside to train on: this is how someone tries a method on a graph of their own. A fact
stays if it is all that is said about one of its entities, because then nothing could find that entity again. Answers
are wanted that only hidden facts give; whatever else is true is no candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import Dataset
from unseen.datasets.sampling.sample import SampleOptions, sample_queries
from unseen.datasets.sampling.selection_rules import SplitGraphs
from unseen.datasets.split import InductiveSplit
from unseen.errors import UnseenError
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Mask = NDArray[np.bool_]


def hidden_facts(graph: KnowledgeGraph, share: float, seed: int) -> Mask:
    """Which facts of a graph are hidden: about a share of them, always the same ones for a seed."""
    if not 0 < share < 1:
        raise UnseenError(f"the share of hidden facts must lie between 0 and 1, not {share}")
    hidden = np.random.default_rng(seed).random(graph.num_triples) < share
    alone = np.ones(graph.num_entities, bool)
    alone[graph.heads[~hidden]] = alone[graph.tails[~hidden]] = False
    return hidden & ~alone[graph.heads] & ~alone[graph.tails]


def hidden_dataset(graph: KnowledgeGraph, hidden: Mask, name: str = "hidden facts") -> Dataset:
    """A dataset without queries, whose test graph is what is left of a graph, and the hidden facts are to predict."""
    edges = np.stack([graph.heads, graph.relations, graph.tails], axis=1)
    nothing = edges[:0]
    split = InductiveSplit(graph.vocabulary, edges[~hidden], nothing, nothing, nothing, edges[hidden])
    return Dataset(name, split, manifest={"answers": "true"})


def with_questions(dataset: Dataset, types: Sequence[str], count: int, seed: int) -> Dataset:
    """The same with at most so many test queries of each type, each with an answer that only hidden facts give."""
    graphs = SplitGraphs("test", dataset.observed("test"), dataset.complete("test"))
    options = SampleOptions(seed=seed)
    tables = {name: sample_queries(graphs, SHAPES[name], count, options).table for name in types}
    return dataset.with_queries({"test": {name: table for name, table in tables.items() if len(table)}}, {})
