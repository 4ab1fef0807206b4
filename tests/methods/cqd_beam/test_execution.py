"""Beams against the definition, and what must not depend on how the work is cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.graphs import named_graph
from tests.logic.strategies import queries, shaped_queries, triples
from tests.methods.cqd_beam.brute_force import Definition
from tests.methods.cqd_beam.scorers import NamedVectors
from unseen.errors import QueryRefused, UnseenError
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, bind, walk
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers
from unseen.logic.variables import with_variables
from unseen.methods.cqd_beam import BeamOptions, Choices, CqdBeam, VectorLinks, VectorScorer, graph_links
from unseen.methods.cqd_beam.atoms import KNOWN_SPREAD
from unseen.methods.cqd_beam.beam_execution import BeamExecution, MixedExecution

ENTITIES, RELATIONS = ("a", "b", "c", "d"), ("p", "q")
OPTIONS = [
    BeamOptions(beam=0, known_facts=False),
    BeamOptions(beam=0),
    BeamOptions(beam=0, logic="goedel", ceiling=0.5),
    BeamOptions(beam=0, scale="min-max", known_facts=False, negation=2.5),
    BeamOptions(beam=0, scale="softmax", logic="goedel"),
    BeamOptions(beam=0, scale="softmax", negation=0.5, sharpness=3.0),
    BeamOptions(beam=0, scale="softmax", popularity=0.7),
    BeamOptions(beam=0, popularity=1.5, known_facts=False),
]
small_queries = st.one_of(queries(ENTITIES, RELATIONS, 3, safe=False), shaped_queries(ENTITIES, RELATIONS))


def bound(query: Query, graph: KnowledgeGraph) -> Query:
    return bind(query, graph.vocabulary.entity_id, graph.vocabulary.relation_id)


def num_variables(query: Query) -> int:
    return sum(isinstance(node, Project) and not isinstance(node.source, Anchor) for node in walk(query))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: f"{options.logic} {options.scale}")
@given(edges=triples(ENTITIES, RELATIONS, 8), query=small_queries.filter(lambda query: num_variables(query) <= 3))
def test_with_all_entities_kept_it_is_the_best_of_all_assignments(
    options: BeamOptions, edges: list[tuple[str, str, str]], query: Query
) -> None:
    graph = named_graph([*edges, ("a", "p", "b"), ("c", "q", "a")], ENTITIES, RELATIONS)
    asked, scorer = bound(query, graph), NamedVectors(dim=4)
    found = CqdBeam(scorer, options).answer(graph, [asked])[0]
    definition = Definition(graph, scorer.opened(graph), options)
    expected = [definition.membership(asked, entity) for entity in range(len(ENTITIES))]
    assert found.tolist() == pytest.approx(expected, abs=2e-5)


def world(num_entities: int = 60, num_edges: int = 200, seed: int = 0) -> tuple[KnowledgeGraph, list[Query]]:
    """A random graph with a few entities that have no edge, and some queries of every shape."""
    random = np.random.default_rng(seed)
    heads, tails = random.integers(0, num_entities - 5, (2, num_edges))
    names = [f"e{number}" for number in range(num_entities)]
    graph = KnowledgeGraph(heads, random.integers(0, 4, num_edges), tails, Vocabulary.of(names, list("pqrs")))
    limits = {"e": num_entities, "r": 8}
    asked = [
        shape.fill([int(random.integers(limits[slot])) for slot in shape.slots])
        for shape in SHAPES.values()
        for _ in range(3)
    ]
    return graph, [*asked, Project(1, Not(asked[0])), Anchor(3), Or((Anchor(4), asked[0]))]


@pytest.mark.parametrize("scale", ["sigmoid", "min-max", "softmax"])
@pytest.mark.parametrize("cells", [20, 300])
def test_blocks_and_parts_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch, scale: str, cells: int) -> None:
    graph, asked = world(num_entities=25, num_edges=60)
    method = CqdBeam(NamedVectors(), BeamOptions(beam=7, scale=scale))
    expected = method.answer(graph, asked)
    monkeypatch.setitem(graph_links.MOST_CELLS, "cpu", cells)
    monkeypatch.setitem(graph_links.SMALLEST_BLOCK, "cpu", 9)
    assert torch.allclose(method.answer(graph, asked), expected, atol=1e-6)
    blocks = list(method.score_blocks(graph, asked).blocks())
    assert len(blocks) > 1
    assert torch.allclose(torch.cat([block for _, block in blocks], dim=1), expected, atol=1e-6)
    assert [start for start, _ in blocks[1:]] == np.cumsum([block.shape[1] for _, block in blocks])[:-1].tolist()


def test_blocks_can_be_walked_twice_and_are_the_same() -> None:
    graph, asked = world()
    types = {"2p": BeamOptions(beam=3), "2in": BeamOptions(logic="goedel")}
    found = CqdBeam(NamedVectors(), Choices(BeamOptions(beam=5), types)).score_blocks(graph, asked)
    for (start, first), (again, second) in zip(found.blocks(), found.blocks(), strict=True):
        assert start == again
        assert torch.equal(first, second)


def test_a_wider_beam_never_makes_a_positive_answer_less_likely() -> None:
    graph, asked = world()
    positive = [query for query in asked if not any(isinstance(node, Not) for node in walk(query))]
    answers = [
        CqdBeam(NamedVectors(), BeamOptions(beam=beam, scale="sigmoid")).answer(graph, positive)
        for beam in (1, 4, 20, 0)
    ]
    assert all(bool((wider >= narrower - 1e-6).all()) for narrower, wider in pairwise(answers))
    assert not torch.allclose(answers[0], answers[-1])


def test_a_beam_keeps_the_likeliest_values_of_each_variable() -> None:
    graph, _ = world()
    query = Project(2, Project(0, Anchor(1)))
    execution = CqdBeam(NamedVectors(), BeamOptions(beam=6)).estimate(graph, [query])
    assert isinstance(execution, BeamExecution)
    entities, memberships = execution.beams.of([query.source])
    dense = execution.memberships(query.source)
    assert torch.allclose(memberships[0], dense.topk(6).values)
    assert torch.allclose(dense[entities[0]], memberships[0])
    assert execution.beams.entities.shape == (1, 6)


def test_every_type_has_its_own_options_and_others_those_of_their_kind() -> None:
    graph, asked = world()
    own = {"2p": BeamOptions(beam=2), "2in": BeamOptions(negation=3.0), "3p": BeamOptions(logic="goedel")}
    choices = Choices(BeamOptions(), own)
    mixed = CqdBeam(NamedVectors(), choices)
    for query, row in zip(asked, mixed.answer(graph, asked), strict=True):
        alone = CqdBeam(NamedVectors(), choices.of(query)).answer(graph, [query])[0]
        assert torch.allclose(row, alone, atol=1e-6)
    assert choices.of(SHAPES["3in"].skeleton) is own["2in"]
    assert choices.of(Project(0, SHAPES["3p"].skeleton)) is choices.default
    estimates = mixed.estimate(graph, asked)
    assert isinstance(estimates, MixedExecution)
    assert torch.allclose(estimates.stacked(asked), mixed.answer(graph, asked), atol=1e-6)


def test_known_facts_come_before_predictions_and_can_be_left_out() -> None:
    graph, _ = world()
    head, relation = int(graph.heads[0]), 2 * int(graph.relations[0])
    tails = graph.tails[(graph.heads == head) & (graph.relations == graph.relations[0])].tolist()
    with_facts, without = (
        CqdBeam(NamedVectors(), BeamOptions(known_facts=known)).answer(graph, [Project(relation, Anchor(head))])[0]
        for known in (True, False)
    )
    assert set(with_facts.topk(len(set(tails))).indices.tolist()) == set(tails)
    assert float(with_facts.sort(descending=True).values[len(set(tails))]) <= 0.9
    others = [entity for entity in graph.connected_entities.tolist() if entity not in tails]
    assert torch.allclose(with_facts[others], 0.9 * without[others])


@pytest.mark.parametrize("cells", [1 << 20, 50])
def test_any_head_is_a_reason_of_its_own(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setitem(graph_links.MOST_CELLS, "cpu", cells)
    graph, _ = world()
    options = BeamOptions(beam=5, heads="any", known_facts=False)
    method, query = CqdBeam(NamedVectors(), options), Project(2, Project(0, Anchor(1)))
    entities, memberships = method.estimate(graph, [query]).beams.of([query.source])
    links = method.answer(graph, [Project(2, Anchor(int(entity))) for entity in entities[0]])
    expected = 1 - (1 - memberships[0].unsqueeze(1) * links).prod(dim=0)
    assert torch.allclose(method.answer(graph, [query])[0], expected, atol=1e-5)


def test_what_the_graph_itself_answers_is_never_lost() -> None:
    graph, asked = world(num_edges=600)
    positive = [query for query in asked if not any(isinstance(node, Not) for node in walk(query))]
    method = CqdBeam(NamedVectors(), BeamOptions(beam=1))
    for query, row in zip(positive, method.answer(graph, positive), strict=True):
        known = answers(graph, query).tolist()
        links = sum(isinstance(node, Project) for node in walk(query))
        assert float(row[known].min() if len(known) else 1) >= (1 - KNOWN_SPREAD) ** links - 1e-6
    exact = CqdBeam(NamedVectors(), BeamOptions(beam=0)).answer(graph, positive)
    assert bool((method.answer(graph, positive) <= exact + 1e-5).all())


def test_entities_without_an_edge_are_never_predicted() -> None:
    graph, asked = world()
    lonely = np.setdiff1d(np.arange(60), graph.connected_entities)
    assert len(lonely) >= 5
    assert float(CqdBeam(NamedVectors()).answer(graph, asked[:3])[:, lonely].max()) == 0


def test_a_grown_graph_is_seen_at_once() -> None:
    graph, _ = world()
    method, query = CqdBeam(NamedVectors(), BeamOptions(scale="softmax")), Project(0, Anchor(0))
    before = method.answer(graph, [query])
    grown = graph.extended_with([("e0", "p", "newcomer"), ("e0", "p", "e7")])
    after = method.answer(grown, [query])
    newcomer = grown.vocabulary.entity_id("newcomer")
    assert float(after[0, newcomer]) > 0.99
    assert float(after[0, 7]) > 0.99
    assert torch.equal(method.answer(graph, [query]), before)
    del graph, grown, after
    import gc

    gc.collect()
    assert len(method._facts) == 0


class TestWitness:
    """The value of each inner variable on the best way to an answer."""

    @pytest.mark.parametrize("logic", ["product", "goedel"])
    def test_it_gives_the_answer_its_membership(self, logic: str) -> None:
        graph, _ = world()
        query = with_variables(SHAPES["3p"].fill([2, 0, 3, 4]))
        execution = CqdBeam(NamedVectors(), BeamOptions(beam=8, logic=logic)).estimate(graph, [query])
        for entity in (0, 5, 17):
            outer, inner = execution.best_bindings(query, entity).values()
            kept = [
                And((source, Anchor(value[0])))
                for source, value in ((query.source, outer), (query.source.source, inner))
            ]
            chained = Project(query.relation, And((Project(query.source.relation, kept[1]), Anchor(outer[0]))))
            alone = CqdBeam(NamedVectors(), BeamOptions(beam=0, logic=logic)).answer(graph, [chained])[0, entity]
            assert float(execution.memberships(query)[entity]) == pytest.approx(float(alone), abs=1e-6)
            assert outer[1] == pytest.approx(float(execution.memberships(query.source)[outer[0]]))

    def test_a_union_is_explained_by_its_likelier_branch_and_negation_is_not(self) -> None:
        graph, _ = world()
        left, right = (
            Project(step, Project(0, Anchor(head)), variable=name) for step, head, name in ((2, 3, "l"), (4, 9, "r"))
        )
        query = And((Or((left, right)), Not(Project(1, Project(2, Anchor(1)), variable="n"))))
        execution = CqdBeam(NamedVectors()).estimate(graph, [query])
        for entity in range(10):
            likelier = "l" if execution.memberships(left)[entity] >= execution.memberships(right)[entity] else "r"
            assert list(execution.best_bindings(query, entity)) == [likelier]

    def test_a_mixed_batch_explains_each_query_by_its_own_beams(self) -> None:
        graph, _ = world()
        two, three = (
            with_variables(SHAPES[name].fill([2, 0, 3, 4][: len(SHAPES[name].slots)])) for name in ("2p", "3p")
        )
        method = CqdBeam(NamedVectors(), Choices(BeamOptions(), {"3p": BeamOptions(beam=1)}))
        together = method.estimate(graph, [two, three])
        for query in (two, three):
            assert together.best_bindings(query, 5) == method.estimate(graph, [query]).best_bindings(query, 5)
        assert together.memberships(three.source).shape == (60,)


def test_names_must_be_bound_first() -> None:
    graph, _ = world()
    with pytest.raises(QueryRefused, match="bind it first"):
        CqdBeam(NamedVectors()).answer(graph, [Project("p", Anchor(0))])


def test_bfloat16_vectors_give_nearly_the_same() -> None:
    graph, asked = world()
    vectors = NamedVectors().opened(graph)
    halved = VectorScorer(VectorLinks(vectors.entities.bfloat16(), vectors.relations))
    full = CqdBeam(VectorScorer(vectors), BeamOptions(beam=0)).answer(graph, asked)
    assert torch.allclose(CqdBeam(halved, BeamOptions(beam=0)).answer(graph, asked), full, atol=0.1)


def test_vectors_of_another_graph_are_refused(family: KnowledgeGraph) -> None:
    graph, _ = world()
    with pytest.raises(UnseenError, match="vectors of 60 entities and 8 directed relations"):
        CqdBeam(VectorScorer(NamedVectors().opened(graph))).answer(family, [Anchor(0)])
