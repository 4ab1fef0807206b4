"""How a network's membership and the evidence of rules become one probability of a link.

For a candidate z of a source set and a relation there are five kinds of evidence:

    network     the logit of the network's membership
    rules       the logit of the rules' probability above that of the least likely; 0 where no rule leads to z
    fired       whether a rule leads to z
    sources     the logarithm of 1 + the number of edges by which the relation leads to z
    is_target   whether there is such an edge

How much each counts depends on what is known beforehand, the *context*: how well the rules of this relation find facts
that were hidden from this very graph (`quality`), how large the source set is (`size`), and how large the graph is
(`entities`). The score of a candidate is the sum of evidence x context x weight, and its probability
sigmoid(scale x score + offset). The offset also sees how many targets are known (`known`: the sum of what edges carry
over from the set, so that targets of weak members count little), how many a source has on
average (`tails`), and the logarithm of the sum of exp(score) over all candidates that are not known (`total`): what has
many rivals is less likely. The offset is the same for all candidates of a set, so it moves no rank.

The weights are fitted once, to facts hidden from several graphs, and shipped with a model (`combination.json`).

A graph to which weights were fitted (`own_weights`) has an offset of its own. It starts from the `balance`: the offset
with which the probabilities of a set add up to as many targets as it is expected to miss (`missing`). So the one
currency of a country is nearly certain where its rivals are weak, and nothing is likely where the currency is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from unseen.errors import EvaluationError

VERSION = 1
EVIDENCE = ("network", "rules", "fired", "sources", "is_target")
CONTEXT = ("one", "quality", "size", "entities")
OFFSET = (*CONTEXT, "known", "tails", "total")
CALIBRATION = ("scale", "one", "known", "tails", "total", "missing", "balance")
"""What a graph of one's own adds to score + balance: the score, and these parts of the offset, so many times each."""
LEAST_LIKELY = 1e-4
"""Probabilities of rules below this count as this."""
LARGEST_LOGIT = 16.0
SMALLEST_GRAPH, LARGEST_GRAPH = 10, 50_000
"""Graphs of fewer or more entities count as so large: weights were fitted to graphs between these."""
LEAST_MISSING, MOST_MISSING, MOST_TRUE = 1e-3, 30.0, 0.95
"""Fewer or more targets that are expected to be missing count as this, for `missing`; and as at most this share of
the candidates, for `balance`."""
LEAST_SCALE = 0.1
"""What the score counts at least in an offset of one's own."""
MOST_ABOVE = 2.0
"""How much larger than the shipped offset an offset of one's own can be, divided by the logarithm of a set's size: it
was fitted to single sources, and the shipped one to sets too."""
BALANCING_STEPS, LEAST_SLOPE = 12, 0.01
RISES = ("network", "rules")
"""Kinds of evidence that never speak against a candidate."""
LEAST_WEIGHT = 1e-3
"""What those count at least."""


@dataclass(frozen=True, eq=False)
class LinkEvidence:
    """What there is about all candidates of some source sets, one set a row."""

    network: Float[Tensor, "row node"]
    """Memberships by the network."""
    rules: Float[Tensor, "row node"]
    """Probabilities by rules; 0 where none leads."""
    sources: Float[Tensor, "row node"]
    """Edges by which the relation leads to each candidate."""
    carried: Float[Tensor, "row node"]
    """What the edges of the relation carry over from the set: 1 for a target of a certain member."""
    quality: Float[Tensor, " row"]
    size: Float[Tensor, " row"]
    """The sum of the memberships of the set."""
    tails: Float[Tensor, " row"]
    """Targets of the relation a source, on average."""
    missing: Float[Tensor, " row"]
    """How many targets the set is expected to miss: see `own_weights.missing_targets`."""
    copies: Float[Tensor, " node"] | None = None
    """How many candidates each column stands for; one, if there is nothing."""

    @property
    def is_known(self) -> Bool[Tensor, "row node"]:
        """Which candidates an edge leads to."""
        return self.carried > 0

    def kinds(self) -> tuple[Tensor, ...]:
        """The evidence in the order of `EVIDENCE`."""
        fired = self.rules > 0
        least = math.log(LEAST_LIKELY / (1 - LEAST_LIKELY))
        rules = torch.logit(self.rules.clamp(min=LEAST_LIKELY), eps=1e-6) - least
        kinds = torch.logit(self.network, eps=1e-7), rules, fired.float(), self.sources.log1p(), self.sources > 0
        return tuple(kind.float() for kind in kinds)

    def context(self) -> tuple[Float[Tensor, " row"], ...]:
        """What is known beforehand, in the order of `CONTEXT`."""
        count = self.network.shape[1] if self.copies is None else int(self.copies.sum())
        nodes = min(max(count, SMALLEST_GRAPH), LARGEST_GRAPH)
        one = torch.ones_like(self.quality)
        return one, self.quality, self.size.clamp(min=1).log(), one * math.log10(nodes)

    def offsets(self) -> tuple[Float[Tensor, " row"], ...]:
        """What an offset depends on, `total` left out."""
        known = self.carried if self.copies is None else self.carried * self.copies
        return (*self.context(), known.sum(dim=1).log1p(), self.tails.clamp(min=1).log())


@dataclass(frozen=True, eq=False)
class OwnRows:
    """What the graph that is asked adds to the weights, and its own offset, one set a row: see `own_weights`."""

    evidence: Float[Tensor, "row evidence"]
    calibration: Float[Tensor, "row part"]
    """In the order of `CALIBRATION`."""

    def on(self, device: torch.device) -> OwnRows:
        """The same on a device."""
        return OwnRows(self.evidence.to(device), self.calibration.to(device))


