"""What was chosen for a scorer on validation queries: the options of each type, and the calibration of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unseen.errors import UnseenError
from unseen.logic.protocols import LinkScorer
from unseen.methods.cqd_beam.cqd_beam import CqdBeam
from unseen.methods.cqd_beam.link_calibration import LinkCalibration
from unseen.methods.cqd_beam.options import Choices

VERSION = 1


@dataclass(frozen=True)
class Tuning:
    """Choices with what they were chosen by: `about` has the dataset, the metric and every trial."""

    choices: Choices = field(default_factory=Choices)
    link_calibration: LinkCalibration | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def method(self, scorer: LinkScorer) -> CqdBeam:
        """The scorer with these choices."""
        return CqdBeam(scorer, self.choices, self.link_calibration)

    def without_known_facts(self) -> Tuning:
        """The same choices with predictions only."""
        types = {name: replace(options, known_facts=False) for name, options in self.choices.types.items()}
        return replace(self, choices=Choices(replace(self.choices.default, known_facts=False), types))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        calibration = None if self.link_calibration is None else self.link_calibration.to_json()
        return {"version": VERSION, **self.choices.to_json(), "link_calibration": calibration, "about": self.about}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Tuning:
        """The tuning of `to_json`; anything else is an error."""
        if value.get("version") != VERSION:
            raise UnseenError(f"this tuning has version {value.get('version')!r}, and {VERSION} is read here")
        calibration = value.get("link_calibration")
        links = None if calibration is None else LinkCalibration.from_json(calibration)
        return cls(Choices.from_json(value), links, value.get("about", {}))
