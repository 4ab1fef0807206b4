"""Relations that cannot be predicted: when there is a verdict, and what becomes of answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

import unseen
from tests.cli.command import command_in
from unseen.api import ask_all, open_method
from unseen.asking.cautions import Cautions
from unseen.asking.preparing import prepare
from unseen.datasets.hidden_facts import hidden_of_relation
from unseen.evaluation.predictability import NO_VERDICT, Verdict, largest_share
from unseen.graph import KnowledgeGraph
from unseen.graph.vocabulary import directed_relation
from unseen.logic.algebra import Query

LIKES = "?x : likes(e0, x)"
NEXT = "?x : next_to(e0, x)"


@pytest.fixture(scope="module")
def world() -> KnowledgeGraph:
    """600 entities in a ring, both ways round, which is a rule; and whom they like, which is none."""
    random = np.random.default_rng(0)
    names = [f"e{number}" for number in range(600)]
    ring = [(names[i], "next_to", names[i - 1]) for i in range(600)]
    liked = [(name, "likes", names[random.integers(600)]) for name in names for _ in range(2)]
    return KnowledgeGraph.from_triples([*ring, *((b, r, a) for a, r, b in ring), *liked])


def relation(graph: KnowledgeGraph, name: str, inverse: bool = False) -> int:
    return directed_relation(graph.vocabulary.relations.find(name), inverse)


class Guesses:
    """A method that gives each entity the same small probability for every question."""

    def __init__(self, first: Sequence[int] = ()) -> None:
        self.first, self.asked = list(first), 0

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Guesses:
        self.entities, self.asked = graph.num_entities, self.asked + len(queries)
        return self

    def stacked(self, queries: Sequence[Query]) -> torch.Tensor:
        values = torch.full((len(queries), self.entities), 0.01)
        values[:, self.first] = 0.5
        return values


class TestVerdicts:
    """The rule by which a relation counts as unpredictable."""

    def test_the_largest_share_is_that_of_clopper_and_pearson(self) -> None:
        assert largest_share(0, 29) == pytest.approx(1 - 0.05 ** (1 / 29))
        share = largest_share(1, 40)
        assert (1 - share) ** 40 + 40 * share * (1 - share) ** 39 == pytest.approx(0.05)
        assert largest_share(0, 40) < largest_share(0.5, 40) < largest_share(1, 40)
        assert largest_share(40, 40) == 1

    @pytest.mark.parametrize(
        ("tried", "found", "chance", "expected"),
        [
            (40, 0, 0.001, True),
            (29, 0, 0.001, True),
            (28, 0, 0.001, False),
            (40, 1, 0.001, False),
            (46, 1, 0.001, True),
            (40, 4, 0.001, False),
            (40, 30, 0.9, False),
            (0, 0, 0.001, False),
        ],
    )
    def test_only_many_facts_without_hits_make_a_verdict(
        self, tried: int, found: float, chance: float, expected: bool
    ) -> None:
        assert Verdict(tried, found, chance).is_at_chance == expected

    def test_rules_tell_a_rule_from_noise(self, world: KnowledgeGraph) -> None:
        cautions = Cautions(open_method("rules"), "rules")
        assert not cautions.verdict(world, relation(world, "next_to")).is_at_chance
        assert not cautions.verdict(world, relation(world, "next_to", inverse=True)).is_at_chance
        assert cautions.verdict(world, relation(world, "likes")).is_at_chance

    def test_a_model_is_asked_about_hidden_facts_until_one_comes_back(self, world: KnowledgeGraph) -> None:
        guesses = Guesses()
        verdict = Cautions(guesses, "model").verdict(world, relation(world, "likes"))
        assert verdict.is_at_chance
        assert guesses.asked <= verdict.tried == 40
        hidden = hidden_of_relation(world, world.vocabulary.relations.find("likes"), 40, seed=0)
        lucky = Guesses(world.tails[hidden][:9].tolist())
        assert not Cautions(lucky, "model").verdict(world, relation(world, "likes")).is_at_chance

    def test_few_facts_and_large_graphs_make_no_verdict_of_a_model(
        self, family: KnowledgeGraph, world: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert Cautions(Guesses(), "model").verdict(family, 0) == NO_VERDICT
        monkeypatch.setattr("unseen.asking.cautions.MOST_TRIPLES", 100)
        assert Cautions(Guesses(), "model").verdict(world, relation(world, "likes")) == NO_VERDICT

    def test_a_verdict_is_kept_until_the_relation_has_changed(self, world: KnowledgeGraph) -> None:
        guesses = Guesses()
        cautions = Cautions(guesses, "model")
        first = cautions.verdict(world, relation(world, "likes"))
        asked = guesses.asked
        grown = world.extended_with([("e0", "likes", f"e{number}") for number in range(100)])
        assert cautions.verdict(grown, relation(world, "likes")) is first
        assert guesses.asked == asked
        larger = grown.extended_with([("e1", "likes", f"e{number}") for number in range(100)])
        cautions.verdict(larger, relation(world, "likes"))
        assert guesses.asked > asked


class TestAnswers:
    """What is shown."""

    def test_predictions_at_chance_are_not_shown_unless_asked_for(self, world: KnowledgeGraph) -> None:
        answers = unseen.ask(world, LIKES, method="rules")
        assert all(answer.known for answer in answers)
        assert len(answers.warnings) == 1
        told = r"cannot predict likes\(…, \?\) in this graph: [0-3] of 40 hidden facts came back"
        assert re.search(told, answers.warnings[0])
        assert answers.as_json()["warnings"] == list(answers.warnings)
        everything = unseen.ask(world, LIKES, method="rules", all_predictions=True)
        assert everything.warnings == ()
        assert not all(answer.known for answer in everything)
        assert "warnings" not in everything.as_json()

    def test_other_relations_are_shown_as_ever(self, world: KnowledgeGraph) -> None:
        assert unseen.ask(world, NEXT, method="rules").warnings == ()
        assert unseen.ask(world, LIKES, method="edge-type").warnings == ()
        assert unseen.ask(world, LIKES, method="exact").warnings == ()

    def test_a_question_that_needs_other_relations_too_is_answered_with_a_warning(self, world: KnowledgeGraph) -> None:
        answers = unseen.ask(world, "?x : exists y . likes(e0, y) & next_to(y, x)", method="rules")
        assert len(answers.warnings) == 1
        assert "guesses" in answers.warnings[0]
        assert not all(answer.known for answer in answers)
        negated = "?x : next_to(e0, x) & !likes(e1, x)"
        assert unseen.ask(world, negated, method="rules").warnings == ()

    def test_the_command_line_says_it_in_one_line(
        self,
        world: KnowledgeGraph,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path = tmp_path / "world.tsv"
        path.write_text("".join("\t".join(triple) + "\n" for triple in world.triples()), encoding="utf-8")
        command = command_in(monkeypatch, capsys)
        result = command("ask", path, LIKES, "--method", "rules")
        assert result.code == 0
        assert result.errors.count("\n") == 1
        assert "only known answers are shown (--all shows predictions anyway)" in result.errors
        assert "predicted" not in result.output
        result = command("ask", path, LIKES, "--method", "rules", "--all")
        assert result.errors == ""
        assert "predicted" in result.output

    def test_one_question_of_a_batch_does_not_silence_another(self, world: KnowledgeGraph) -> None:
        method = open_method("rules")
        bound = [prepare(world, text) for text in (LIKES, NEXT)]
        cautions = Cautions(method, "rules")
        given = ask_all(world, bound, method, "rules")
        both = [cautions.applied(one, question.query, world) for one, question in zip(given, bound, strict=True)]
        assert [len(answers.warnings) for answers in both] == [1, 0]
