"""Network and rules together: what each adds, what stays as it is, and graphs that are too large for the network."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from tests.conformance.methods import combined, zero_shot
from unseen.errors import EvaluationError, TooLarge
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.methods import combined as combined_module
from unseen.methods.combination import CALIBRATION, EVIDENCE, Combination, LinkEvidence, OwnRows
from unseen.methods.combined import Combined
from unseen.methods.mined_rules import MinedRules
from unseen.methods.zero_shot import footprint

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = Combination(
    {"network": {"one": 1.0}, "rules": {"one": 0.5, "quality": 0.5}, "sources": {"one": 0.1}}, {"total": -0.5}
)


def symmetric_world() -> KnowledgeGraph:
    """Twenty pairs that know each other; of the last only one direction is there."""
    pairs = [(f"a{number}", f"b{number}") for number in range(20)]
    known = [(left, "knows", right) for left, right in pairs] + [(right, "knows", left) for left, right in pairs[:-1]]
    return KnowledgeGraph.from_triples(known)


def links(network: list[float], rules: list[float], **others: list[float]) -> LinkEvidence:
    """Evidence about the candidates of one set."""
    count = len(network)
    values = {"sources": [0.0] * count, "carried": [0.0] * count} | others
    row = {name: torch.tensor([value]) for name, value in {"network": network, "rules": rules, **values}.items()}
    one = torch.ones(1)
    return LinkEvidence(row["network"], row["rules"], row["sources"], row["carried"], 0.5 * one, one, one, one)


def probabilities(evidence: LinkEvidence) -> Tensor:
    return WEIGHTS.probabilities(evidence)[0]


class TestCombination:
    def test_what_a_rule_leads_to_is_likelier_than_what_none_does(self) -> None:
        found = probabilities(links([0.5, 0.5, 0.5], [0.0, 0.3, 0.9]))
        assert found[0] < found[1] < found[2]

    def test_where_no_rule_fires_the_network_decides(self) -> None:
        found = probabilities(links([0.2, 0.9, 0.99], [0.0, 0.0, 0.0]))
        assert found[0] < found[1] < found[2]

    def test_what_has_many_rivals_is_less_likely(self) -> None:
        few, many = links([0.9, 0.1, 0.1], [0.0] * 3), links([0.9, 0.9, 0.9], [0.0] * 3)
        assert probabilities(few)[0] > probabilities(many)[0]

    def test_known_targets_are_no_rivals(self) -> None:
        alone = links([0.9, 0.9], [0.0, 0.0], carried=[0.0, 1.0])
        assert probabilities(alone)[0] > probabilities(links([0.9, 0.9], [0.0, 0.0]))[0]

    def test_targets_of_weak_members_hardly_make_anything_likelier(self) -> None:
        network, rules = [0.9] + [0.1] * 99, [0.0] * 100
        reached = probabilities(links(network, rules, carried=[0.0] + [1e-5] * 99))
        assert float(reached[0]) == pytest.approx(float(probabilities(links(network, rules))[0]), rel=0.01)

    def test_extremes_stay_finite(self) -> None:
        assert bool(torch.isfinite(probabilities(links([0.0, 1.0], [0.0, 1.0]))).all())

    def test_with_an_offset_of_its_own_a_row_adds_up_to_what_is_missing(self) -> None:
        evidence = links([0.9, 0.6, 0.2, 0.1], [0.0] * 4)
        own = OwnRows(torch.zeros(1, len(EVIDENCE)), torch.zeros(1, len(CALIBRATION)))
        for missing in (0.01, 1.0, 2.5):
            wanted = replace(evidence, missing=torch.tensor([missing]))
            found = WEIGHTS.probabilities(wanted, own)[0]
            assert float(found.sum()) == pytest.approx(missing, rel=1e-3)
            assert found.argsort().tolist() == probabilities(wanted).argsort().tolist()

    def test_more_cannot_be_missing_than_there_are_candidates(self) -> None:
        own = OwnRows(torch.zeros(1, len(EVIDENCE)), torch.zeros(1, len(CALIBRATION)))
        evidence = replace(links([0.9, 0.6], [0.0] * 2, carried=[0.0, 1.0]), missing=torch.tensor([50.0]))
        assert bool(torch.isfinite(WEIGHTS.logits(evidence, own)).all())
        assert 0.9 < float(WEIGHTS.probabilities(evidence, own)[0, 0]) < 1

    def test_a_set_unlike_the_single_sources_of_the_fit_is_not_made_certain_to_reach_what_is_missing(self) -> None:
        own = OwnRows(torch.zeros(1, len(EVIDENCE)), torch.zeros(1, len(CALIBRATION)))
        weak = replace(links([0.1] + [1e-6] * 99, [0.0] * 100), missing=torch.tensor([60.0]))
        single, pair = (replace(weak, size=torch.tensor([size])) for size in (1.0, 2.4))
        assert float(WEIGHTS.probabilities(single, own)[0].max()) > 0.99
        found = WEIGHTS.probabilities(pair, own)[0]
        assert float(found[0]) < 0.9
        assert found.argmax() == 0

    def test_it_survives_json(self) -> None:
        again = Combination.from_json(json.loads(json.dumps(WEIGHTS.to_json())))
        assert again == WEIGHTS

    @pytest.mark.parametrize(
        "wrong",
        [
            {"version": 2},
            {"evidence": {"gut feeling": {"one": 1.0}}},
            {"evidence": {"network": {"weather": 1.0}}},
            {"offset": {"one": float("nan")}},
            {"scale": "large"},
        ],
    )
    def test_what_is_no_combination_is_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(EvaluationError, match="not a combination"):
            Combination.from_json({**WEIGHTS.to_json(), **wrong})


class TestCombined:
    def test_a_rule_of_this_very_graph_decides_where_the_network_knows_nothing(self) -> None:
        graph = symmetric_world()
        source, wanted = (graph.vocabulary.entity_id(name) for name in ("b19", "a19"))
        strong = Combination({"network": {"one": 0.01}, "rules": {"one": 1.0}}, {"one": -3.0})
        method = Combined(zero_shot(), MinedRules(samples=20), strong)
        assert int(method.answer(graph, [Project(0, Anchor(source))])[0].argmax()) == wanted

    def test_known_answers_come_first(self) -> None:
        graph = symmetric_world()
        source, known = (graph.vocabulary.entity_id(name) for name in ("a3", "b3"))
        scores = combined().answer(graph, [Project(0, Anchor(source))])[0]
        assert float(scores[known]) == 1
        assert float(scores.topk(2).values[1]) <= WEIGHTS.ceiling

    def test_a_graph_that_is_too_large_for_memory_is_read_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph, method = symmetric_world(), combined()
        query = Project(0, Anchor(graph.vocabulary.entity_id("b19")))
        whole = method.answer(graph, [query])[0]
        monkeypatch.setattr(footprint, "bytes_free", lambda _device=None: 1000)
        in_parts = combined()
        assert in_parts.near(graph) is not None
        assert torch.allclose(in_parts.answer(graph, [query])[0], whole, atol=1e-4)
        with pytest.raises(TooLarge, match="--effort normal"):
            combined().at("full").answer(graph, [query])

    def test_memory_is_looked_at_before_the_first_question_to_a_large_graph(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        graph, method = symmetric_world(), combined()
        monkeypatch.setattr(footprint, "bytes_free", lambda _device=None: 1000)
        method.check_memory(graph)
        monkeypatch.setattr(combined_module, "NEVER_LARGE", 0)
        with pytest.raises(TooLarge, match=r"predictions need about .* --method exact"):
            method.check_memory(graph)
        method.answer(graph, [Project(0, Anchor(0))])
        method.check_memory(graph)

    def test_a_fact_added_a_second_ago_counts(self) -> None:
        graph, method = symmetric_world(), combined()
        method.answer(graph, [Project(0, Anchor(0))])
        grown = graph.extended_with([("newcomer", "knows", "a0")])
        source, wanted = (grown.vocabulary.entity_id(name) for name in ("a0", "newcomer"))
        before = method.rules.project(graph, torch.eye(graph.num_entities)[:1], torch.tensor([0]))
        after = method.rules.project(grown, torch.eye(grown.num_entities)[source : source + 1], torch.tensor([0]))
        assert before.shape[1] == wanted
        assert float(after[0, wanted]) > 0.5
