"""Rules are counted right, repeatably, and come back from their file."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.rules.worlds import family, rule_world
from unseen.errors import GraphError, UnseenError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.rules import mining, updating
from unseen.rules.listing import listed
from unseen.rules.mining import mine
from unseen.rules.path_mining import LEAST_SUPPORT
from unseen.rules.rule_set import PathRules, Rules
from unseen.rules.updating import updated

pytestmark = pytest.mark.usefixtures("few_hidden")
"""These tests are about what is mined, not about weights."""


def random_graph(seed: int = 0, entities: int = 25, relations: int = 3, edges: int = 90) -> KnowledgeGraph:
    random = np.random.default_rng(seed)
    ends = random.integers(0, entities, (2, edges)).astype(np.int32)
    names = random.integers(0, relations, edges).astype(np.int32)
    return KnowledgeGraph(ends[0], names, ends[1], Vocabulary.numbered(entities, relations))


def counted(graph: KnowledgeGraph, length: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """Support and pairs of every rule of a length, by looking at all pairs of entities."""
    count, size = 2 * graph.num_relations, graph.num_entities
    edges = np.zeros((count, size, size), bool)
    for relation in range(count):
        edges[(relation, *graph.edges_from(relation))] = True
    found = {}
    for steps in product(range(count), repeat=length):
        ends = {x: {(x,)} for x in range(size)}
        for step in steps:
            ends = {
                x: {(*path, int(z)) for path in paths for z in np.flatnonzero(edges[step, path[-1]]) if z not in path}
                for x, paths in ends.items()
            }
        pairs = {(x, path[-1]) for x, paths in ends.items() for path in paths}
        for head in range(count):
            support = sum(bool(edges[head, x, z]) for x, z in pairs)
            if support >= LEAST_SUPPORT and steps != (head,):
                found[(head, *steps)] = (support, len(pairs))
    return found


@pytest.mark.parametrize("length", [1, 2])
def test_short_rules_are_those_that_counting_all_pairs_finds(length: int) -> None:
    graph = random_graph()
    rules = mine(graph).paths
    found = {
        (head, *(step for step in steps if step >= 0)): (round(float(support)), round(float(pairs)))
        for head, steps, support, pairs in zip(
            rules.heads.tolist(), rules.steps.tolist(), rules.support, rules.pairs, strict=True
        )
        if sum(step >= 0 for step in steps) == length
    }
    assert found == counted(graph, length)


def test_long_rules_are_counted_right() -> None:
    graph = random_graph(entities=20, relations=2, edges=40)
    expected, rules = counted(graph, 3), mine(graph).paths
    long = np.flatnonzero(rules.steps[:, 2] >= 0)
    assert len(long)
    for place in long:
        key = (int(rules.heads[place]), *rules.steps[place].tolist())
        assert expected[key] == (round(float(rules.support[place])), round(float(rules.pairs[place])))


def test_a_fact_is_never_its_own_reason() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "a"), ("c", "r", "d"), ("a", "s", "a")])
    rules = mine(graph).paths
    for head, steps in zip(rules.heads.tolist(), rules.steps.tolist(), strict=True):
        assert steps[:2] != [head, -1]
    world = rule_world("inverse")
    assert not [rule for rule in listed(mine(world.graph), world.graph) if rule.body == (rule.head,)]


def test_the_same_seed_and_samples_give_the_same_rules_and_few_samples_give_estimates() -> None:
    graph = rule_world("composition", entities=400).graph
    first, second = (mine(graph, samples=10, seed=3) for _ in range(2))
    for name, values in vars(first.paths).items():
        assert np.array_equal(values, getattr(second.paths, name))
    assert np.array_equal(first.weights.coefficients, second.weights.coefficients)
    best = listed(first, graph, graph.vocabulary.relations.find("r"), 1)[0]
    assert str(best) == "r(x, z) <- a(x, y), b(y, z)"
    assert best.confidence == pytest.approx(0.9, abs=0.15)


def test_a_time_limit_gives_a_complete_round() -> None:
    graph = family().graph
    rules = mine(graph, seconds=0.1)
    assert rules.samples >= mining.FIRST_SAMPLES
    assert len(rules)


@pytest.mark.parametrize("effort", [{"samples": 0}, {"seconds": 0.0}, {"samples": 1, "seconds": 1.0}])
def test_an_impossible_effort_is_refused(effort: dict) -> None:
    with pytest.raises(UnseenError):
        mine(random_graph(), **effort)


def test_rules_come_back_from_their_file(tmp_path: Path) -> None:
    graph = family().graph
    rules = mine(graph)
    rules.save(tmp_path / "rules")
    again = Rules.load(tmp_path / "rules")
    assert again.is_of(graph)
    assert again.checksum == rules.checksum
    assert listed(again, graph) == listed(rules, graph)
    assert np.array_equal(again.weights.coefficients, rules.weights.coefficients)
    assert not again.is_of(graph.extended_with([("someone", "parent_of", "somebody")]))


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x10\x00\x00\x00\x00\x00\x00\x00{}              "])
def test_a_damaged_file_is_an_error_with_a_path(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rules"
    path.write_bytes(content)
    with pytest.raises(GraphError, match="rules"):
        Rules.load(path)
    with pytest.raises(GraphError, match="missing"):
        Rules.load(tmp_path / "missing")


def test_a_large_graph_that_grew_keeps_rules_of_untouched_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updating, "SMALL", 10)
    graph = rule_world("composition").graph
    rules = mine(graph)
    assert updated(rules, graph) is rules
    copied = [(head, "copy", tail) for head, relation, tail in graph.triples() if relation == "a"][:80]
    grown = graph.extended_with(copied)
    new = updated(rules, grown)
    best = listed(new, grown, grown.vocabulary.relations.find("copy"), 1)[0]
    assert str(best) == "copy(x, z) <- a(x, z)"
    relation, text = graph.vocabulary.relations.find("r"), "r(x, z) <- a(x, y), b(y, z)"
    before, after = (
        next(rule for rule in listed(found, own, relation) if str(rule) == text)
        for found, own in ((rules, graph), (new, grown))
    )
    assert before == after
    assert "r(x, z) <- copy(x, y), b(y, z)" in [str(rule) for rule in listed(new, grown, relation)]


def test_an_update_counts_what_mining_everything_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updating, "SMALL", 10)
    monkeypatch.setattr(updating, "MOST_CHANGED", 1.0)
    graph = random_graph(seed=3, relations=4)
    left = graph.restricted_to((graph.relations != 1) | (np.arange(graph.num_triples) % 4 > 0))
    new, whole = (_counted_rules(rules.paths) for rules in (updated(mine(left), graph), mine(graph)))
    short = {rule: numbers for rule, numbers in whole.items() if rule[3] < 0}
    assert {rule: new.get(rule) for rule in short} == short


def test_removed_facts_take_their_rules_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updating, "SMALL", 10)
    graph = rule_world("composition").graph
    copied = [(head, "copy", tail) for head, relation, tail in graph.triples() if relation == "a"][:90]
    more = graph.extended_with(copied)
    copies = more.relations == more.vocabulary.relations.find("copy")
    new = updated(mine(more), more.restricted_to(~copies | (np.cumsum(copies) <= 1)))
    assert not [rule for rule in listed(new, more) if "copy" in str(rule)]


def _counted_rules(paths: PathRules) -> dict[tuple[int, ...], tuple[int, int]]:
    columns = paths.heads.tolist(), paths.steps.tolist(), paths.support, paths.pairs
    return {
        (head, *steps): (round(float(support)), round(float(pairs)))
        for head, steps, support, pairs in zip(*columns, strict=True)
    }


def test_confidence_is_not_too_high_on_hubs() -> None:
    """Few sources lead to the hub, and through it to everything: a sample misses it, and most pairs with it."""
    random = np.random.default_rng(0)
    own = [(f"x{i}", "a", f"y{i}") for i in range(600)] + [(f"y{i}", "b", f"z{i}") for i in range(600)]
    through = [(f"x{i}", "a", "hub") for i in range(0, 600, 40)] + [("hub", "b", f"z{i}") for i in range(600)]
    said = [(f"x{i}", "r", f"z{i}") for i in range(0, 600, 3)]
    chance = [(f"x{i}", "r", f"z{j}") for i in range(0, 600, 40) for j in random.integers(600, size=8).tolist()]
    graph = KnowledgeGraph.from_triples([*own, *through, *said, *chance])
    facts = set(graph.triples())
    onward = {f"y{i}": [f"z{i}"] for i in range(600)} | {"hub": [f"z{i}" for i in range(600)]}
    ends = {(x, z) for x, relation, y in facts if relation == "a" for z in onward[y]}
    support = sum((x, "r", z) in facts for x, z in ends)
    rule = next(
        rule
        for rule in listed(mine(graph, samples=5), graph, graph.vocabulary.relations.find("r"))
        if str(rule) == "r(x, z) <- a(x, y), b(y, z)"
    )
    assert rule.pairs == pytest.approx(len(ends), rel=0.1)
    assert rule.confidence == pytest.approx(support / (len(ends) + 5), rel=0.4)


def test_a_graph_without_facts_has_no_rules() -> None:
    graph = random_graph()
    assert len(mine(graph.restricted_to(np.zeros(graph.num_triples, bool)))) == 0
    assert len(mine(KnowledgeGraph.from_triples([]))) == 0


def test_rules_with_constants_are_listed() -> None:
    world = rule_world("attribute")
    rules = [str(rule) for rule in listed(mine(world.graph), world.graph, top=30)]
    assert any(rule.startswith("is_a(x, class ") and "<- likes(x, thing " in rule for rule in rules)
