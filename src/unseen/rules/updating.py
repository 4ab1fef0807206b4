"""Rules of a graph that has grown out of another, or lost some of its facts: only what changed is mined again.

A relation has *changed* if it is new, or has other edges and their number changed by 2 % or lies below 1,000. Rules
that conclude it are mined again. Rules of others that have it in their body are measured anew, and new ones of one or
two edges are looked for (`changed_bodies`). Weights stay; those of new relations are the ones that all share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.adjacency import adjacency_of
from unseen.rules.changed_bodies import proposed_through
from unseen.rules.constant_mining import mined_constants
from unseen.rules.fair_clock import CLOCK
from unseen.rules.fingerprints import counts_of, fingerprints, relation_keys
from unseen.rules.mining import mine
from unseen.rules.path_mining import bodies_of, measured, mined_paths
from unseen.rules.rounds import Round
from unseen.rules.rule_set import ConstantRules, PathRules, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

SMALL = 1000
"""Triples up to which all rules are mined again."""
FEW_EDGES, SHARE = 1000, 0.02
"""A relation with fewer edges has changed with any of them; another if so large a share came or went."""
DRIFT, MOST_CHANGED = 0.2, 0.5
"""Shares of triples and of relations above which everything is mined again."""


def is_successor(rules: Rules, graph: KnowledgeGraph) -> bool:
    """Whether a graph differs so little from the one that rules were mined from that they can be brought up to date."""
    keys, known = relation_keys(graph), len(rules.relation_keys)
    if graph.num_triples <= SMALL or keys[:known] != rules.relation_keys:
        return False
    mined = int(rules.counts.sum())
    is_close = abs(graph.num_triples - mined) <= DRIFT * mined
    return is_close and int(changed_relations(rules, graph).sum()) <= MOST_CHANGED * len(keys)


def changed_relations(rules: Rules, graph: KnowledgeGraph) -> NDArray[np.bool_]:
    """By relation: whether its rules are to be mined again."""
    known, counts = len(rules.relation_keys), counts_of(graph)
    changed = np.ones(len(counts), bool)
    few = (np.minimum(counts[:known], rules.counts) < FEW_EDGES) & (fingerprints(graph)[:known] != rules.fingerprints)
    changed[:known] = few | (np.abs(counts[:known] - rules.counts) > SHARE * rules.counts)
    return changed


def updated(rules: Rules, graph: KnowledgeGraph, seconds: float | None = None) -> Rules:
    """The rules of a graph; those that have nothing to do with a changed relation keep their counts.

    With `seconds`, what cannot be mined in time is left out, rare relations first.
    """
    if rules.is_of(graph):
        return rules
    if not is_successor(rules, graph):
        return mine(graph, samples=rules.samples, seed=rules.seed)
    changed = changed_relations(rules, graph)
    if not changed.any():
        return _described(rules, graph, rules.paths, rules.constants, changed)
    deadline = None if seconds is None else CLOCK.now() + seconds
    this = Round(adjacency_of(graph), rules.samples, rules.seed, lambda _label, _done, _total: None, deadline)
    heads = np.flatnonzero(np.repeat(changed, 2))
    is_kept, is_remeasured = _sorted_out(rules.paths, changed)
    others = _remeasured(this, graph, rules, is_remeasured, changed)
    parts = (rules.paths.take(is_kept), mined_paths(this, heads), others)
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in vars(rules.paths))
    own = rules.constants.take(~np.isin(rules.constants.heads, heads)), mined_constants(this, 1.0, heads)
    constants = (np.concatenate([getattr(part, name) for part in own]) for name in vars(rules.constants))
    return _described(rules, graph, PathRules(*columns).sorted(), ConstantRules(*constants), changed, this.was_cut)


def _sorted_out(paths: PathRules, changed: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rules have nothing to do with a changed relation, and which have one in their body alone."""
    directed = np.append(np.repeat(changed, 2), False)  # -1, no step, has not changed
    is_head, is_body = directed[paths.heads], directed[paths.steps].any(axis=1)
    return ~is_head & ~is_body, ~is_head & is_body


def _remeasured(
    this: Round, graph: KnowledgeGraph, rules: Rules, chosen: NDArray[np.bool_], changed: NDArray[np.bool_]
) -> PathRules:
    """Rules of other relations with a changed one in their body: those that were known, and new ones."""
    base, known = this.adjacency.num_relations + 1, rules.paths.take(chosen)
    new_heads, new_bodies = proposed_through(this, graph, changed)
    heads = np.concatenate([known.heads, new_heads])
    bodies = np.concatenate([bodies_of(known.steps, base), new_bodies])
    heads, bodies = np.unique(np.stack([heads.astype(np.int64), bodies]), axis=1)
    order, is_long = np.lexsort((heads, bodies)), bodies >= base**2
    short, long = order[~is_long[order]], order[is_long[order]]
    unknown = (np.full(len(part), np.nan) for part in (short, long))
    short_and_long = [(heads[part].astype(np.int32), bodies[part], next(unknown)) for part in (short, long)]
    return measured(this, *short_and_long)


def _described(
    rules: Rules,
    graph: KnowledgeGraph,
    paths: PathRules,
    constants: ConstantRules,
    changed: NDArray[np.bool_],
    was_cut: bool = False,
) -> Rules:
    """Rules of a changed graph, with what else belongs to them."""
    counts, known = counts_of(graph), len(rules.counts)
    counts[:known] = np.where(changed[:known], counts[:known], rules.counts)
    weights = rules.weights.for_relations(2 * len(counts))
    about = relation_keys(graph), fingerprints(graph), counts
    return Rules(paths, constants, weights, *about, rules.samples, rules.seed, rules.is_complete and not was_cut)
