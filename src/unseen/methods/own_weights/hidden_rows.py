"""Questions that a graph can be tried with: facts drawn from it, asked for from one end, some of them hidden.

The facts of a graph are taken to be nine tenths of those that hold, and the others to be missing at random. Half of the
facts that are drawn are hidden, the others stay, and `weights` make up for that, and for rare relations being drawn
more often than they come. Of all other facts with the source and the relation of a question, a share of `MISSING` is
hidden; one that is all there is about an entity stays. Nothing else is hidden, so that the rest of the graph is what it
is when it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Ids = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

MISSING = 0.1
"""The share of facts that is taken to be missing."""
EVEN = 0.5
"""The share of facts that is drawn evenly over relations; the others are drawn evenly over facts."""


@dataclass(frozen=True, eq=False)
class HiddenRows:
    """Questions about single links in no order, and the graph without the facts that some of them ask for."""

    graph: KnowledgeGraph
    sources: Ids
    relations: Ids
    """Directed."""
    targets: tuple[Ids, ...]
    """What was hidden, for each question."""
    weights: Floats
    """How often such a question comes, beside how often it is asked here."""

    def __len__(self) -> int:
        return len(self.sources)


def hidden_rows(graph: KnowledgeGraph, count: int, seed: int = 0) -> HiddenRows:
    """At most `count` questions. The same for the same graph, count and seed."""
    random = np.random.default_rng(seed)
    facts, weights = _drawn(graph, count, random)
    sides, is_hidden = random.random(count) < 0.5, np.arange(count) < count // 2
    hidden = _hidden_around(graph, facts, sides, is_hidden, random)
    weights = weights * np.where(is_hidden, MISSING, 1 - MISSING)
    sources = np.where(sides, graph.tails[facts], graph.heads[facts]).astype(np.int64)
    relations = 2 * graph.relations[facts].astype(np.int64) + sides
    _, first, again = np.unique(np.stack([sources, relations]), axis=1, return_index=True, return_inverse=True)
    summed, order = np.bincount(again, weights), random.permutation(len(first))
    sources, relations = sources[first[order]], relations[first[order]]
    targets = _targets(graph, hidden, sources, relations)
    return HiddenRows(graph.restricted_to(~hidden), sources, relations, targets, summed[order] / summed.mean())


def _drawn(graph: KnowledgeGraph, count: int, random: np.random.Generator) -> tuple[Ids, Floats]:
    """Places of facts, and how often each comes beside how often it is drawn."""
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    even = EVEN / np.maximum(1, counts) / (counts > 0).sum()
    chance = (1 - EVEN) / graph.num_triples + even[graph.relations]
    drawn = np.searchsorted(np.cumsum(chance), random.random(count) * chance.sum(), side="right")
    facts = np.minimum(drawn, graph.num_triples - 1).astype(np.int64)
    return facts, 1 / (graph.num_triples * chance[facts])


def _hidden_around(
    graph: KnowledgeGraph, facts: Ids, sides: Mask, is_hidden: Mask, random: np.random.Generator
) -> Mask:
    """Which facts are hidden: some of those that are drawn, and of all that share source and relation with one."""
    around = np.zeros(graph.num_triples, bool)
    for ends, chosen in ((graph.heads, facts[~sides]), (graph.tails, facts[sides])):
        keys = ends.astype(np.int64) * graph.num_relations + graph.relations
        around |= np.isin(keys, keys[chosen])
    hidden = around & (random.random(graph.num_triples) < MISSING)
    hidden[facts[is_hidden]] = True
    hidden[facts[~is_hidden]] = False
    alone = np.ones(graph.num_entities, bool)
    alone[graph.heads[~hidden]] = alone[graph.tails[~hidden]] = False
    found: Mask = hidden & ~alone[graph.heads] & ~alone[graph.tails]
    return found


def _targets(graph: KnowledgeGraph, hidden: Mask, sources: Ids, relations: Ids) -> tuple[Ids, ...]:
    """What hidden facts lead to from each source."""
    heads, tails = graph.heads[hidden].astype(np.int64), graph.tails[hidden].astype(np.int64)
    directed = 2 * graph.relations[hidden].astype(np.int64)
    near, far = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    keys = near * graph.vocabulary.num_directed_relations + np.concatenate([directed, directed + 1])
    order = np.lexsort((far, keys))
    keys, far = keys[order], far[order]
    wanted = sources * graph.vocabulary.num_directed_relations + relations
    low, high = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    return tuple(np.unique(far[start:end]) for start, end in zip(low.tolist(), high.tolist(), strict=True))
