"""GNN-QE: the same answers by every road, relations by name, and edges that are hidden in training."""

from __future__ import annotations

import gc
import weakref
from unittest.mock import patch

import numpy as np
import pytest
import torch

from unseen.errors import GraphError, QueryRefused
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.execute import execute
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers
from unseen.methods.fuzzy_gnn.certainty import certain_level
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.edge_following import Walks, follow, follow_in_parts
from unseen.methods.fuzzy_gnn.neural_projector import Answering, FuzzyObjective
from unseen.methods.fuzzy_gnn.training_batch import ReadyPlan
from unseen.methods.fuzzy_gnn.training_pass import execute_plan, known_answers, visible_edges
from unseen.methods.fuzzy_gnn.traversal_dropout import traversal_mask
from unseen.methods.gnn_qe.gnn_qe import GnnQe, GnnQeShape
from unseen.methods.known_facts import KnownFactsProjector, follow_edges
from unseen.nn.kernels import degrees
from unseen.nn.query_loss import adversarial_loss

NUM_ENTITIES, NUM_ISOLATED, NUM_EDGES = 30, 5, 60
NAMES = ("knows", "likes", "near")
SMALL = GnnQeShape(dim=4, num_layers=2, hidden_dim=8)


def random_graph(seed: int = 0) -> KnowledgeGraph:
    """Random edges; the first five entities have none."""
    random = np.random.default_rng(seed)
    heads, tails = random.integers(NUM_ISOLATED, NUM_ENTITIES, (2, NUM_EDGES))
    entities = [str(number) for number in range(NUM_ENTITIES)]
    return KnowledgeGraph(heads, random.integers(0, len(NAMES), NUM_EDGES), tails, Vocabulary.of(entities, NAMES))


def some_queries(graph: KnowledgeGraph, seed: int = 0, each: int = 2) -> list[Query]:
    random = np.random.default_rng(seed)
    limits = {"e": graph.num_entities, "r": 2 * graph.num_relations}
    shapes = [shape for shape in SHAPES.values() for _ in range(each)]
    queries = [shape.fill([int(random.integers(limits[slot])) for slot in shape.slots]) for shape in shapes]
    odd = And((Or((queries[0], Project(1, queries[3]))), Not(Project(0, Not(queries[1]))), Anchor(7)))
    return [*queries, Anchor(6), Not(queries[0]), odd, queries[0]]


def model(known_facts: bool = False, **objective: float) -> GnnQe:
    torch.manual_seed(0)
    return GnnQe(NAMES, SMALL, FuzzyObjective(**objective), answering=Answering(known_facts=known_facts, sharpness=1.0))


def true_answers(graph: KnowledgeGraph, queries: list[Query]) -> list[np.ndarray]:
    return [answers(graph, query) for query in queries]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_plan_of_a_batch_gives_what_the_executor_gives() -> None:
    graph, method = random_graph(), model()
    queries = some_queries(graph)
    compact = method.compact(graph)
    planned = execute_plan(compact, ReadyPlan.of(compact, queries), [None] * 9, method.project_nodes)
    expected = method.answer(graph, queries)[:, compact.entity_of_node]
    assert torch.allclose(planned, expected, atol=1e-6)


def test_inner_sets_beside_facts_are_those_of_answering_with_known_facts() -> None:
    graph, method = random_graph(), model()
    answering = Answering(known_facts=True, ceiling=0.8, sharpness=3.0)
    queries = [SHAPES[name].fill(slots) for name, slots in _FILLED.items() if name in ("2p", "3p", "ip")]
    compact, inner = method.compact(graph), [query.children[0] for query in queries]
    method.answering = answering
    sets = method.answer(graph, inner)
    expected = method.project(graph, sets, torch.tensor([query.relation for query in queries]))
    plan = ReadyPlan.of(compact, queries)
    found = execute_plan(compact, plan, [None] * 9, method.project_nodes, answering.beside_facts)
    assert torch.allclose(found, expected[:, compact.entity_of_node], atol=1e-6)


def test_without_known_facts_memberships_are_sharpened_everywhere_or_under_a_negation_only() -> None:
    graph, one = random_graph(), Project(0, Anchor(9))
    raw = model().answer(graph, [one])[0]
    everywhere, below = model(), model()
    everywhere.answering = Answering(known_facts=False, ceiling=0.8, sharpness=4.0, sharpens_alone=True)
    below.answering = Answering(known_facts=False, sharpness=4.0)
    level = certain_level(everywhere, everywhere.compact(graph))
    with_level = torch.where(raw >= level, 1.0, 0.8 * raw**4)
    for method, positive, negated in ((everywhere, with_level, with_level), (below, raw, raw**4)):
        found = method.answer(graph, [one, Not(one)]).float()
        assert torch.allclose(found[0], positive, atol=2e-5)
        assert torch.allclose(found[1], 1 - negated, atol=2e-5)


