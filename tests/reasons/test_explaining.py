"""Every answer has its reasons: proofs, rules, the model's share, and what is absent."""

from __future__ import annotations

import json

import pytest

import unseen
from tests.reasons.test_moving_facts import Watching
from tests.reasons.tree import TREE
from unseen.api import ask_all
from unseen.asking.answers import Answer
from unseen.asking.preparing import prepare
from unseen.errors import Stopped
from unseen.graph import KnowledgeGraph
from unseen.logic.stopping import stop_when
from unseen.methods.mined_rules import MinedRules
from unseen.reasons import explaining
from unseen.reasons.method_parts import MethodParts
from unseen.rules.mining import mine
from unseen.rules.rule_set import Rules


@pytest.fixture(scope="module")
def tree() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(TREE)


def asked(graph: KnowledgeGraph, question: str, **options: object) -> dict[str, Answer]:
    found = unseen.ask(graph, question, method="rules", explain=True, **options)  # type: ignore[arg-type]
    return {answer.entity: answer for answer in found}


def test_a_predicted_answer_has_the_rule_the_edges_and_the_counts(tree: KnowledgeGraph) -> None:
    best = asked(tree, "?x : grandparent_of(Ann0, x)")["Eve0"].reasons[0]
    assert (best.kind, best.head) == ("rule", ("Ann0", "grandparent_of", "Eve0"))
    assert best.body == (("Ann0", "parent_of", "Bob0"), ("Bob0", "parent_of", "Eve0"))
    assert best.rule == "grandparent_of(x, z) <- parent_of(x, y), parent_of(y, z)"
    assert (best.support, best.pairs) == (8, 9)
    assert best.confidence == pytest.approx(8 / 14)
    assert best.text == ("because parent_of(Ann0, Bob0) and parent_of(Bob0, Eve0); holds for 8 of 9 such pairs")


def test_a_known_answer_has_its_proof(tree: KnowledgeGraph) -> None:
    answer = asked(tree, "?x : exists v . grandparent_of(Ann1, v) & lives_in(v, x)")["Graz"]
    (proof,) = answer.reasons
    assert (answer.known, proof.kind, proof.body) == (True, "known", answer.edges)
    assert proof.text == "the graph says grandparent_of(Ann1, Eve1) and lives_in(Eve1, Graz)"


def test_in_a_question_of_two_steps_known_links_are_stated_and_predicted_ones_have_reasons(
    tree: KnowledgeGraph,
) -> None:
    answer = asked(tree, "?x : exists v . grandparent_of(Ann0, v) & likes(v, x)")["Chess"]
    assert (answer.known, answer.bindings) == (False, {"v": "Eve0"})
    heads = [(reason.kind, reason.head) for reason in answer.reasons]
    assert heads[0] == ("rule", ("Ann0", "grandparent_of", "Eve0"))
    assert heads[-1] == ("known", ("Eve0", "likes", "Chess"))
    assert answer.reasons[-1].text == "the graph says likes(Eve0, Chess)"


def test_what_is_excluded_is_said_to_be_absent(tree: KnowledgeGraph) -> None:
    question = "?x : grandparent_of({}, x) & !lives_in(x, {})"
    for start, known in (("Ann2", True), ("Ann0", False)):
        answer = asked(tree, question.format(start, "Graz"))[f"Eve{start[-1]}"]
        last = answer.reasons[-1]
        assert (answer.known, last.kind) == (known, "absent")
        assert last.head == (answer.entity, "lives_in", "Graz")
        assert last.text == f"the graph does not say lives_in({answer.entity}, Graz)"


def test_a_whole_question_that_is_excluded_is_written_out(tree: KnowledgeGraph) -> None:
    question = "?x : lives_in(x, Linz) & !(exists v . parent_of(x, v) & likes(v, Chess))"
    last = asked(tree, question)["Eve2"].reasons[-1]
    assert (last.kind, last.head) == ("absent", None)
    assert last.text == "the graph does not say exists v . likes(v, Chess) & parent_of(Eve2, v)"


def test_every_alternative_that_is_excluded_is_named(tree: KnowledgeGraph) -> None:
    answer = asked(tree, "?x : parent_of(Bob2, x) & !(likes(x, Chess) | lives_in(x, Graz))")["Eve2"]
    absent = [reason.text for reason in answer.reasons if reason.kind == "absent"]
    assert absent == ["the graph does not say likes(Eve2, Chess)", "the graph does not say lives_in(Eve2, Graz)"]


def test_what_speaks_against_an_answer_is_said_too(tree: KnowledgeGraph) -> None:
    model = Watching(tree, TREE[0])
    question = prepare(tree, "?x : parent_of(Ann0, x) & !likes(x, Chess)", explain=True, top=100)
    found = {answer.entity: answer for answer in ask_all(tree, [question], model, "watching")[0]}
    assert "Eve0" not in found, "what is certain to be excluded is no answer"
    question = prepare(tree, "?x : parent_of(Ann0, x) & !(likes(x, Chess) & lives_in(x, Linz))", explain=True, top=100)
    assert "Eve1" in {answer.entity for answer in ask_all(tree, [question], model, "watching")[0]}


