"""NodePiece-QE: vectors from tokens alone, links by definition, negatives that are never true, growth without waste."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from unseen.errors import GraphError, QueryRefused
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Project
from unseen.logic.protocols import LinkScorer, LinkScores
from unseen.methods.nodepiece_qe.link_loss import are_true, link_losses
from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
from unseen.methods.nodepiece_qe.token_shape import LinkObjective, NodePieceShape

RELATIONS, ENTITIES = ("r0", "r1", "r2"), 40
ANCHORS = tuple(f"e{number}" for number in range(0, 30, 3))
SHAPES = {
    "tokens": NodePieceShape(dim=8, tokens=3),
    "anchors": NodePieceShape(dim=8, tokens=3, encoder="concat", anchors_per_node=2),
    "gnn": NodePieceShape(dim=8, tokens=3, encoder="concat", layers=2),
    "rotate gnn": NodePieceShape(dim=8, tokens=3, encoder="concat", layers=1, scorer="rotate", aggregate="mean"),
}


def graph(seed: int = 0, edges: int = 90) -> KnowledgeGraph:
    random = np.random.default_rng(seed)
    columns = [random.integers(limit, size=edges).astype(np.int32) for limit in (ENTITIES - 3, 3, ENTITIES - 3)]
    return KnowledgeGraph(*columns, Vocabulary.of([f"e{number}" for number in range(ENTITIES)], list(RELATIONS)))


def model(shape: str = "tokens", seed: int = 0, **options: Any) -> NodePieceQe:
    torch.manual_seed(seed)
    names = ANCHORS if SHAPES[shape].anchors_per_node else ()
    return NodePieceQe(RELATIONS, SHAPES[shape], anchor_names=names, **options)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_scores_links_block_by_block(shape: str) -> None:
    method, world = model(shape), graph()
    scores = method.opened(world)
    assert isinstance(method, LinkScorer)
    assert isinstance(scores, LinkScores)
    heads, relations = torch.tensor([0, 5, 5]), torch.tensor([0, 3, 4])
    towards = scores.towards(heads, relations)
    blocks = [scores.block(towards, start, min(start + 7, ENTITIES)) for start in range(0, ENTITIES, 7)]
    whole = scores.block(towards, 0, scores.num_entities)
    assert torch.allclose(torch.cat(blocks, dim=1), whole, atol=1e-6)
    expected = method.scorer.matrix(
        method.scorer.towards(scores.vectors[heads], scores.relation_vectors[relations]), scores.vectors
    )
    assert torch.allclose(whole, expected, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_growth_gives_what_a_fresh_model_computes(shape: str) -> None:
    method, world = model(shape), graph()
    method.opened(world)
    grown = world.extended_with([("newcomer", "r0", "e1"), ("e2", "r1", "e4"), ("other", "r2", "newcomer")])
    assert torch.allclose(method.opened(grown).vectors, model(shape).opened(grown).vectors, atol=1e-5)


def test_only_what_changed_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    method, world = model(), graph()
    method.opened(world)
    rows: list[int] = []
    encode = NodePieceQe.encode
    monkeypatch.setattr(
        NodePieceQe,
        "encode",
        lambda self, tokens, *rest, **more: rows.append(len(tokens)) or encode(self, tokens, *rest, **more),
    )
    method.opened(world.extended_with([("newcomer", "r0", "e1"), ("e2", "r1", "e4")]))
    assert sum(rows) == 4
    rows.clear()
    method.opened(world)
    assert rows == []


def test_a_graph_of_other_edges_is_not_taken_for_a_grown_one() -> None:
    method = model()
    method.opened(graph(0))
    assert torch.equal(method.opened(graph(1, 120)).vectors, model().opened(graph(1, 120)).vectors)


@pytest.mark.parametrize("shape", ["tokens", "gnn"])
def test_changed_weights_give_other_vectors_and_graphs_are_let_go(shape: str) -> None:
    method, world = model(shape), graph()
    before = method.opened(world)
    assert method.opened(world) is before
    method.vocabulary.data.mul_(1.5)
    assert not torch.equal(method.opened(world).vectors, before.vectors)
    gone = weakref.ref(world)
    del world
    gc.collect()
    assert gone() is None
    assert len(method._known) == 0


def test_vectors_can_be_stored_in_half_the_memory() -> None:
    exact, half = model(), model(storage=torch.bfloat16)
    assert half.opened(graph()).vectors.dtype == torch.bfloat16
    towards = exact.opened(graph()).towards(torch.tensor([1]), torch.tensor([2]))
    difference = exact.opened(graph()).block(towards, 0, ENTITIES) - half.opened(graph()).block(towards, 0, ENTITIES)
    assert float(difference.abs().max()) < 0.05


def test_entities_with_the_same_relations_have_the_same_vector_and_lonely_ones_that_of_padding() -> None:
    world = KnowledgeGraph.from_triples([("a", "r0", "b"), ("c", "r0", "d"), ("c", "r0", "b")])
    lonely = KnowledgeGraph(world.heads, world.relations, world.tails, Vocabulary.of([*"abcdxy"], list(RELATIONS)))
    vectors = model().opened(lonely).vectors
    assert torch.equal(vectors[0], vectors[2])
    assert torch.equal(vectors[4], vectors[5])
    assert not torch.equal(vectors[0], vectors[4])


def test_relations_are_matched_by_name_and_unknown_ones_refused() -> None:
    world = KnowledgeGraph.from_triples([("a", "new", "b"), ("a", "r1", "b")])
    scores = model().opened(world)
    with pytest.raises(QueryRefused, match="without the relation 'new'"):
        scores.towards(torch.tensor([0]), torch.tensor([0]))
    assert scores.towards(torch.tensor([0]), torch.tensor([2])).shape == (1, 8)
    with pytest.raises(GraphError, match="none of this graph's relations"):
        model().opened(KnowledgeGraph.from_triples([("a", "new", "b")]))


def test_a_question_of_one_step_is_the_softmax_of_its_logits_times_the_degree() -> None:
    method, world = model(known_facts=False), graph()
    scores = method.opened(world)
    found, connected = method.answer(world, [Project(1, Anchor(3))]), world.connected_entities.tolist()
    logits = scores.block(scores.towards(torch.tensor([3]), torch.tensor([1])), 0, ENTITIES)[:, connected]
    degree = int(((world.tails == 3) & (world.relations == 0)).sum())
    assert torch.allclose(found[:, connected], (max(1, degree) * logits.softmax(dim=1)).clamp(max=1), atol=1e-6)
    assert float(found.sum()) == pytest.approx(float(found[:, connected].sum()))


def test_every_other_row_is_read_backwards_and_true_tails_are_marked() -> None:
    method, world = model(), graph()
    training = method.training_graph(world)
    batch = training.batch(np.arange(training.num_triples), all_answers=True)
    true = {(int(h), 2 * int(r), int(t)) for h, r, t in zip(world.heads, world.relations, world.tails, strict=True)}
    true |= {(t, r + 1, h) for h, r, t in true}
    nodes = world.connected_entities.tolist()
    rows = list(zip(batch.sources.tolist(), batch.relations.tolist(), batch.targets.tolist(), strict=True))
    assert {row[1] % 2 for row in rows[::2]} == {0}
    assert {row[1] % 2 for row in rows[1::2]} == {1}
    assert all((nodes[source], relation, nodes[target]) in true for source, relation, target in rows)
    marked = {tuple(place) for place in batch.answers().nonzero().tolist()}
    for row, (source, relation, _) in enumerate(rows):
        expected = {node for node, entity in enumerate(nodes) if (nodes[source], relation, entity) in true}
        assert {node for at, node in marked if at == row} == expected
    prefixes = batch.sources * training.num_relations + batch.relations
    everyone = torch.arange(training.num_nodes).expand(len(rows), -1)
    found = are_true(training.device_keys, prefixes, everyone, training.num_nodes)
    assert {tuple(place) for place in found.nonzero().tolist()} == marked


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "objective",
    [
        LinkObjective(negatives=0),
        LinkObjective(negatives=6),
        LinkObjective(negatives=6, share_negatives=True, loss="softmax"),
    ],
    ids=["all", "own", "shared"],
)
def test_gradients_flow_and_shares_are_the_batch(shape: str, objective: LinkObjective) -> None:
    method = model(shape, objective=objective)
    training, numbers = method.training_graph(graph()), np.arange(10)
    whole = method.losses(method.prepare(training, numbers), generator())
    parts = [method.losses(method.prepare(training, numbers, slice(rank, None, 2)), generator()) for rank in (0, 1)]
    assert torch.allclose(whole[0::2], parts[0], atol=1e-5)
    assert torch.allclose(whole[1::2], parts[1], atol=1e-5)
    whole.mean().backward()
    trained = {name: weight for name, weight in method.named_parameters() if weight.requires_grad}
    assert all(weight.grad is not None and bool(weight.grad.isfinite().all()) for weight in trained.values())
    assert bool((method.vocabulary.grad != 0).any())


def test_all_negatives_are_the_limit_of_many_drawn_ones() -> None:
    method = model(objective=LinkObjective(negatives=0, temperature=0.7))
    training, numbers = method.training_graph(graph()), np.arange(8)
    exact = method.losses(method.prepare(training, numbers), generator())
    method.objective = LinkObjective(negatives=20_000, temperature=0.7)
    drawn = method.losses(method.prepare(training, numbers), generator())
    assert torch.allclose(exact, drawn, atol=0.01)


def test_the_loss_is_its_equation() -> None:
    positive, negative = torch.tensor([1.0]), torch.tensor([[0.5, -1.0, 9.0]])
    is_true = torch.tensor([[False, False, True]])
    weights = (negative[0, :2] / 0.5).softmax(dim=0)
    expected = ((1 + (-positive[0]).exp()).log() + (weights * (1 + negative[0, :2].exp()).log()).sum()) / 2
    assert torch.allclose(link_losses(positive, negative, is_true, 0.5), expected[None])
    everything = torch.tensor([[True, True, True]])
    assert torch.allclose(link_losses(positive, negative, everything, 0.5), (1 + (-positive).exp()).log() / 2)
    entropy = -torch.cat([positive, negative[0, :2]]).log_softmax(dim=0)[0]
    assert torch.allclose(link_losses(positive, negative, is_true, 0.5, "softmax"), entropy[None])


@pytest.mark.parametrize("shape", ["tokens", "anchors", "gnn"])
def test_hidden_targets_leave_the_tokens_of_a_graph_without_them(shape: str) -> None:
    method, world = model(shape, objective=LinkObjective(hidden_targets=1.0)), graph(edges=50)
    training = method.training_graph(world)
    batch = method.prepare(training, np.array([0, 4, 4, 9]))
    tokens, masks = method._visible(batch, generator())
    fewer = world.restricted_to(~np.isin(np.arange(world.num_triples), [0, 4, 9]))
    slots = method.architecture.tokens * (2 if shape == "tokens" else 1)
    expected = method.tokeniser.of(fewer).tokens[world.connected_entities][:, :slots]
    untouched = [
        sorted(row) == sorted(other) for row, other in zip(tokens[:, :slots].tolist(), expected.tolist(), strict=True)
    ]
    full = training.tokens[:, :slots]
    sampled = (full != method.tokeniser.padding).all(dim=1).tolist()
    assert all(same or many for same, many in zip(untouched, sampled, strict=True)), "unless more were there to choose"
    assert int((tokens != training.tokens).sum()) > 0
    assert (masks is None) == (shape != "gnn")


def test_token_dropout_leaves_a_share_of_the_tokens() -> None:
    method, world = model(objective=LinkObjective(token_dropout=0.5)), graph()
    training = method.training_graph(world)
    tokens, _ = method._visible(method.prepare(training, np.array([0])), generator())
    filled, kept = (int((each != method.tokeniser.padding).sum()) for each in (training.tokens, tokens))
    assert 0.3 * filled < kept < 0.7 * filled
    assert set(tokens.flatten().tolist()) <= {*training.tokens.flatten().tolist(), method.tokeniser.padding}


def test_an_end_that_is_an_anchor_of_the_other_is_hidden_with_their_only_edge() -> None:
    method = model("anchors", objective=LinkObjective(hidden_targets=1.0))
    names = [("e0", "r0", "e1"), ("e3", "r0", "e4"), ("e3", "r1", "e4"), ("e6", "r0", "e6"), ("e7", "r2", "e8")]
    world = graph(edges=0).extended_with(names)
    training = method.training_graph(world)
    tokens, _ = method._visible(method.prepare(training, np.array([0, 1, 3])), generator())
    anchor = {name: 2 * len(RELATIONS) + place for place, name in enumerate(ANCHORS)}
    node = {world.vocabulary.entity_name(int(entity)): row for row, entity in enumerate(world.connected_entities)}
    assert anchor["e0"] in training.tokens[node["e1"]]
    assert anchor["e0"] not in tokens[node["e1"]], "the only edge to its anchor is hidden"
    assert anchor["e3"] in tokens[node["e4"]], "another edge leads there"
    assert anchor["e6"] in tokens[node["e6"]], "a loop makes nothing an anchor"


def test_a_graph_without_a_known_edge_cannot_be_learned() -> None:
    empty = graph().restricted_to(np.zeros(graph().num_triples, bool))
    with pytest.raises(GraphError, match="no edge"):
        model().training_graph(empty)


def test_it_learns_links() -> None:
    method, world = model("gnn", objective=LinkObjective(negatives=0, loss="softmax")), graph()
    training, optimizer = method.training_graph(world), torch.optim.Adam(method.parameters(), 0.01)
    values = []
    for step in range(60):
        loss = method.losses(method.prepare(training, np.arange(64)), torch.Generator().manual_seed(step)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < 0.7 * values[0]
