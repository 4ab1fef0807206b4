"""Probabilities that know their query: by what the network says, by rank, and by how many answers are known.

How often an entity of a given membership is an answer differs from graph to graph far more than two other things do:
how often the first, second, ... prediction comes true, and how the number of missing answers goes with the number of
known ones. For an entity of membership m that is not known to be an answer, of a query with K known answers:

    x = logit of the 16th root of m / c   c is the largest membership that a prediction can have (`ceiling_of`)
    r = log(1 + above)                    above is the number of other such entities above it (`probability.soft_rank`)
    s = log(1 + above / (1 + K))
    p = sigmoid(a x - b r - d s + e),     e = e0 + e1 log(1 + K) + e2 (the largest x) + e3 (1 if K = 0)

where a > 0, b >= 0, d >= 0 and e0 are sums over the query's kind (`logic.query_groups`): a constant, negation, depth,
intersection, union. So the order of entities stays, any tree-shaped query has a probability, and there are twenty-three
numbers to fit. Whoever asks expects an answer, so where none is known one is likely to be missing. A known answer is
certain, unless something is excluded: then p = sigmoid(a' logit(m) + e').

Cost: a few passes over the entities; what is known comes from the traversal of the whole batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unseen.errors import EvaluationError
from unseen.logic.algebra import And, Not, Or, Project, Query
from unseen.logic.query_groups import depth, has_intersection, has_negation, is_union
from unseen.logic.traverse import Traversal
from unseen.methods.known_facts import CEILING
from unseen.nn.query_loss import logit
from unseen.probability.soft_rank import others_above

Weights = Mapping[str, float]

VERSION = 2
DEEPEST = 3
"""Deeper queries count as so deep."""
ROOT = 16
LEAST_SLOPE = 1e-3
TIE_BREAKER = 1e-6
"""How much of the membership itself goes into a probability, so that rounding never makes two entities equal."""
KINDS = ("one", "negation", "depth", "intersection", "union")
TERMS: dict[str, dict[str, tuple[str, ...]]] = {
    "predicted": {
        "offset": (*KINDS, "log_known", "none_known", "largest"),
        "membership": KINDS,
        "rank": KINDS,
        "relative_rank": KINDS,
    },
    "known": {"offset": KINDS, "membership": KINDS},
}
"""What each part of a probability is a weighted sum of."""


@dataclass(frozen=True)
class QueryTerms:
    """The weights of one kind of answer: for each of its parts, of each feature of the query."""

    parts: Mapping[str, Weights]

    def part(self, name: str, features: Weights) -> float:
        """The weighted sum of a query's features."""
        weights = self.parts.get(name, {})
        return sum((weight * features.get(feature, 0.0) for feature, weight in weights.items()), start=0.0)

    def slope(self, name: str, features: Weights) -> float:
        """The same for what may not turn the order round."""
        return max(LEAST_SLOPE if name == "membership" else 0.0, self.part(name, features))


