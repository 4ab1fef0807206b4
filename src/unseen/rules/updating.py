"""Rules of a graph that has grown out of another, or lost some of its facts: only what changed is mined anew.

A relation has *changed* if it is new, or has other edges and their number changed by 2 % or lies below 1,000. Rules
that conclude it are mined anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.adjacency import adjacency_of
from unseen.rules.fingerprints import counts_of, fingerprints, relation_keys
from unseen.rules.mining import mine
from unseen.rules.path_mining import mined_paths
from unseen.rules.rounds import Round
from unseen.rules.rule_set import PathRules, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

SMALL = 1000
"""Triples up to which all rules are mined anew."""
FEW_EDGES, SHARE = 1000, 0.02
"""A relation with fewer edges has changed with any of them; another if so large a share came or went."""
DRIFT, MOST_CHANGED = 0.2, 0.5
"""Shares of triples and of relations above which everything is mined anew."""


def is_successor(rules: Rules, graph: KnowledgeGraph) -> bool:
    """Whether a graph differs so little from the one that rules were mined from that they can be brought up to date."""
    keys, known = relation_keys(graph), len(rules.relation_keys)
    if graph.num_triples <= SMALL or keys[:known] != rules.relation_keys:
        return False
    mined = int(rules.counts.sum())
    is_close = abs(graph.num_triples - mined) <= DRIFT * mined
    return is_close and int(changed_relations(rules, graph).sum()) <= MOST_CHANGED * len(keys)


def changed_relations(rules: Rules, graph: KnowledgeGraph) -> NDArray[np.bool_]:
    """By relation: whether its rules are to be mined anew."""
    known, counts = len(rules.relation_keys), counts_of(graph)
    changed = np.ones(len(counts), bool)
    few = (np.minimum(counts[:known], rules.counts) < FEW_EDGES) & (fingerprints(graph)[:known] != rules.fingerprints)
    changed[:known] = few | (np.abs(counts[:known] - rules.counts) > SHARE * rules.counts)
    return changed


def updated(rules: Rules, graph: KnowledgeGraph) -> Rules:
    """The rules of a graph; those of relations that have not changed keep their counts."""
    if rules.is_of(graph):
        return rules
    if not is_successor(rules, graph):
        return mine(graph, samples=rules.samples, seed=rules.seed)
    changed = changed_relations(rules, graph)
    heads = np.flatnonzero(np.repeat(changed, 2))
    kept = rules.paths.take(~np.isin(rules.paths.heads, heads))
    fresh = mined_paths(
        Round(adjacency_of(graph), rules.samples, rules.seed, lambda _label, _done, _total: None), heads
    )
    both = (np.concatenate([getattr(kept, name), getattr(fresh, name)]) for name in vars(kept))
    return _described(rules, graph, PathRules(*both).sorted(), changed)


def _described(rules: Rules, graph: KnowledgeGraph, paths: PathRules, changed: NDArray[np.bool_]) -> Rules:
    """Rules over paths of a changed graph, with what else belongs to rules."""
    counts = counts_of(graph)
    counts[: len(rules.counts)] = np.where(changed[: len(rules.counts)], counts[: len(rules.counts)], rules.counts)
    weights = rules.weights.for_relations(2 * len(counts))
    about = relation_keys(graph), fingerprints(graph), counts
    return Rules(paths, rules.constants, weights, *about, rules.samples, rules.seed, rules.is_complete)
