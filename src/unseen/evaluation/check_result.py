"""What a check of a graph found: for each relation and method, how many hidden facts came back.

All shares lie between 0 and 1. A fact is asked for from both of its ends, so there are up to two ranks a fact.
Probabilities are those of the first prediction for each question: what it said, and how often it was true.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.evaluation.results import ReliabilityCurve


@dataclass(frozen=True)
class End:
    """One end of the facts of a relation: how often it was asked for, and found among the first ten."""

    asked: int
    hits_at_10: float
    chance: float
    """The share that any order of the candidates would find among the first ten."""


@dataclass(frozen=True)
class CheckScore:
    """One method on the hidden facts of a relation, or of all."""

    mrr: float
    hits_at_1: float
    hits_at_10: float
    probability: float | None
    """The mean probability of first predictions; none if nothing was predicted."""
    true: float | None
    """The share of first predictions that are true."""
    calibration_error: float | None
    """The expected calibration error of first predictions, in ten bins."""


@dataclass(frozen=True)
class RelationCheck:
    """One relation: facts that it has, facts that were hidden and asked for, and what each method made of them."""

    relation: str
    facts: int
    tried: int
    chance: float
    """Hits@10 of any order of the candidates."""
    scores: Mapping[str, CheckScore]
    ends: Mapping[str, Mapping[str, End]]
    """By method, then `head` and `tail`: the end that was asked for."""

    @property
    def best(self) -> str | None:
        """The method with the largest mean reciprocal rank; none if no method finds more than chance does."""
        name = max(self.scores, key=lambda one: self.scores[one].mrr)
        found = self.scores[name]
        return name if found.hits_at_10 > self.chance or found.hits_at_1 > self.chance / 10 else None

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        methods = {
            name: _rounded({**asdict(score), "ends": {end: asdict(one) for end, one in self.ends[name].items()}})
            for name, score in self.scores.items()
        }
        counts = {"relation": self.relation, "facts": self.facts, "tried": self.tried}
        return {**counts, "chance": round(self.chance, 6), "best": self.best, "methods": methods}


@dataclass(frozen=True)
class CheckResult:
    """What hiding facts of a graph and asking for them found."""

    entities: int
    triples: int
    methods: tuple[str, ...]
    rows: tuple[RelationCheck, ...]
    """The relations that were tried, those with the best answers first."""
    overall: Mapping[str, CheckScore]
    """By method: means over relations, weighted by their facts."""
    reliability: Mapping[str, ReliabilityCurve]
    """By method: first predictions of all questions, by their probability."""
    planned: int
    """Facts that were to be tried."""
    untried: tuple[str, ...]
    """Relations of which no fact was tried."""
    seed: int
    seconds: float
    stopped: str | None = None
    """Why not all was tried, if so: `time` or `interrupted`."""
    skipped: Mapping[str, str] | None = None
    """Methods that could not be tried, and why."""

    @property
    def tried(self) -> int:
        """Facts that were hidden and asked for."""
        return sum(row.tried for row in self.rows)

    def _repr_html_(self) -> str:
        from unseen.evaluation.check_display import check_html

        return check_html(self)

    def row(self, relation: str) -> RelationCheck | None:
        """The row of a relation by its name."""
        return next((row for row in self.rows if row.relation == relation), None)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data, the form of `unseen check --json`."""
        return {
            "graph": {"entities": self.entities, "triples": self.triples},
            "methods": list(self.methods),
            "skipped": dict(self.skipped or {}),
            "planned": self.planned,
            "tried": self.tried,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "stopped": self.stopped,
            "overall": {name: _rounded(asdict(score)) for name, score in self.overall.items()},
            "reliability": {name: _rounded(asdict(found)) for name, found in self.reliability.items()},
            "relations": [row.as_json() for row in self.rows],
            "untried": list(self.untried),
        }


def _rounded(value: Any) -> Any:
    """The same data with six digits behind the point."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value