def test_certain_begins_half_way_between_seen_facts_and_others_and_is_measured_anew_for_other_weights() -> None:
    graph, method = random_graph(), model()
    compact, calls = method.compact(graph), []

    def seen_or_not(graph: CompactGraph, sets: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        calls.append(len(sets))
        return torch.where(follow_in_parts(graph, sets, relations.numpy()) > 0, 0.8, 0.45)

    with patch.object(method, "project_nodes", seen_or_not):
        assert certain_level(method, compact) == pytest.approx(0.6)
        assert certain_level(method, compact) == pytest.approx(0.6)
        assert len(calls) == 1
        next(method.parameters()).detach().mul_(2)
        certain_level(method, compact)
        assert len(calls) == 2


def test_where_there_is_no_other_entity_seen_facts_are_the_level() -> None:
    graph, method = KnowledgeGraph([0], [0], [0], Vocabulary.of(["one"], ["knows"])), model()
    assert 0 < certain_level(method, method.compact(graph)) < 1


def test_hidden_edges_are_not_followed() -> None:
    graph, method = random_graph(), model()
    compact = method.compact(graph)
    sets, relations = torch.ones(2, compact.num_nodes), np.array([0, 3])
    walks = Walks.of(compact, relations)
    source, relation, target = compact.canonical_ends
    visible = torch.rand(len(source), generator=seeded()) < 0.5
    found = follow(compact, sets, walks, visible)
    for row, number in enumerate(relations.tolist()):
        reached = set(target[visible & (relation == number)].tolist())
        assert set(found[row].nonzero().flatten().tolist()) == reached
    everything = torch.ones(len(source), dtype=torch.bool)
    assert torch.equal(follow(compact, sets, walks), follow(compact, sets, walks, everything))


def test_known_answers_are_those_of_traversal_where_nothing_is_hidden() -> None:
    graph, method = random_graph(), model()
    compact, queries = method.compact(graph), [SHAPES[name].fill(slots) for name, slots in _FILLED.items()]
    found = known_answers(compact, ReadyPlan.of(compact, queries), [None] * 9)
    for row, query in zip(found, queries, strict=True):
        entities = compact.entity_of_node[row > 0].tolist()
        assert entities == sorted(set(answers(graph, query).tolist()) & set(compact.entity_of_node.tolist()))


def test_all_outermost_projections_run_in_one_call_and_inner_ones_level_by_level() -> None:
    graph, method = random_graph(), model()
    plan = ReadyPlan.of(method.compact(graph), [SHAPES[name].fill(slots) for name, slots in _FILLED.items()])
    assert [len(step.values) for step in plan.projections] == [5, 1, 7]


_FILLED = {
    "1p": [9, 0],
    "2p": [8, 1, 2],
    "3p": [7, 0, 1, 2],
    "2in": [6, 0, 5, 1],
    "ip": [5, 0, 6, 1, 2],
    "pi": [9, 4, 5, 9, 0],
}


def test_no_gradient_flows_into_an_inner_projection() -> None:
    graph, method = random_graph(), model()
    compact = method.compact(graph)
    calls = []

    def project(*inputs: object) -> torch.Tensor:
        calls.append(torch.is_grad_enabled())
        return method.project_nodes(*inputs)

    plan = ReadyPlan.of(compact, [SHAPES["3p"].fill([7, 0, 1, 2])])
    assert execute_plan(compact, plan, [None] * 3, project).requires_grad
    assert calls == [False, False, True]


def test_entities_without_edges_are_in_no_answer() -> None:
    graph = random_graph()
    scores = model().answer(graph, [Project(0, Anchor(9)), Project(1, Anchor(0))])
    assert not scores[:, :NUM_ISOLATED].any()
    assert bool((scores[:, graph.connected_entities.tolist()] > 0).all())


def test_splitting_rows_changes_neither_answers_nor_gradients() -> None:
    graph = random_graph()
    queries = some_queries(graph)
    found = []
    for memory in (None, 1):
        method = model(traversal_dropout=0.5)
        method.memory = memory
        method.loss(graph, queries, true_answers(graph, queries), seeded()).backward()
        found.append((method.answer(graph, queries), [weights.grad for weights in method.parameters()]))
    assert torch.allclose(found[0][0], found[1][0], atol=1e-6)
    for whole, split in zip(found[0][1], found[1][1], strict=True):
        assert torch.allclose(whole, split, atol=1e-5)


def test_relations_are_matched_by_name() -> None:
    graph, method = random_graph(), model()
    order = np.array([2, 0, 1])
    vocabulary = Vocabulary.of(
        [str(number) for number in range(NUM_ENTITIES)], ["near", "knows", "likes", "unheard"][:3]
    )
    renamed = KnowledgeGraph(graph.heads, np.argsort(order)[graph.relations], graph.tails, vocabulary)
    here, there = (g.vocabulary.relation_id("likes", inverse=True) for g in (graph, renamed))
    assert here != there
    expected = method.answer(graph, [Project(here, Anchor(9))])
    assert torch.allclose(method.answer(renamed, [Project(there, Anchor(9))]), expected)


def test_a_question_about_a_relation_that_was_never_learned_is_refused_by_name() -> None:
    grown = random_graph().extended_with([("9", "unheard of", "8")])
    relation = grown.vocabulary.relation_id("unheard of")
    with pytest.raises(QueryRefused, match="unheard of"):
        model().answer(grown, [Project(relation, Anchor(9))])


def test_edges_of_relations_that_were_never_learned_are_not_read() -> None:
    graph, method = random_graph(), model()
    grown = graph.extended_with([("9", "unheard of", "8")])
    queries = [Project(0, Anchor(9)), Project(3, Anchor(8))]
    assert torch.allclose(method.answer(grown, queries), method.answer(graph, queries))


def test_a_graph_with_no_learned_relation_is_refused() -> None:
    strange = KnowledgeGraph.from_triples([("a", "other", "b")])
    with pytest.raises(GraphError, match="none of this graph's relations"):
        model().answer(strange, [Project(0, Anchor(0))])


def test_following_edges_in_batches_is_following_them_one_by_one() -> None:
    graph, method = random_graph(), model()
    sets = torch.rand(8, NUM_ENTITIES, generator=seeded())
    relations = torch.tensor([0, 1, 2, 3, 4, 5, 0, 0])
    compact = method.compact(graph)
    found = compact.scatter(follow_in_parts(compact, compact.gather(sets), relations.numpy()))
    assert torch.equal(found, follow_edges(graph, sets, relations))


def test_known_facts_are_those_of_the_general_projector() -> None:
    graph, method = random_graph(), model(known_facts=True)
    queries = some_queries(graph)
    with torch.no_grad():
        expected = execute(KnownFactsProjector(method), graph, queries).stacked(queries)
    assert torch.allclose(method.answer(graph, queries), expected, atol=1e-6)


def test_known_answers_of_a_positive_query_have_membership_one() -> None:
    graph, method = random_graph(), model(known_facts=True)
    query = Project(0, Project(2, Anchor(9)))
    scores = method.answer(graph, [query])[0]
    known = np.isin(np.arange(NUM_ENTITIES), answers(graph, query))
    assert bool((scores[torch.from_numpy(known)] == 1).all())
    assert float(scores[torch.from_numpy(~known)].max()) <= 0.9


def test_a_graph_that_is_gone_is_forgotten() -> None:
    graph, method = random_graph(), model()
    method.answer(graph, [Project(0, Anchor(9))])
    view = weakref.ref(method.compact(graph))
    del graph
    gc.collect()
    assert view() is None


class TestTraversalDropout:
    def test_with_certainty_exactly_the_walked_edges_and_their_inverses_go(self) -> None:
        graph = KnowledgeGraph.from_triples(
            [("a", "knows", "b"), ("a", "knows", "c"), ("a", "likes", "b"), ("b", "near", "c"), ("b", "knows", "a")]
        )
        method = model()
        compact = method.compact(graph)
        query = Project(graph.vocabulary.relation_id("knows"), Anchor(graph.vocabulary.entity_id("a")))
        mask = visible_edges(compact, ReadyPlan.of(compact, [query]), 1.0, seeded())[0]
        assert _hidden(compact, mask) == {("a", 0, "b"), ("b", 1, "a"), ("a", 0, "c"), ("c", 1, "a")}

    def test_the_second_projection_hides_what_leaves_the_symbolic_set_of_the_first(self) -> None:
        chain = [("a", "knows", "b"), ("b", "likes", "c"), ("d", "likes", "c"), ("b", "near", "c"), ("a", "near", "d")]
        graph = KnowledgeGraph.from_triples(chain)
        method = model()
        compact = method.compact(graph)
        knows, likes = (graph.vocabulary.relation_id(name) for name in ("knows", "likes"))
        query = Project(likes, Project(knows, Anchor(graph.vocabulary.entity_id("a"))))
        masks = visible_edges(compact, ReadyPlan.of(compact, [query]), 1.0, seeded())
        found = [_hidden(compact, mask) for mask in masks]
        assert found == [{("a", 0, "b"), ("b", 1, "a")}, {("b", 2, "c"), ("c", 3, "b")}]

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("probability", [0.3, 1.0])
    def test_no_node_is_left_without_neighbours_and_directions_go_together(self, seed: int, probability: float) -> None:
        graph, method = random_graph(seed), model()
        compact = method.compact(graph)
        everything = torch.ones(compact.edges.num_edges, dtype=torch.bool)
        mask = traversal_mask(compact, everything, probability, seeded(seed))
        assert int(degrees(compact.edges, mask).min()) >= 1
        assert torch.equal(mask, mask[compact.edges.reverse.long()])
        assert not bool(mask.all())

    def test_the_share_of_hidden_edges_is_the_probability(self) -> None:
        random = np.random.default_rng(0)
        heads, tails = random.integers(0, 100, (2, 4000))
        names = [str(number) for number in range(100)]
        graph = KnowledgeGraph(heads, random.integers(0, 3, 4000), tails, Vocabulary.of(names, NAMES))
        compact = model().compact(graph)
        everything = torch.ones(compact.edges.num_edges, dtype=torch.bool)
        mask = traversal_mask(compact, everything, 0.5, seeded())
        assert float(mask.float().mean()) == pytest.approx(0.5, abs=0.03)


def _hidden(compact, mask) -> set[tuple[str, int, str]]:
    view, names = compact.edges.by_target, "abcd"
    columns = zip(view.source.tolist(), view.relation.tolist(), view.target.tolist(), mask.tolist(), strict=True)
    return {(names[source], relation, names[target]) for source, relation, target, kept in columns if not kept}


class TestLoss:
    def test_it_is_the_equation(self) -> None:
        memberships = torch.tensor([[0.9, 0.2, 0.6, 0.1]], dtype=torch.float64)
        found = adversarial_loss(memberships, torch.tensor([0, 2]), temperature=0.5)
        logits = memberships.logit()[0]
        weights = (logits[[1, 3]] / 0.5).softmax(0)
        positive = -memberships[0, [0, 2]].log().mean()
        negative = -(weights * (1 - memberships[0, [1, 3]]).log()).sum()
        assert float(found[0]) == pytest.approx(float((positive + negative) / 2), rel=1e-6)

    def test_answers_can_weigh_less(self) -> None:
        memberships, weights = torch.tensor([[0.9, 0.2, 0.6]]), torch.tensor([[0.25, 1.0, 1.0]])
        found = adversarial_loss(memberships, torch.tensor([0, 2]), 0.5, weights)
        positive = -(0.25 * memberships[0, 0].log() + memberships[0, 2].log()) / 1.25
        negative = -(1 - memberships[0, 1]).log()
        assert float(found[0]) == pytest.approx(float((positive + negative) / 2), rel=1e-5)

    def test_with_every_edge_visible_all_answers_are_known_and_their_weight_says_nothing(self) -> None:
        graph, queries = random_graph(), [SHAPES[name].fill(slots) for name, slots in _FILLED.items()]
        known = true_answers(graph, queries)
        first, second = (model(traversal_dropout=0.0, known_weight=weight) for weight in (1.0, 0.1))
        losses = [method.losses(method.prepare(graph, queries, known), seeded()) for method in (first, second)]
        assert torch.allclose(*losses, atol=1e-5)

    def test_memberships_of_zero_and_one_give_finite_losses_and_gradients(self) -> None:
        memberships = torch.tensor([[0.0, 1.0, 0.0, 1.0]], requires_grad=True)
        loss = adversarial_loss(memberships, torch.tensor([0, 1]), 0.1)
        loss.sum().backward()
        assert bool(loss.isfinite().all())
        assert bool(memberships.grad.isfinite().all())

    def test_queries_with_no_answer_or_only_answers_are_fine(self) -> None:
        found = adversarial_loss(torch.full((2, 3), 0.3), torch.tensor([3, 4, 5]), 0.1)
        assert bool(found.isfinite().all())

    def test_the_shares_of_several_processes_add_up_to_the_whole(self) -> None:
        graph, method = random_graph(), model(traversal_dropout=0.5)
        queries = some_queries(graph)
        known = true_answers(graph, queries)
        whole = method.losses(method.prepare(graph, queries, known), seeded())
        for rank in range(2):
            share = method.prepare(graph, queries[rank::2], known[rank::2], queries)
            assert torch.allclose(method.losses(share, seeded()), whole[rank::2], atol=1e-5)

    def test_it_falls_while_learning(self) -> None:
        graph, method = random_graph(), model(traversal_dropout=0.0)
        queries = some_queries(graph, each=1)
        known = true_answers(graph, queries)
        optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
        losses = []
        for step in range(30):
            loss = method.loss(graph, queries, known, seeded(step))
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert losses[-1] < 0.7 * losses[0]
