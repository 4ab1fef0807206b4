"""The rules of a graph that is opened to predict: those kept or shipped, brought up to date, or mined in a short time.

Mining stops at 100 samples or when its seconds are over. Rules are remembered as long as the graph lives, and kept
between programs as `keeping` says. A graph that has grown out of the last one takes its rules over (`updating`).
"""

from __future__ import annotations

from itertools import chain
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from unseen.rules.keeping import keep, kept_rules, place_of, shipped_rules
from unseen.rules.mining import SAMPLES, mine
from unseen.rules.updating import is_successor, updated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.rules.rounds import Progress
    from unseen.rules.rule_set import Rules

SECONDS, SECONDS_PER_MILLION = 10.0, 3.0
"""For mining a graph when it is opened, and more for each million triples: about as long as it takes to read them."""
UPDATE_SECONDS = 5.0
"""For mining what has changed."""
_LOCK = RLock()
_REMEMBERED: WeakKeyDictionary[KnowledgeGraph, dict[int | None, Rules]] = WeakKeyDictionary()
_LATEST: dict[int | None, Rules] = {}


def rules_for(
    graph: KnowledgeGraph,
    *,
    samples: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Rules:
    """The rules of a graph, with as many samples as `seconds` allow, or with exactly `samples`.

    With `samples` they depend on nothing but the graph, and no file is read or written.
    """
    with _LOCK:
        remembered = _REMEMBERED.setdefault(graph, {})
        found = remembered.get(samples)
        if found is None:
            found = _sampled(graph, samples) if samples else _opened(graph, seconds or opening_seconds(graph), progress)
            remembered[samples] = _LATEST[samples] = found
        return found


def use_rules(graph: KnowledgeGraph, rules: Rules) -> None:
    """Take rules of a graph that were mined before, and keep them if they are the most thorough ones."""
    with _LOCK:
        _REMEMBERED.setdefault(graph, {})[None] = rules
        place = place_of(graph)
        if place is not None and not _is_at_least(kept_rules(place), rules, graph):
            keep(rules, place)


def opening_seconds(graph: KnowledgeGraph) -> float:
    """How long a graph may be mined when it is opened."""
    return SECONDS + SECONDS_PER_MILLION * graph.num_triples / 1e6


def are_at_hand(graph: KnowledgeGraph) -> bool:
    """Whether the rules of a graph need not be mined."""
    if None in _REMEMBERED.get(graph, {}):
        return True
    return any(known is not None and known.is_of(graph) for known in _found(graph))


def _sampled(graph: KnowledgeGraph, samples: int) -> Rules:
    latest = _LATEST.get(samples)
    return updated(latest, graph) if latest and is_successor(latest, graph) else mine(graph, samples=samples)


def _opened(graph: KnowledgeGraph, seconds: float, progress: Progress | None) -> Rules:
    place = place_of(graph)
    for known in chain(_found(graph), [_LATEST.get(None)]):
        if known is not None and known.is_of(graph):
            return known
        if known is not None and is_successor(known, graph):
            found = updated(known, graph, UPDATE_SECONDS)
            break
    else:
        found = mine(graph, seconds=seconds, most=SAMPLES, progress=progress)
    keep(found, place)
    return found


def _found(graph: KnowledgeGraph) -> Iterator[Rules | None]:
    """Rules in files, which are opened one after the other."""
    yield kept_rules(place_of(graph))
    yield shipped_rules(graph)


def _is_at_least(kept: Rules | None, rules: Rules, graph: KnowledgeGraph) -> bool:
    return kept is not None and kept.is_of(graph) and kept.effort >= rules.effort
