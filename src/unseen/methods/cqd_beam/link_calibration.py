"""A learned affine map of logits for every directed relation: membership = sigmoid((1 + a_r) s + b_r).

It is fitted to links that are true but not observed (of validation queries with one step): the chance that a link of
logit s is true, among all that are not observed. The numbers of all relations are fitted first; those of one relation
are then drawn away from them as far as its links say so (a Gaussian prior, `PRIOR` links strong). Two numbers a
directed relation, kept by the relation's name: a grown graph keeps its calibration, an unknown relation has the common
one.

Cost: the logits of every row once. For each row all true tails count, its `TOP` best other ones, and `DRAWN` random
ones that stand for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph
from unseen.logic.protocols import LinkScorer
from unseen.methods.cqd_beam.beams import RunningTop
from unseen.methods.cqd_beam.graph_links import GraphFacts, GraphLinks, device_of

Floats = NDArray[np.float64]
Ids = NDArray[np.integer[Any]]
Affine = tuple[float, float]

TOP, DRAWN = 64, 64
PRIOR = 20.0
ROWS = 1024
"""(head, relation) rows scored at once."""


@dataclass(frozen=True)
class LinkCalibration:
    """Factor and shift of each relation forwards and backwards, by its name, and those of all others."""

    default: Affine = (1.0, 0.0)
    relations: Mapping[str, tuple[Affine, Affine]] = field(default_factory=dict)

    def columns(self, graph: KnowledgeGraph) -> Float[Tensor, "2 relation"]:
        """Factors and shifts of the graph's directed relations."""
        both = (self.default, self.default)
        found = [self.relations.get(name, both) for name in graph.vocabulary.relations.keys.to_pylist()]
        return torch.tensor(found, dtype=torch.float32).reshape(-1, 2).t().contiguous()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"default": self.default, "relations": dict(self.relations)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LinkCalibration:
        """The calibration of `to_json`; anything else is an error."""
        try:
            relations = {
                str(name): (_affine(forwards), _affine(backwards))
                for name, (forwards, backwards) in value["relations"].items()
            }
            return cls(_affine(value["default"]), relations)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UnseenError(f"this is not a calibration of links: {error!r}") from None


@dataclass(frozen=True, eq=False)
class LinkExamples:
    """Logits of links, whether they are true, for how many links each stands, and the directed relation."""

    logits: Floats
    is_true: Floats
    weights: Floats
    relations: NDArray[np.int64]


def fit_link_calibration(
    scorer: LinkScorer, graph: KnowledgeGraph, heads: Ids, relations: Ids, true_tails: Sequence[Ids], seed: int = 0
) -> LinkCalibration:
    """The calibration of rows (head, directed relation) whose missing tails on a graph are known."""
    if not len(heads):
        raise UnseenError("there are no links to calibrate memberships with")
    with torch.no_grad():
        scores = scorer.opened(graph)
        links = GraphLinks(graph, scores, GraphFacts(graph, device_of(scores, graph)))
        random = np.random.default_rng(seed)
        parts = [
            _examples(links, heads[rows], relations[rows], true_tails[rows], random)
            for rows in (slice(first, first + ROWS) for first in range(0, len(heads), ROWS))
        ]
    return _fitted(graph, LinkExamples(*(np.concatenate(column) for column in zip(*map(_columns, parts), strict=True))))


def _examples(
    links: GraphLinks, heads: Ids, relations: Ids, true_tails: Sequence[Ids], random: np.random.Generator
) -> LinkExamples:
    """All true tails of some rows, their best others, and random others that stand for the rest."""
    starts, steps = (torch.from_numpy(np.asarray(ids, np.int64)).to(links.device) for ids in (heads, relations))
    towards = links.scores.towards(starts, steps)
    top = RunningTop(len(heads), TOP, links.device)
    for start, stop in links.blocks(links.block_size(len(heads))):
        top.add(links.only_candidates_(links.logits(towards, start, stop), start, -torch.inf), start)
    candidates = links.graph.connected_entities
    drawn = candidates[random.integers(0, max(1, len(candidates)), (len(heads), DRAWN))].astype(np.int64)
    best, best_logits = top.entities.cpu().numpy(), top.values.cpu().numpy().astype(np.float64)
    lowest = best_logits[:, -1:] if best.shape[1] == TOP else np.full((len(heads), 1), -np.inf)
    drawn_logits = _logits_at(links, towards, drawn)
    share = max(0, len(candidates) - best.shape[1]) / np.maximum(1, (drawn_logits < lowest).sum(axis=1, keepdims=True))
    entities = np.concatenate([best, drawn], axis=1)
    logits = np.concatenate([best_logits, drawn_logits], axis=1)
    weights = np.concatenate([np.ones(best.shape), np.where(drawn_logits < lowest, share, 0)], axis=1)
    weights[_is_known(links, heads, relations, entities) | ~np.isfinite(logits)] = 0
    others = _without_true(entities, logits, weights, true_tails)
    return _with_true(others, _true_logits(links, towards, true_tails), np.asarray(relations, np.int64), true_tails)


