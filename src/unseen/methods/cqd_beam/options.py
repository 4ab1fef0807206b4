"""How CQD-Beam answers: one frozen dataclass of options, and which options each type of query has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from typing import Any, get_type_hints

from unseen.errors import UnseenError
from unseen.logic.algebra import Query
from unseen.logic.fuzzy import LOGICS, Logic
from unseen.logic.query_groups import type_like
from unseen.methods.known_facts import CEILING

SCALES = ("sigmoid", "calibrated", "min-max", "softmax")
"""How logits become memberships, see `memberships`."""
HEADS = ("best", "any")
"""How the heads of a beam together make a tail likely, see `atoms`."""


@dataclass(frozen=True)
class BeamOptions:
    """Everything that changes answers; what validation chooses is stored per type of query."""

    beam: int = 32
    """Entities kept for each inner variable; 0 keeps all of them, which is exact and only for small graphs."""
    logic: str = "product"
    """product, goedel or lukasiewicz, also for the step from head to tail."""
    scale: str = "softmax"
    """sigmoid, calibrated (sigmoid of a learned affine map per relation), min-max, or softmax (times the degree)."""
    heads: str = "best"
    """best: a tail is as likely as its best head makes it; any: as at least one head would, were they independent."""
    popularity: float = 0.0
    """β: a tail of degree d has β (log(1 + d) - its mean over all candidates) added to its logits."""
    known_facts: bool = True
    """Whether observed tails have membership 1 in every atom, and predictions at most `ceiling`."""
    ceiling: float = CEILING
    """Largest membership of a predicted link beside known facts."""
    negation: float = 1.0
    """c in the complement 1 - min(1, c m)ˢ: larger ones exclude what is only half likely."""
    sharpness: float = 1.0
    """s in the same: larger ones exclude only what is all but certain."""

    def __post_init__(self) -> None:
        if self.beam < 0:
            raise UnseenError(f"the beam must be 1 or more, or 0 for all entities, not {self.beam}")
        if self.logic not in LOGICS:
            raise UnseenError(f"there is no logic {self.logic!r}; there are {', '.join(LOGICS)}")
        if self.scale not in SCALES:
            raise UnseenError(f"there is no scale {self.scale!r}; there are {', '.join(SCALES)}")
        if self.heads not in HEADS:
            raise UnseenError(f"heads are combined as {' or '.join(HEADS)}, not {self.heads!r}")
        if not 0 < self.ceiling <= 1:
            raise UnseenError(f"the ceiling of predictions must lie in (0, 1], not {self.ceiling}")
        if not 0 <= self.popularity < math.inf:
            raise UnseenError(f"popularity must be a number of 0 or more, not {self.popularity}")
        for name in ("negation", "sharpness"):
            if not 0 < getattr(self, name) < math.inf:
                raise UnseenError(f"{name} must be positive, not {getattr(self, name)}")

    @property
    def operators(self) -> Logic:
        """The logic, with its negation as sharp as asked for."""
        return replace(LOGICS[self.logic], sharpness=self.sharpness)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BeamOptions:
        """The options of `to_json`; an unknown key or a value of another type is an error."""
        hints = get_type_hints(cls)
        for key, given in value.items():
            if key not in hints:
                close = get_close_matches(key, hints, 1)
                raise UnseenError(f"CQD-Beam has no option {key!r}; did you mean {(close or list(hints))[0]}?")
            if type(given) is not hints[key] and (hints[key], type(given)) != (float, int):
                raise UnseenError(f"the option {key} of CQD-Beam cannot be {given!r}")
        return cls(**{key: hints[key](given) for key, given in value.items()})


@dataclass(frozen=True)
class Choices:
    """The options of each type of query by its shape's name, and of all others."""

    default: BeamOptions = field(default_factory=BeamOptions)
    types: Mapping[str, BeamOptions] = field(default_factory=dict)

    def of(self, query: Query) -> BeamOptions:
        """The options of the query's shape; of a shape as deep, with as much negation, if it has none of its own."""
        name = type_like(query, self.types) if self.types else None
        return self.default if name is None else self.types[name]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        types = {name: options.to_json() for name, options in self.types.items()}
        return {"default": self.default.to_json(), "types": types}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Choices:
        """The choices of `to_json`; anything else is an error."""
        types = {name: BeamOptions.from_json(options) for name, options in value.get("types", {}).items()}
        return cls(BeamOptions.from_json(value.get("default", {})), types)
