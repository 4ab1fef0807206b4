"""What a graph adds to the weights of a model: remembered, kept in a file, shipped, or found out in a few seconds.

Facts of the graph are hidden and asked for (`hidden_rows`), by the network on the graph without them and by the rules
of the graph, and the weights are fitted to what came back (`own_fit`). A small graph is asked in several rounds, with
other facts hidden in each. The first questions are timed; on a graph on which too few could be asked, and on one of
which too little can be hidden, nothing is added. `UNSEEN_FIT=0` turns all of it off.

Weights stay while a graph grows or shrinks, until a fifth of its facts has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from unseen.errors import UnseenError
from unseen.logic.stopping import check_stop
from unseen.methods.own_weights.hidden_rows import HiddenRows, hidden_rows
from unseen.methods.own_weights.missing_targets import count_in
from unseen.methods.own_weights.own_fit import fitted_weights
from unseen.methods.own_weights.own_weights import OwnWeights, nothing_added
from unseen.methods.own_weights.row_candidates import RowCandidates, candidates_of
from unseen.rules.keeping import WEIGHTS, keep, place_of, shipped_place
from unseen.rules.opening import use_rules
from unseen.rules.origins import has_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.methods.combined import Combined
    from unseen.methods.near_projection import NearProjection

SETTING = "UNSEEN_FIT"
LEAST_TRIPLES, LEAST_HIDDEN = 20, 8
"""Fewer facts, or fewer questions with a hidden answer, say too little."""
ROUNDS, TRIPLES_A_QUESTION = 16, 50
"""How often facts of a small graph are hidden at most, and for how many triples there is a question in each round."""
SECONDS, SECONDS_PER_MILLION = 8.0, 28.0
"""Of processor time for asking about hidden facts, and more for each million triples."""
QUESTIONS = (512, 384, 256, 192, 128, 96, 64, 48, 32)
"""As many of these are asked as time allows, as the first ones show; none if time is too short for the fewest."""
AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class OwnOpening:
    """The weights of the graphs that one model is asked about."""

    _lock: RLock = field(default_factory=RLock)
    _remembered: WeakKeyDictionary[KnowledgeGraph, OwnWeights] = field(default_factory=WeakKeyDictionary)
    _latest: list[OwnWeights] = field(default_factory=list)

    def weights(self, method: Combined, graph: KnowledgeGraph) -> OwnWeights:
        """What a graph adds to the weights of a method."""
        found = self._remembered.get(graph)
        if found is None:
            with self._lock:
                found = self._remembered.get(graph) or self._opened(method, graph)
                self._remembered[graph] = found
                self._latest[:] = [found]
        return found

    def use(self, graph: KnowledgeGraph, weights: OwnWeights) -> None:
        """Take what a graph adds, as it was found out before."""
        with self._lock:
            self._remembered[graph] = weights
            self._latest[:] = [weights]

    def _opened(self, method: Combined, graph: KnowledgeGraph) -> OwnWeights:
        model = checksum_of_model(method)
        if not is_wanted() or graph.num_triples < LEAST_TRIPLES:
            return nothing_added(graph, model)
        place = place_of(graph, WEIGHTS)
        for known in (_kept(place), _shipped(graph), *self._latest):
            if known is not None and known.questions and known.suits(graph, model):
                return known
        found = fitted_to(method, graph, model)
        keep(found, place)
        return found


def is_wanted() -> bool:
    """Whether weights are fitted to graphs at all."""
    return os.environ.get(SETTING, "1") not in ("", "0")


def checksum_of_model(method: Combined) -> str:
    """A short text for the shipped weights that something is added to."""
    digest = hashlib.blake2b(json.dumps(method.combination.to_json(), sort_keys=True).encode(), digest_size=16)
    for weights in method.network.parameters():
        digest.update(weights.detach().flatten()[:16].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def fitted_to(method: Combined, graph: KnowledgeGraph, model: str = "", seconds: float | None = None) -> OwnWeights:
    """The weights that find facts hidden from a graph, with as many questions as some seconds allow."""
    asked = _asked(method, graph, seconds or SECONDS + SECONDS_PER_MILLION * graph.num_triples / 1e6)
    nothing = nothing_added(graph, model)
    if asked is None or asked.candidates.num_answered < LEAST_HIDDEN:
        return nothing
    found = fitted_weights(*asked, graph.vocabulary.num_directed_relations)
    return OwnWeights(*found, len(asked.relations), nothing.relation_keys, graph.num_triples, model)


class _Asked(NamedTuple):
    """What came back for some questions, their directed relations, and how often such questions come."""

    candidates: RowCandidates
    relations: NDArray[np.int64]
    weights: NDArray[np.float64]


def _asked(method: Combined, graph: KnowledgeGraph, seconds: float) -> _Asked | None:
    """What comes back for the first questions, as many as time allows; None if time is too short."""
    found: list[_Asked] = []
    wanted, count = 0, 0
    for number, (rows, part, random) in enumerate(_batches(method, graph)):
        check_stop()
        begun = time.process_time()
        found.append(_Asked(_candidates(method, rows, part, random), rows.relations[part], rows.weights[part]))
        count += (size := len(found[-1].relations))
        if number == 1:  # the first questions also make the graph ready
            wanted = _affordable((time.process_time() - begun) / size, seconds)
        if number and count + AT_ONCE > wanted:
            break
    if not wanted:
        return None
    candidates, relations, weights = zip(*found, strict=True)
    return _Asked(RowCandidates.joined(list(candidates)), np.concatenate(relations), np.concatenate(weights))


def _batches(method: Combined, graph: KnowledgeGraph) -> Iterator[tuple[HiddenRows, slice, np.random.Generator]]:
    """A few questions at a time, with other facts hidden in each round."""
    together = min(QUESTIONS[0], max(AT_ONCE, graph.num_triples // TRIPLES_A_QUESTION))
    for seed in range(ROUNDS):
        rows, random = hidden_rows(graph, together, seed), np.random.default_rng(seed)
        use_rules(rows.graph, method.rules_of(graph))
        count_in(rows.graph, graph)
        for start in range(0, len(rows), AT_ONCE):
            yield rows, slice(start, start + AT_ONCE), random


def _affordable(each: float, seconds: float) -> int:
    """How many questions are asked if each takes so long."""
    return next((some for some in QUESTIONS if some * each <= seconds), 0)


def _candidates(method: Combined, rows: HiddenRows, part: slice, random: np.random.Generator) -> RowCandidates:
    near = method.near(rows.graph)
    if near is not None:
        return _near_candidates(near, rows, part, random)
    sources, relations = torch.from_numpy(rows.sources[part]), torch.from_numpy(rows.relations[part])
    sets = torch.zeros(len(sources), rows.graph.num_entities, device=method.device)
    sets[torch.arange(len(sources)), sources.to(method.device)] = 1.0
    links = method.links(rows.graph, sets, relations)
    nodes = method.network.compact(rows.graph).node_of_entity
    return candidates_of(links, method.combination, [nodes[targets] for targets in rows.targets[part]], random)


def _near_candidates(near: NearProjection, rows: HiddenRows, part: slice, random: np.random.Generator) -> RowCandidates:
    """The same where the network reads a part of the graph for each question."""
    found, asked = [], zip(rows.sources[part], rows.relations[part].tolist(), rows.targets[part], strict=True)
    for source, relation, targets in asked:
        entities, links = near.link_evidence(rows.graph, int(source), relation)
        places = np.searchsorted(entities, targets)
        places[places == len(entities)] = 0
        found.append(candidates_of(links, near.combination, [places[entities[places] == targets]], random))
    return RowCandidates.joined(found)


def _kept(place: Path | None) -> OwnWeights | None:
    found = _read(place)
    if found is not None and place is not None:
        with suppress(OSError):
            os.utime(place)  # what is used stays longest in the cache
    return found


def _shipped(graph: KnowledgeGraph) -> OwnWeights | None:
    return _read(shipped_place(graph, WEIGHTS)) if has_source(graph) else None


def _read(place: Path | None) -> OwnWeights | None:
    if place is not None and place.is_file():
        with suppress(UnseenError, OSError):
            return OwnWeights.load(place)
    return None