def _logits_at(links: GraphLinks, towards: Tensor, entities: NDArray[np.int64]) -> Floats:
    """The logits of a few tails of every row, each its own; blocks are walked once."""
    found = torch.empty(entities.shape, device=links.device)
    wanted = torch.from_numpy(entities).to(links.device)
    for start, stop in links.blocks(links.block_size(len(towards))):
        inside = (wanted >= start) & (wanted < stop)
        if bool(inside.any()):
            logits = links.logits(towards, start, stop)
            found = torch.where(inside, logits.gather(1, (wanted - start).clamp(0, stop - start - 1)), found)
    logits_at: Floats = found.cpu().numpy().astype(np.float64)
    return logits_at


def _true_logits(links: GraphLinks, towards: Tensor, true_tails: Sequence[Ids]) -> Floats:
    """The logits of the true tails, row after row."""
    width = max(1, max((len(tails) for tails in true_tails), default=1))
    padded = np.zeros((len(true_tails), width), np.int64)
    is_there = np.zeros(padded.shape, bool)
    for row, tails in enumerate(true_tails):
        padded[row, : len(tails)], is_there[row, : len(tails)] = tails, True
    return _logits_at(links, towards, padded)[is_there]


def _is_known(links: GraphLinks, heads: Ids, relations: Ids, entities: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which tails of each row the graph has a link to."""
    observed = links.facts.observed
    starts, steps = (torch.from_numpy(np.asarray(ids, np.int64)).to(links.device) for ids in (heads, relations))
    wanted = observed.keys(starts, steps).unsqueeze(1) + torch.from_numpy(entities).to(links.device)
    if not len(observed.packed):
        return np.zeros(entities.shape, bool)
    place = torch.searchsorted(observed.packed, wanted).clamp(max=len(observed.packed) - 1)
    known: NDArray[np.bool_] = (observed.packed[place] == wanted).cpu().numpy()
    return known


def _without_true(entities: Ids, logits: Floats, weights: Floats, true_tails: Sequence[Ids]) -> tuple[Floats, Floats]:
    for row, tails in enumerate(true_tails):
        weights[row, np.isin(entities[row], tails)] = 0
    return logits, weights


def _with_true(
    others: tuple[Floats, Floats], true_logits: Floats, relations: NDArray[np.int64], true_tails: Sequence[Ids]
) -> LinkExamples:
    """True and other tails as one list; those of weight 0 are left out."""
    logits, weights = others
    kept = weights > 0
    owners = np.repeat(relations, [len(tails) for tails in true_tails])
    rows = np.broadcast_to(relations[:, None], weights.shape)[kept]
    is_true = np.concatenate([np.ones(len(true_logits)), np.zeros(len(rows))])
    return LinkExamples(
        np.concatenate([true_logits, logits[kept]]),
        is_true,
        np.concatenate([np.ones(len(true_logits)), weights[kept]]),
        np.concatenate([owners, rows]),
    )


def _fitted(graph: KnowledgeGraph, examples: LinkExamples) -> LinkCalibration:
    common = _newton(examples, np.zeros(len(examples.logits), np.int64), 1, np.array([[1.0, 0.0]]), 1e-3)[0]
    directed = 2 * graph.num_relations
    prior = np.broadcast_to(common, (directed, 2))
    own = _newton(examples, examples.relations, directed, prior, PRIOR)
    names = graph.vocabulary.relations.keys.to_pylist()
    relations = {name: (_affine(own[2 * id_]), _affine(own[2 * id_ + 1])) for id_, name in enumerate(names)}
    return LinkCalibration(_affine(common), relations)


def _newton(examples: LinkExamples, groups: NDArray[np.int64], count: int, prior: Floats, strength: float) -> Floats:
    """Factor and shift of every group by logistic regression with a Gaussian prior, all groups at once."""
    numbers = np.array(prior)
    for _ in range(30):
        factor, shift = numbers[groups].T
        chance = (1 + np.tanh((factor * examples.logits + shift) / 2)) / 2
        residual = examples.weights * (examples.is_true - chance)
        curvature = examples.weights * chance * (1 - chance)
        gradient = np.stack([_sums(residual * examples.logits, groups, count), _sums(residual, groups, count)], axis=1)
        gradient -= strength * (numbers - prior)
        moments = [_sums(curvature * examples.logits**power, groups, count) for power in (2, 1, 0)]
        hessian = np.array([[moments[0], moments[1]], [moments[1], moments[2]]]).transpose(2, 0, 1)
        step = np.linalg.solve(hessian + strength * np.eye(2), gradient[..., None])[..., 0]
        numbers = numbers + np.clip(step, -2, 2)
        numbers[:, 0] = np.maximum(numbers[:, 0], 1e-3)
        if np.abs(step).max() < 1e-6:
            break
    return numbers


def _sums(values: Floats, groups: NDArray[np.int64], count: int) -> Floats:
    return np.bincount(groups, weights=values, minlength=count).astype(np.float64)


def _affine(pair: Iterable[float]) -> Affine:
    factor, shift = (float(number) for number in pair)
    if not np.isfinite([factor, shift]).all():
        raise ValueError("a factor or a shift is not a finite number")
    return factor, shift


def _columns(examples: LinkExamples) -> tuple[NDArray[Any], ...]:
    return examples.logits, examples.is_true, examples.weights, examples.relations
