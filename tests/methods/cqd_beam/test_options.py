"""Options: what they refuse, and that they come back from JSON as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.methods.cqd_beam.scorers import NamedVectors
from unseen.errors import UnseenError
from unseen.methods.cqd_beam import BeamOptions, Choices, CqdBeam


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beam": -1}, "beam must be 1 or more"),
        ({"logic": "fuzzy"}, "no logic 'fuzzy'; there are product"),
        ({"scale": "tanh"}, "no scale 'tanh'; there are sigmoid"),
        ({"heads": "all"}, "best or any, not 'all'"),
        ({"ceiling": 0.0}, "ceiling"),
        ({"ceiling": 1.5}, "ceiling"),
        ({"negation": 0.0}, "negation must be positive"),
        ({"sharpness": -1}, "sharpness must be positive"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UnseenError, match=message):
        BeamOptions.from_json(wrong)


def test_choices_come_back_from_json() -> None:
    choices = Choices(BeamOptions(beam=8), {"2p": BeamOptions(logic="goedel", scale="softmax"), "2in": BeamOptions()})
    assert Choices.from_json(json.loads(json.dumps(choices.to_json()))) == choices
    assert Choices.from_json({}) == Choices()


@pytest.mark.parametrize("value", [{"beams": 3}, {"beam": "3"}, {"beam": True}, {"known_facts": 1}, {"logic": 2}])
def test_unknown_keys_and_other_types_are_refused(value: dict[str, Any]) -> None:
    with pytest.raises(UnseenError, match=r"did you mean beam|cannot be"):
        BeamOptions.from_json(value)


def test_calibrated_memberships_need_a_calibration() -> None:
    with pytest.raises(UnseenError, match="unseen tune"):
        CqdBeam(NamedVectors(), BeamOptions(scale="calibrated"))
