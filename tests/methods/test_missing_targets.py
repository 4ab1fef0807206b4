"""How many targets a source is expected to miss: of a relation with one, with several, and of what has none."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.graph import KnowledgeGraph
from unseen.methods.own_weights.hidden_rows import MISSING
from unseen.methods.own_weights.missing_targets import count_in, missing_targets


def currencies(without: int, most: int = 100) -> KnowledgeGraph:
    """Countries that border each other and have one currency, but for a few; a river has none of either."""
    borders = [(f"c{place}", "borders", f"c{(place + 1) % most}") for place in range(most)]
    money = [(f"c{place}", "currency", f"m{place % 9}") for place in range(without, most)]
    return KnowledgeGraph.from_triples([*borders, *money, ("river", "flows_into", "sea")])


def missed(graph: KnowledgeGraph, name: str, relation: str = "currency") -> float:
    vocabulary = graph.vocabulary
    found = missing_targets(graph, 2 * int(vocabulary.relations.find_all([relation])[0]))
    return float(found.missing[vocabulary.entities.find_all([name])[0]])


def test_one_who_has_its_only_target_misses_hardly_any() -> None:
    assert missed(currencies(1), "c50") < 0.01


def test_one_of_a_kind_that_nearly_always_has_a_target_misses_one() -> None:
    assert missed(currencies(1), "c0") == 1


def test_where_many_of_a_kind_have_none_less_is_missing() -> None:
    found = [missed(currencies(without), "c0") for without in (30, 60)]
    assert found[0] == pytest.approx(MISSING / (1 - MISSING) * 70 / 30, rel=0.1)
    assert found[1] < found[0]


def test_another_kind_misses_less() -> None:
    graph = currencies(10)
    assert missed(graph, "river") < 0.2 * missed(graph, "c0")


def test_of_several_targets_as_many_are_missing_as_are_hidden() -> None:
    random = np.random.default_rng(0)
    whole = [(f"s{source}", "has", f"t{target}") for source in range(400) for target in range(20)]
    graph = KnowledgeGraph.from_triples([fact for fact in whole if random.random() > MISSING])
    found = missing_targets(graph, 0)
    sources = np.unique(graph.heads)
    assert found.missing[sources].mean() == pytest.approx(20 * MISSING, rel=0.2)


def test_a_set_whose_members_share_their_targets_misses_fewer() -> None:
    members = [(f"c{place}", "lies_on", f"k{place % 2}") for place in range(50)]
    have = [(f"c{place}", "speaks", f"l{place % 2}") for place in range(40)]
    found = missing_targets(KnowledgeGraph.from_triples(members + have), 2)
    everyone = np.ones(len(found.missing), np.float32)
    apart = found.of_set(slice(None), everyone, reached=40.0)
    assert found.of_set(slice(None), everyone, reached=2.0) == pytest.approx(apart * 2 / 40)
    assert apart > 1


def test_numbers_may_be_counted_in_another_graph() -> None:
    whole = currencies(1)
    hidden = whole.restricted_to(np.arange(whole.num_triples) < 180)
    count_in(hidden, whole)
    name = hidden.vocabulary.entities.name(int(whole.heads[-2]))
    assert missed(hidden, name) == 1
