"""Path counts: each relaxation by hand."""

from __future__ import annotations

import pytest
import torch

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.methods.path_counts import KNOWN, PathCounts

PRICE = 0.1
FACTS = [("a", "r", "x"), ("b", "r", "x"), ("b", "r", "y"), ("c", "s", "y"), ("a", "s", "z"), ("y", "t", "a")]
GRAPH = KnowledgeGraph.from_triples(FACTS)


def entity(name: str) -> int:
    return GRAPH.vocabulary.entity_id(name)


def project(relation: str, source: Query | str) -> Project:
    start = Anchor(entity(source)) if isinstance(source, str) else source
    return Project(GRAPH.vocabulary.relation_id(relation), start)


def ways(query: Query) -> dict[str, float]:
    """The counts behind the memberships, by name; known answers apart."""
    row = PathCounts(PRICE).answer(GRAPH, [query])[0].double()
    share = torch.where(row >= KNOWN, row - KNOWN, row) / (1 - KNOWN)
    counts = share / (1 - share)
    names = [GRAPH.vocabulary.entities.name(number) for number in range(GRAPH.num_entities)]
    return {name: round(float(count), 4) for name, count in zip(names, counts, strict=True) if count > 0}


def test_an_edge_a_relation_without_its_head_and_any_edge_from_the_head() -> None:
    # x: the edge itself, two edges of r from anywhere, one edge of any kind; y: one edge of r, and t between y and a
    assert ways(project("r", "a")) == {"x": 1 + 2 * PRICE + PRICE, "y": PRICE + PRICE}


def test_a_path_may_begin_anywhere_or_lose_its_first_edge() -> None:
    inner = ways(project("r", "a"))
    found = ways(project("t", project("r", "a")))
    assert found == {"a": pytest.approx(inner["y"] + PRICE**2 + PRICE * inner["x"] + PRICE * inner["y"], abs=1e-3)}


def test_parts_of_an_intersection_may_be_left_out_and_unions_add_up() -> None:
    one, other = project("r", "a"), project("s", "c")
    first, second = ways(one), ways(other)
    both, either = ways(And((one, other))), ways(Or((one, other)))
    for name in ("x", "y", "z"):
        expected = (first.get(name, 0) + PRICE**2) * (second.get(name, 0) + PRICE**2)
        assert both[name] == pytest.approx(expected, abs=1e-3)
        assert either[name] == pytest.approx(first.get(name, 0) + second.get(name, 0), abs=1e-3)


def test_known_answers_lie_above_all_others_and_are_what_a_negation_excludes() -> None:
    scores = PathCounts().answer(GRAPH, [project("r", "b"), And((project("r", "b"), Not(project("s", "c"))))])
    known = [entity("x"), entity("y")]
    assert scores[0].topk(2).indices.sort().values.tolist() == sorted(known)
    assert float(scores[0][known].min()) >= KNOWN
    assert int(scores[1].argmax()) == entity("x")
    assert float(scores[1][entity("y")]) < KNOWN


def test_no_questions() -> None:
    assert PathCounts().answer(GRAPH, []).shape == (0, GRAPH.num_entities)
