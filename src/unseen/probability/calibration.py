"""From memberships to probabilities: a rising curve for each kind of query, fitted where the truth is known.

The membership m of an entity in the answer set of a query orders entities; how often an entity of membership m is a
true answer depends on the method, on the depth of the query and on negation. For each group of queries (`group_of`),
and for each type where a method answers every type in a way of its own, as a tuned CQD-Beam does, one of two curves of
z = logit(m) is fitted to validation queries:

    temperature   p = sigmoid(a z + b)                     two numbers, by logistic regression
    isotonic      p = the rising step function nearest to the observed frequencies, joined by lines (pool adjacent
                  violators)

whichever has the smaller log loss on queries that it was not fitted to. Both leave the order of entities as it is.
They belong to the graphs that they were fitted to; `query_calibration` is for a model that meets other graphs.
The sum of probabilities over all candidates is the expected number of answers. Cost: one look-up an entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from unseen.errors import EvaluationError
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Choose, Execution, LikelyWitness
from unseen.logic.method import Method
from unseen.logic.protocols import BlockwiseAnswerer, ScoreBlocks
from unseen.logic.query_groups import group_distance, group_of, type_like
from unseen.logic.traverse import Traversal
from unseen.nn.query_loss import logit
from unseen.probability.logistic import fit_logistic, sigmoid
from unseen.probability.query_calibration import VERSION, QueryCalibration

Floats = NDArray[np.float64]

BINS, LARGEST_LOGIT = 1024, 24.0
LEAST_SLOPE = 1e-3
TIE_BREAKER = 1e-6
"""How much of the membership itself goes into a probability, so that equal steps keep the order of entities."""


@dataclass(frozen=True)
class Curve:
    """A rising function from memberships to probabilities: lines between knots, in logits of membership."""

    kind: str
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __call__(self, memberships: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The probability of each membership."""
        knots, values = (memberships.new_tensor(column) for column in (self.logits, self.probabilities))
        z = logit(memberships.double()).to(memberships.dtype).contiguous()
        right = torch.searchsorted(knots, z).clamp(1, len(knots) - 1)
        share = ((z - knots[right - 1]) / (knots[right] - knots[right - 1])).clamp(0, 1)
        return torch.lerp(torch.lerp(values[right - 1], values[right], share), memberships, TIE_BREAKER)


