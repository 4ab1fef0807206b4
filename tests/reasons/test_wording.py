"""Reasons read as sentences."""

from __future__ import annotations

import json

import pytest

from unseen.reasons.reason import KINDS, Effect, Reason
from unseen.reasons.wording import by_network, chance, of_entities, of_pairs, per_cent, share, together

ANN, BOB, EVE = ("Ann", "parent_of", "Bob"), ("Bob", "parent_of", "Eve"), ("Eve", "likes", "Ann")


def test_edges_are_strung_together() -> None:
    assert together([ANN]) == "parent_of(Ann, Bob)"
    assert together([ANN, BOB]) == "parent_of(Ann, Bob) and parent_of(Bob, Eve)"
    assert together([ANN, BOB, EVE]) == "parent_of(Ann, Bob), parent_of(Bob, Eve) and likes(Eve, Ann)"


def test_a_rule_over_a_path_says_for_how_many_pairs_it_holds() -> None:
    text = of_pairs([ANN, BOB], 627, 640)
    assert text == "because parent_of(Ann, Bob) and parent_of(Bob, Eve); holds for 98 % of 640 such pairs"


def test_a_rule_with_constants_says_how_many_others_it_holds_for() -> None:
    condition, conclusion = ("x", "member_of", "Commonwealth"), ("x", "speaks", "English")
    text = of_entities([("Fiji", "member_of", "Commonwealth")], condition, conclusion, 55, 56)
    beginning = "because member_of(Fiji, Commonwealth); 98 % of 56 other x with "
    assert text == f"{beginning}member_of(x, Commonwealth) have speaks(x, English)"
    assert of_entities([], ("x", "speaks", "_"), conclusion, 9, 12) == (
        "because 9 of 12 other x with speaks(x, _) have speaks(x, English)"
    )


@pytest.mark.parametrize(
    ("support", "pairs", "text"),
    [
        (3, 4, "3 of 4"),
        (654, 654, "100 % of 654"),
        (6539, 6540, "over 99 % of 6,540"),
        (603.5, 1958.2, "31 % of about 1,960"),
        (2994.9, 120899.5, "2.5 % of about 121,000"),
        (1.5, 4.5, "about 2 of 4"),
        (4, 10_000, "0.04 % of 10,000"),
    ],
)
def test_shares_are_counts_where_they_are_few_and_estimates_are_called_so(
    support: float, pairs: float, text: str
) -> None:
    assert share(support, pairs) == text


def test_only_everything_is_a_hundred_per_cent() -> None:
    assert [per_cent(part) for part in (1.0, 0.999, 0.99, 0.5, 0.097, 0.001)] == [
        "100 %",
        "over 99 %",
        "99 %",
        "50 %",
        "9.7 %",
        "0.1 %",
    ]


def test_the_model_says_what_it_rests_on() -> None:
    effects = [Effect(ANN, 0.021), Effect(BOB, 0.3)]
    assert by_network("default", 0.51, effects, is_alone=True, is_tried=True) == (
        "no rule leads here; the model (default) by itself gives it 0.510; "
        "without parent_of(Ann, Bob) it would be 0.021, without parent_of(Bob, Eve) 0.300"
    )
    assert by_network("m", 0.51, [], is_alone=False, is_tried=True) == (
        "the rules explain little of this; the model (m) by itself gives it 0.510; "
        "no single fact nearby changes that much"
    )
    assert by_network("m", 0.51, [], is_alone=True, is_tried=False).endswith("gives it 0.510")
    assert chance(0.0) == "0.0"


RULE = Reason("rule", "because b", ANN, (BOB,), "r(x, z) <- s(x, z)", 0.9, 9.0, 10.0)
NETWORK = Reason("network", "no rule leads here", ANN, probability=0.5, share=0.25, effects=(Effect(BOB, 0.125),))
KNOWN, ABSENT = Reason("known", "the graph says b", body=(BOB,)), Reason("absent", "the graph does not say a", ANN)


def test_a_reason_says_which_link_it_speaks_for() -> None:
    assert str(RULE) == "parent_of(Ann, Bob) because b"
    assert str(NETWORK) == "parent_of(Ann, Bob): no rule leads here"
    assert [str(KNOWN), str(ABSENT)] == [KNOWN.text, ABSENT.text]


@pytest.mark.parametrize("reason", [RULE, NETWORK, KNOWN, ABSENT], ids=KINDS)
def test_a_reason_survives_json(reason: Reason) -> None:
    assert Reason.from_json(json.loads(json.dumps(reason.as_json()))) == reason


def test_the_confidence_of_a_rule_and_the_probability_of_a_model_are_never_in_one_reason() -> None:
    assert "probability" not in RULE.as_json()
    assert "confidence" not in NETWORK.as_json()


@pytest.mark.parametrize(
    "plain",
    [
        {"kind": "guess", "text": ""},
        {"kind": "rule"},
        {"kind": "rule", "text": "", "head": ["a", "b"]},
        {"kind": "network", "text": "", "effects": [{"edge": ["a", "b", "c"]}]},
    ],
)
def test_what_is_no_reason_is_refused(plain: dict[str, object]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        Reason.from_json(plain)