@dataclass(frozen=True)
class QueryCalibration:
    """Probabilities by membership, rank and known answers, for queries of any shape."""

    predicted: QueryTerms
    known: QueryTerms
    ceiling: float = CEILING
    about: Mapping[str, Any] = field(default_factory=dict)

    def probabilities(
        self, traversal: Traversal, query: Query, memberships: Float[Tensor, " entity"]
    ) -> Float[Tensor, " entity"]:
        """The probability of each entity of the traversed graph; those that no edge touches stand among the others."""
        is_known, is_rival = answer_masks(traversal, query, memberships.device)
        x = scaled_logits(memberships, ceiling_of(query, self.ceiling))
        features = query_features(query, int(is_known.sum()), x[is_rival])
        above = others_above(x, x[is_rival])
        predicted = torch.sigmoid(self.predicted_logits(x, above, features))
        found = torch.where(is_known, self._known(memberships, features), predicted).to(memberships.dtype)
        return torch.lerp(found, memberships, TIE_BREAKER)

    def predicted_logits(self, x: Float[Tensor, " row"], above: Float[Tensor, " row"], features: Weights) -> Tensor:
        """The log-odds of entities that are not known to be answers."""
        found = torch.full_like(x, self.predicted.part("offset", features))
        for name, values in predicted_values(x, above, features).items():
            found = found + self.predicted.slope(name, features) * values
        return found

    def _known(self, memberships: Tensor, features: Weights) -> Tensor:
        """Certain where nothing is excluded, which a missing fact could turn."""
        if not features["negation"]:
            return torch.ones_like(memberships, dtype=torch.float64)
        z = logit(memberships.double())
        return torch.sigmoid(self.known.slope("membership", features) * z + self.known.part("offset", features))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        terms = {name: {part: dict(weights) for part, weights in getattr(self, name).parts.items()} for name in TERMS}
        return {"version": VERSION, "ceiling": self.ceiling, **terms, "about": dict(self.about)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> QueryCalibration:
        """The calibration of `to_json`; anything else is an error."""
        try:
            terms = {name: QueryTerms(_checked(value[name], parts)) for name, parts in TERMS.items()}
            ceiling = float(value["ceiling"])
            if not 0 < ceiling <= 1:
                raise ValueError(f"its ceiling is {ceiling}, not above 0 and at most 1")
            return cls(**terms, ceiling=ceiling, about=value.get("about", {}))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise EvaluationError(f"this is not a calibration: {error!r}") from None


def query_features(query: Query, known: int, predicted: Float[Tensor, " entity"]) -> dict[str, float]:
    """What a query's probabilities depend on beside its entities."""
    return {
        "one": 1.0,
        "negation": float(has_negation(query)),
        "depth": float(min(depth(query), DEEPEST) - 1),
        "intersection": float(has_intersection(query)),
        "union": float(is_union(query)),
        "log_known": float(np.log1p(known)),
        "none_known": float(known == 0),
        "largest": float(predicted.max()) if len(predicted) else 0.0,
    }


def scaled_logits(memberships: Float[Tensor, "*shape"], ceiling: float) -> Float[Tensor, "*shape"]:
    """The logit of a root of m / c, finite on the whole of [0, 1].

    Predictions count to a high power (`gnn_qe.neural_projector.Answering`); the root makes numbers of them again that
    lie apart. After a single projection it is about the network's own logit.
    """
    return logit((memberships.double() / ceiling).clamp(max=1) ** (1 / ROOT))


def predicted_values(
    x: Float[Tensor, " row"], above: Float[Tensor, " row"], features: Weights
) -> dict[str, Float[Tensor, " row"]]:
    """What a probability rises with: the logit, and both kinds of rank from the last to the first.

    A hundred above means little where a thousand answers are known.
    """
    relative = torch.log1p(above / float(np.exp(features["log_known"])))
    return {"membership": x, "rank": -torch.log1p(above), "relative_rank": -relative}


def ceiling_of(query: Query, ceiling: float) -> float:
    """The largest membership of an answer that is only predicted, where that of a single projection is `ceiling`."""
    match query:
        case Project():
            return ceiling
        case And():
            return max((ceiling_of(part, ceiling) for part in query.parts if not isinstance(part, Not)), default=1.0)
        case Or():
            return 1 - reduce(lambda left, part: left * (1 - ceiling_of(part, ceiling)), query.parts, 1.0)
    return 1.0


def answer_masks(
    traversal: Traversal, query: Query, device: torch.device
) -> tuple[Bool[Tensor, " entity"], Bool[Tensor, " entity"]]:
    """Which entities are known to be answers, and which others have an edge and so could be."""
    graph = traversal.graph
    is_known, is_rival = np.zeros(graph.num_entities, bool), np.zeros(graph.num_entities, bool)
    is_rival[graph.connected_entities] = True
    is_known[traversal.members(query)] = True
    return torch.from_numpy(is_known).to(device), torch.from_numpy(is_rival & ~is_known).to(device)


def _checked(parts: Mapping[str, Mapping[str, float]], known: Mapping[str, tuple[str, ...]]) -> dict[str, Weights]:
    """Parts and features by names that are known; one that this version does not know cannot be left out."""
    for name, weights in parts.items():
        unknown = [feature for feature in weights if feature not in known[name]]
        if unknown:
            raise ValueError(f"{name} has an unknown feature {unknown[0]}")
    found: dict[str, Weights] = {
        name: {feature: float(weight) for feature, weight in weights.items()} for name, weights in parts.items()
    }
    if not all(math.isfinite(weight) for weights in found.values() for weight in weights.values()):
        raise ValueError("a weight is not a finite number")
    return found