@dataclass(frozen=True)
class Calibration:
    """A curve for each group of queries, and some for single types."""

    curves: Mapping[str, Curve]
    about: Mapping[str, Any] = field(default_factory=dict)
    types: Mapping[str, Curve] = field(default_factory=dict)
    """By the name of the shape, if any: a query has that of the type whose options it is answered with."""

    def curve_of(self, query: Query) -> Curve:
        """That of the query's type, or of its group, or of the nearest depth with the same kind of negation."""
        name = type_like(query, self.types) if self.types else None
        if name is not None:
            return self.types[name]
        group = group_of(query)
        return self.curves[min(self.curves, key=lambda known: group_distance(known, group))]

    def probabilities(
        self,
        traversal: Traversal,  # noqa: ARG002 - a curve looks at nothing but memberships
        query: Query,
        memberships: Float[Tensor, " entity"],
    ) -> Float[Tensor, " entity"]:
        """The probability of each entity, by its membership alone."""
        return self.curve_of(query)(memberships)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        types = {"types": _plain(self.types)} if self.types else {}
        return {"version": 1, "groups": _plain(self.curves), **types, "about": dict(self.about)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Calibration:
        """The calibration of `to_json`; anything else is an error."""
        try:
            return cls(_groups(value["groups"]), value.get("about", {}), _curves(value.get("types", {})))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise EvaluationError(f"this is not a calibration: {error!r}") from None


def _plain(curves: Mapping[str, Curve]) -> dict[str, Any]:
    return {
        name: {"kind": curve.kind, "logits": list(curve.logits), "probabilities": list(curve.probabilities)}
        for name, curve in curves.items()
    }


def _curves(value: Mapping[str, Any]) -> dict[str, Curve]:
    return {
        name: _checked(
            Curve(str(curve["kind"]), tuple(map(float, curve["logits"])), tuple(map(float, curve["probabilities"])))
        )
        for name, curve in value.items()
    }


def _groups(value: Mapping[str, Any]) -> dict[str, Curve]:
    """The curves of groups, of which there must be one."""
    curves = _curves(value)
    if not curves:
        raise ValueError("it has no curve")
    for name in curves:
        group_distance(name, "p1")
    return curves


def _checked(curve: Curve) -> Curve:
    """The same curve, which must rise from knot to knot and give probabilities."""
    rises = all(left <= right for left, right in pairwise(curve.logits))
    if len(curve.logits) < 2 or len(curve.logits) != len(curve.probabilities) or not rises:
        raise ValueError("a curve needs two or more rising knots, each with a probability")
    if not all(0 <= probability <= 1 for probability in curve.probabilities):
        raise ValueError("a probability of a curve is not between 0 and 1")
    return curve


@runtime_checkable
class Probabilities(Protocol):
    """Turns the memberships of a query's answers into probabilities, and keeps their order."""

    def probabilities(
        self, traversal: Traversal, query: Query, memberships: Float[Tensor, " entity"]
    ) -> Float[Tensor, " entity"]:
        """The probability of each entity of the traversed graph."""
        ...


def read_calibration(value: Mapping[str, Any]) -> Probabilities:
    """What a `calibration.json` says: curves by group, or probabilities that know their query."""
    return QueryCalibration.from_json(value) if value.get("version") == VERSION else Calibration.from_json(value)


@dataclass(frozen=True)
class Calibrated:
    """A method whose estimates are calibrated probabilities; its scores are unchanged."""

    method: Method
    calibration: Probabilities

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """The method's scores."""
        return self.method.answer(graph, queries)

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> CalibratedExecution:
        """Probabilities of all entities for each query; inner variables keep their memberships."""
        return CalibratedExecution(self.method.estimate(graph, queries), self.calibration, queries)


@dataclass(frozen=True)
class CalibratedBlocks(Calibrated):
    """The same for a method that also gives its scores in blocks."""

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> ScoreBlocks:
        """The method's scores, block by block."""
        assert isinstance(self.method, BlockwiseAnswerer)  # noqa: S101 - `calibrated` sees to it
        return self.method.score_blocks(graph, queries)


def calibrated(method: Method, calibration: Probabilities) -> Calibrated:
    """The method with calibrated estimates, and with its scores in blocks if it gives them so."""
    kind = CalibratedBlocks if isinstance(method, BlockwiseAnswerer) else Calibrated
    return kind(method, calibration)


class CalibratedExecution(Execution):
    """An execution whose answers (not its inner sets) are calibrated."""

    def __init__(self, execution: Execution, calibration: Probabilities, queries: Sequence[Query]) -> None:
        super().__init__(execution.graph, execution.logic, execution.device)
        self._execution, self._calibration, self._answers = execution, calibration, frozenset(queries)

    def memberships(self, query: Query) -> Float[Tensor, " entity"]:
        """The probabilities of an answer set, or the memberships of an inner one."""
        found = self._sets.get(query)
        if found is None:
            found = self._execution.memberships(query)
            if query in self._answers:
                found = self._calibration.probabilities(self.traversal, query, found)
            self._sets[query] = found
        return found

    def likely_witness(self, query: Query, entity: int, choose: Choose | None = None) -> LikelyWitness:
        """What the method itself says; inner variables keep their memberships."""
        return self._execution.likely_witness(query, entity, choose)

    def expected_count(self, query: Query) -> float:
        """How many of the graph's connected entities are answers, by expectation."""
        candidates = torch.from_numpy(self.graph.connected_entities.astype(np.int64))
        probabilities = self.memberships(query)
        return float(probabilities[candidates.to(probabilities.device)].sum(dtype=torch.float64))


class Frequencies:
    """How many entities of each membership there were and how many of them were answers; any number streams through."""

    def __init__(self) -> None:
        self.counts, self.true = np.zeros(BINS), np.zeros(BINS)

    def add(self, memberships: Float[Tensor, "query entity"], is_answer: Bool[Tensor, "query entity"]) -> None:
        """Memberships of some candidates, and which of them are answers."""
        z = logit(memberships.double())
        bins = ((z / LARGEST_LOGIT + 1) / 2 * BINS).long().clamp(0, BINS - 1)
        self.counts += torch.bincount(bins.flatten(), minlength=BINS).cpu().numpy()
        self.true += torch.bincount(bins[is_answer], minlength=BINS).cpu().numpy()

    def plus(self, other: Frequencies) -> Frequencies:
        """Both together."""
        total = Frequencies()
        total.counts, total.true = self.counts + other.counts, self.true + other.true
        return total


def fit_curve(first: Frequencies, second: Frequencies) -> Curve:
    """The better kind of curve, fitted to everything; each kind is judged on the half that it was not fitted to."""
    losses = {kind: log_loss(fit(first), second) + log_loss(fit(second), first) for kind, fit in _KINDS.items()}
    return _KINDS[min(losses, key=lambda kind: losses[kind])](first.plus(second))


def log_loss(curve: Curve, seen: Frequencies) -> float:
    """The summed negative log-likelihood of the observations."""
    centres = torch.from_numpy(_CENTRES).sigmoid()
    p = curve(centres).clamp(1e-9, 1 - 1e-9).numpy()
    return float(-(seen.true * np.log(p) + (seen.counts - seen.true) * np.log1p(-p)).sum())


def isotonic(seen: Frequencies) -> Curve:
    """Pool adjacent violators over the bins; a knot at the mean of each pool. One pass."""
    pools: list[list[float]] = []  # [answers, entities, summed logits]
    for place in np.flatnonzero(seen.counts):
        count = seen.counts[place]
        pools.append([seen.true[place], count, count * _CENTRES[place]])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    return _curve("isotonic", [pool[2] / pool[1] for pool in pools], [pool[0] / pool[1] for pool in pools])


def temperature(seen: Frequencies) -> Curve:
    """Logistic regression on the logit; the slope stays positive."""
    rows = np.stack([_CENTRES, np.ones(BINS)], axis=1)
    slope, offset = fit_logistic(rows, seen.counts, seen.true)
    knots = np.linspace(-LARGEST_LOGIT, LARGEST_LOGIT, 193)
    return _curve("temperature", knots.tolist(), sigmoid(max(LEAST_SLOPE, slope) * knots + offset).tolist())


def _curve(kind: str, logits: Sequence[float], probabilities: Sequence[float]) -> Curve:
    """A curve of at least two knots, flat beyond the outermost ones."""
    first, last = (probabilities[0], probabilities[-1]) if probabilities else (0.0, 1.0)
    edge = LARGEST_LOGIT + 1
    return Curve(kind, (-edge, *map(float, logits), edge), (float(first), *map(float, probabilities), float(last)))


_CENTRES: Floats = ((np.arange(BINS) + 0.5) / BINS * 2 - 1) * LARGEST_LOGIT
_KINDS = {"isotonic": isotonic, "temperature": temperature}