@dataclass(frozen=True)
class Combination:
    """The weights, and how probabilities count in logic."""

    evidence: Mapping[str, Mapping[str, float]]
    """Of each kind of evidence, in each context."""
    offset: Mapping[str, float]
    scale: float = 1.0
    ceiling: float = 0.9
    """The largest membership of what is only predicted."""
    sharpness: float = 1.0
    """Probabilities count to this power beside known facts."""
    inner_sharpness: float = 1.0
    """The network is given the memberships of a set to this power."""
    about: Mapping[str, Any] = field(default_factory=dict)

    def probabilities(self, links: LinkEvidence, own: OwnRows | None = None) -> Float[Tensor, "row node"]:
        """The probability of every candidate."""
        return torch.sigmoid(self.logits(links, own))

    def logits(self, links: LinkEvidence, own: OwnRows | None = None) -> Float[Tensor, "row node"]:
        """The log-odds of every candidate; `own` is what the graph that is asked adds to the weights."""
        score = torch.zeros_like(links.network)
        for weight, kind in zip(self.weights(links, own).unbind(dim=1), links.kinds(), strict=True):
            score += weight.unsqueeze(1) * kind
        numbers = (1 - links.carried).clamp(min=0)
        numbers = numbers if links.copies is None else numbers * links.copies
        total = (score + numbers.log()).logsumexp(dim=1).clamp(-30, 30)
        parts = dict(zip(OFFSET, (*links.offsets(), total), strict=True))
        offset = sum((parts[name] * weight for name, weight in self.offset.items()), torch.zeros_like(total))
        if own is None:
            return _bounded(self.scale * score + offset.unsqueeze(1))
        scale = (1 + own.calibration[:, :1]).clamp(min=LEAST_SCALE)
        parts |= {"missing": links.missing.clamp(LEAST_MISSING, MOST_MISSING).log()}
        parts |= {"balance": balance(scale * score, numbers, links.missing)}
        named = zip(CALIBRATION[1:], own.calibration.unbind(dim=1)[1:], strict=True)
        fitted = parts["balance"] + sum(parts[name] * weight for name, weight in named)
        above = MOST_ABOVE / links.size.log().abs().clamp(min=1e-6)
        return _bounded(scale * score + torch.minimum(fitted, offset + above).unsqueeze(1))

    def weights(self, links: LinkEvidence, own: OwnRows | None = None) -> Float[Tensor, "row evidence"]:
        """What each kind of evidence counts for each row."""
        context = links.context()
        found = torch.stack([self._weight(name, context) for name in EVIDENCE], dim=1)
        if own is not None:
            found = found.clamp(min=LEAST_WEIGHT).where(_rising(found), found) + own.evidence
        return found.clamp(min=LEAST_WEIGHT).where(_rising(found), found)

    def _weight(self, name: str, context: tuple[Tensor, ...]) -> Float[Tensor, " row"]:
        weights = self.evidence.get(name, {})
        return sum(
            (weights.get(key, 0.0) * value for key, value in zip(CONTEXT, context, strict=True)),
            start=torch.zeros_like(context[0]),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Combination:
        """The combination of `to_json`; anything else is an error."""
        try:
            if value["version"] != VERSION:
                raise ValueError(f"its version is {value['version']}, not {VERSION}")
            evidence = {name: _numbers(weights, CONTEXT) for name, weights in value["evidence"].items()}
            unknown = [name for name in evidence if name not in EVIDENCE]
            if unknown:
                raise ValueError(f"there is no evidence {unknown[0]}")
            ways = {name: _number(value[name]) for name in ("scale", "ceiling", "sharpness", "inner_sharpness")}
            return cls(evidence, _numbers(value["offset"], OFFSET), **ways, about=dict(value.get("about", {})))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvaluationError(f"this is not a combination of network and rules: {error}") from None


def balance(
    score: Float[Tensor, "row node"], numbers: Float[Tensor, "row node"], missing: Float[Tensor, " row"]
) -> Float[Tensor, " row"]:
    """What to add to the scores of a row so that their probabilities, so many of each, add up to what is missing.

    Newton's method for the logarithm of the sum, which is concave: it comes from below and never goes too far.
    """
    wanted = torch.minimum(missing.clamp(min=LEAST_MISSING), MOST_TRUE * numbers.sum(dim=1).clamp(min=1)).log()
    logs = numbers.log()
    found = wanted - (score + logs).logsumexp(dim=1)
    for _ in range(BALANCING_STEPS):
        raised = score + found.unsqueeze(1)
        terms = logsigmoid(raised) + logs
        sums = terms.logsumexp(dim=1)
        slope = ((terms - sums.unsqueeze(1)).exp() * torch.sigmoid(-raised)).sum(dim=1)
        found = found + (wanted - sums) / slope.clamp(min=LEAST_SLOPE)
    return found.nan_to_num(0.0, 0.0, 0.0).clamp(-30, 30)


def _bounded(logits: Float[Tensor, "row node"]) -> Float[Tensor, "row node"]:
    return logits.clamp(-LARGEST_LOGIT, LARGEST_LOGIT)


def _rising(weights: Float[Tensor, "row evidence"]) -> Bool[Tensor, "row evidence"]:
    return torch.tensor([name in RISES for name in EVIDENCE], device=weights.device).expand_as(weights)


def _numbers(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    unknown = [name for name in value if name not in names]
    if unknown:
        raise ValueError(f"nothing is called {unknown[0]}")
    return {name: _number(number) for name, number in value.items()}


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a weight is not a finite number")
    return number