class TestTheModelsShare:
    """Where rules do not explain an answer, the model's own probability and what moves it."""

    STARS = [(f"a{i}", "r", f"b{i}") for i in range(6)] + [(f"b{i}", "s", f"a{(i + 1) % 6}") for i in range(6)]

    @pytest.fixture
    def graph(self) -> KnowledgeGraph:
        return KnowledgeGraph.from_triples([*self.STARS, ("a0", "t", "c"), ("c", "u", "b3")])

    def test_a_link_without_rules_names_the_facts_that_move_it(self, graph: KnowledgeGraph) -> None:
        model = Watching(graph, ("c", "u", "b3"))
        question = prepare(graph, "?x : t(a0, x)", explain=True, predicted_only=True, top=100)
        found = {answer.entity: answer for answer in ask_all(graph, [question], model, "watching")[0]}
        reason = found["b3"].reasons[-1]
        assert (reason.kind, reason.head, reason.share) == ("network", ("a0", "t", "b3"), 1.0)
        assert reason.probability == pytest.approx(0.6)
        assert all(answer.reasons for answer in found.values())

    def test_a_method_of_rules_alone_leaves_nothing_out(self, tree: KnowledgeGraph) -> None:
        answers = asked(tree, "?x : grandparent_of(Ann0, x)").values()
        assert all(answer.reasons for answer in answers)
        others = [reason for answer in answers for reason in answer.reasons if reason.kind != "rule"]
        assert all(reason.text.startswith("no rule that holds twice leads here") for reason in others)

    def test_the_share_of_a_model_beside_rules_is_what_it_gives_alone(self, graph: KnowledgeGraph) -> None:
        class Both(Watching):
            """Rules that say nothing, and a model that gives everything a chance of 0.1."""

            beside_rules = Watching(graph, ("a0", "t", "c"))

            def rules_of(self, graph: KnowledgeGraph) -> Rules:
                return mine(graph, samples=1)

        both = Both(graph, ("c", "u", "b3"))
        both.beside_rules.link = both.beside_rules.link._replace(target=0)  # a fact that is not there
        assert MethodParts.of(both).model is both.beside_rules
        question = prepare(graph, "?x : t(a0, x)", explain=True, predicted_only=True, top=100)
        found = {answer.entity: answer for answer in ask_all(graph, [question], both, "both")[0]}
        reason = found["b3"].reasons[-1]
        assert (reason.kind, reason.probability) == ("network", pytest.approx(0.1))
        assert reason.share == pytest.approx(0.1 / 0.6)


def test_rules_of_the_method_are_taken_and_others_are_mined(tree: KnowledgeGraph) -> None:
    method = MinedRules()
    relation = tree.vocabulary.relation_id("grandparent_of")
    assert MethodParts.of(method).model is None
    own, mined = MethodParts.of(method).paths(tree, relation), MethodParts.of(None).paths(tree, relation)
    assert set(own.heads.tolist()) == set(mined.heads.tolist()) == {relation}


def test_only_the_first_predictions_have_reasons(tree: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "MOST_REASONED", 2)
    question = "?x : grandparent_of(Ann0, x)"
    answers = unseen.ask(tree, question, method="rules", explain=True, predicted_only=True)
    assert len(answers) > 2
    assert [bool(answer.reasons) for answer in answers][:3] == [True, True, False]


def test_without_explain_there_are_no_reasons(tree: KnowledgeGraph) -> None:
    assert not any(answer.reasons for answer in unseen.ask(tree, "?x : grandparent_of(Ann0, x)", method="rules"))


def test_reasons_are_in_the_json(tree: KnowledgeGraph) -> None:
    plain = unseen.ask(tree, "?x : grandparent_of(Ann0, x)", method="rules", explain=True, top=1).as_json()
    assert json.loads(json.dumps(plain)) == plain
    (first, *_) = plain["answers"][0]["reasons"]
    assert list(first) == ["kind", "text", "head", "body", "rule", "confidence", "support", "pairs"]


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "a\x1b[31mb", "[red]x[/red]", "日本 <b>"])
def test_names_stay_plain_text(name: str) -> None:
    renamed = [tuple(name if part == "Bob0" else part for part in triple) for triple in TREE]
    graph = KnowledgeGraph.from_triples(renamed)  # type: ignore[arg-type]
    best = asked(graph, "?x : grandparent_of(Ann0, x)")["Eve0"].reasons[0]
    assert best.body[0] == ("Ann0", "parent_of", name)
    assert best.text.startswith(f"because parent_of(Ann0, {name}) and parent_of({name}, Eve0); ")


def test_explaining_can_be_stopped_and_repeated() -> None:
    graph = KnowledgeGraph.from_triples(TREE)
    method, question = MinedRules(), prepare(graph, "?x : grandparent_of(Ann0, x)", explain=True)
    method.rules_of(graph)
    checks = 0

    def count() -> bool:
        nonlocal checks
        checks += 1
        return False

    with stop_when(count):
        expected = ask_all(graph, [question], method, "rules")
    for last in (checks // 2, checks - 1):
        left = iter([False] * last)
        with stop_when(lambda left=left: next(left, True)), pytest.raises(Stopped):  # type: ignore[misc]
            ask_all(graph, [question], method, "rules")
    assert ask_all(graph, [question], method, "rules") == expected


def test_a_relation_without_edges_has_no_rules_and_breaks_nothing(tree: KnowledgeGraph) -> None:
    relation = tree.vocabulary.relation_id("grandparent_of")
    emptied = tree.restricted_to(tree.relations != relation // 2)
    question = prepare(emptied, "?x : exists v . grandparent_of(Ann0, v) & parent_of(v, x)", explain=True, top=3)
    answers = ask_all(emptied, [question], Watching(emptied, TREE[2]), "watching")[0]
    assert len(answers) == 3
    assert all(answer.reasons for answer in answers)


def test_an_entity_that_is_named_is_its_own_answer_without_edges(tree: KnowledgeGraph) -> None:
    (answer,) = unseen.ask(tree, "?x : x = Eve0", method="exact", explain=True)
    assert (answer.entity, answer.edges, answer.reasons) == ("Eve0", (), ())
