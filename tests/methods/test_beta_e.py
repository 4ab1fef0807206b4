"""BetaE: embeddings against a walk over each query alone, negatives against sets, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.distributions import Beta, kl_divergence

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query
from unseen.logic.shapes import SHAPES
from unseen.logic.traverse import answers
from unseen.methods.beta_e.beta_e import BetaE
from unseen.methods.beta_e.beta_shape import BetaObjective, BetaShape
from unseen.methods.beta_e.embedding import branches_of
from unseen.methods.beta_e.named_vectors import named_vectors
from unseen.methods.beta_e.training_questions import AnsweredQueries

RELATIONS = ("r0", "r1")
ENTITIES = tuple(f"e{number}" for number in range(10))


def model(dim: int = 5, entities: tuple[str, ...] = ENTITIES, **objective: object) -> BetaE:
    torch.manual_seed(0)
    return BetaE(RELATIONS, entities, BetaShape(dim, hidden_dim=7), BetaObjective(**objective))


def graph_of(edges: list[tuple[int, int, int]], entities: tuple[str, ...] = ENTITIES) -> KnowledgeGraph:
    heads, relations, tails = np.array(edges, np.int32).T
    return KnowledgeGraph(heads, relations, tails, Vocabulary.of(entities, RELATIONS))


@pytest.fixture
def graph() -> KnowledgeGraph:
    random = np.random.default_rng(0)
    return graph_of([tuple(edge) for edge in random.integers(0, (10, 2, 10), (40, 3)).tolist()])


def plain_branches(method: BetaE, query: Query) -> list[torch.Tensor]:
    """The embeddings of a query, one for each way through its unions, computed node by node in float64."""
    match query:
        case Anchor():
            return [(method.entities[query.entity].double() + 1).clamp(0.05, 1e9)]
        case Project():
            relation = method.relations[query.relation].double()
            return [plain_projection(method, one, relation) for one in plain_branches(method, query.source)]
        case Or():
            return [one for part in query.parts for one in plain_branches(method, part)]
        case Not():
            (inner,) = plain_branches(method, query.part)
            return [1 / inner]
    combinations: list[list[torch.Tensor]] = [[]]
    for part in query.children:
        combinations = [[*some, one] for some in combinations for one in plain_branches(method, part)]
    return [plain_intersection(method, torch.stack(some)) for some in combinations]


def plain_projection(method: BetaE, one: torch.Tensor, relation: torch.Tensor) -> torch.Tensor:
    hidden = torch.cat([one, relation])
    for place, layer in enumerate(method.projection.layers):
        hidden = layer.weight.double() @ hidden + layer.bias.double()
        hidden = hidden.relu() if place < 2 else hidden
    return (hidden + 1).clamp(0.05, 1e9)


def plain_intersection(method: BetaE, parts: torch.Tensor) -> torch.Tensor:
    network = method.intersection
    hidden = (parts @ network.first.weight.double().t() + network.first.bias.double()).relu()
    weights = (hidden @ network.second.weight.double().t() + network.second.bias.double()).softmax(dim=0)
    return (weights.repeat(1, 2) * parts).sum(dim=0)


def plain_scores(method: BetaE, query: Query) -> torch.Tensor:
    entities = Beta(*(method.entities.double() + 1).clamp(0.05, 1e9).chunk(2, dim=1))
    far = [
        kl_divergence(entities, Beta(*(part.expand(10, -1) for part in one.chunk(2)))).sum(dim=1)
        for one in plain_branches(method, query)
    ]
    return method.architecture.margin - torch.stack(far).amin(dim=0)


@pytest.mark.parametrize("name", SHAPES)
@torch.no_grad()
def test_scores_are_those_of_a_walk_over_each_query(graph: KnowledgeGraph, name: str) -> None:
    method, random = model(), np.random.default_rng(1)
    limits = {"e": 10, "r": 4}
    queries = [SHAPES[name].fill([int(random.integers(limits[slot])) for slot in SHAPES[name].slots]) for _ in range(3)]
    found = method.answer(graph, queries)
    expected = torch.stack([plain_scores(method, query) for query in queries])
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-3)


@torch.no_grad()
def test_unions_at_any_depth_are_the_nearest_of_their_branches(graph: KnowledgeGraph) -> None:
    first, second, third = (Project(relation, Anchor(relation)) for relation in (0, 1, 2))
    inner = Project(1, And((Or((first, second)), Or((third, Project(0, Or((first, third))))))))
    method = model()
    torch.testing.assert_close(
        method.answer(graph, [inner])[0].double(), plain_scores(method, inner), rtol=1e-4, atol=1e-3
    )


def test_a_union_under_a_negated_projection_is_rewritten() -> None:
    (branch,) = branches_of("e/r & !(e/r | e/r)/r")
    assert "Or" not in repr(branch)
    assert repr(branch).count("Not") == 4


@torch.no_grad()
def test_blocks_are_parts_of_the_whole(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    method, queries = model(), [SHAPES["2u"].fill([0, 1, 2, 3]), SHAPES["1p"].fill([4, 1])]
    whole = method.answer(graph, queries)
    monkeypatch.setattr("unseen.methods.beta_e.entity_table.MOST_CELLS", 8)
    parts = list(method.score_blocks(graph, queries).blocks())
    assert [start for start, _ in parts] == [0, 4, 8]
    assert torch.allclose(torch.cat([block for _, block in parts], dim=1), whole, atol=1e-5)


def test_vectors_of_names_are_the_same_whoever_stands_beside_them() -> None:
    together = named_vectors(["Ada", "Ben", "Cleo"], 6, 0.5, 0)
    assert np.array_equal(named_vectors(["Cleo"], 6, 0.5, 0)[0], together[2])
    assert not np.array_equal(named_vectors(["Cleo"], 6, 0.5, 1)[0], together[2])
    np.testing.assert_allclose(named_vectors(["Ada"], 3, 1.0, 0)[0], [-0.48021293, 0.81682146, -0.7757499])
    many = named_vectors([str(number) for number in range(2000)], 8, 0.5, 0)
    assert abs(float(many.mean())) < 0.01
    assert abs(float(many.std()) - 0.5 / 3**0.5) < 0.01
    assert -0.5 <= many.min() <= many.max() < 0.5


@torch.no_grad()
def test_a_new_entity_keeps_its_vector_when_the_graph_grows(graph: KnowledgeGraph) -> None:
    method, query = model(), Project(0, Anchor(3))
    once = graph.extended_with([("Zoe", "r0", "e1")])
    twice = once.extended_with([("Yan", "r1", "Zoe"), ("Zoe", "r1", "e2")])
    before, after = method.answer(once, [query])[0], method.answer(twice, [query])[0]
    assert torch.allclose(before, after[: len(before)], atol=1e-5)


def book(method: BetaE, graph: KnowledgeGraph, rows: dict[str, list[list[int]]]):
    tables, sets = [], []
    for name, slots in rows.items():
        found = [answers(graph, SHAPES[name].fill(row)) for row in slots]
        sets += [set(one.tolist()) for one in found]
        offsets = np.cumsum([0, *(len(one) for one in found)])
        values = np.concatenate(found).astype(np.int32)
        tables.append(AnsweredQueries(SHAPES[name].template, np.array(slots, np.int32), offsets, values))
    return method.training_questions(graph, tables), sets


def test_negatives_are_all_that_does_not_answer_and_nothing_else(graph: KnowledgeGraph) -> None:
    rows = {
        "1p": [[head, relation] for head in range(10) for relation in range(4)],
        "2in": [[0, 0, 1, 1], [2, 0, 3, 3]],
    }
    questions, sets = book(model(), graph, rows)
    draws = torch.linspace(0, 1 - 1e-9, 400, dtype=torch.float64).expand(len(sets), -1)
    drawn = questions.negatives(torch.arange(len(sets)), draws)
    for row, known in enumerate(sets):
        counts = torch.bincount(drawn[row], minlength=10)
        assert set(counts.nonzero().flatten().tolist()) == set(range(10)) - known
        assert int(counts[counts > 0].max() - counts[counts > 0].min()) <= 1


def test_where_everything_answers_negatives_are_still_entities() -> None:
    everywhere = graph_of([(0, 0, tail) for tail in range(10)])
    questions, _ = book(model(), everywhere, {"1p": [[0, 0]]})
    drawn = questions.negatives(torch.zeros(1, dtype=torch.int64), torch.rand(1, 5, dtype=torch.float64))
    assert bool(((drawn >= 0) & (drawn < 10)).all())


def test_positives_are_answers_and_shares_of_a_batch_are_its_losses(graph: KnowledgeGraph) -> None:
    method, random = model(negatives=4), np.random.default_rng(0)
    rows = {"1p": [[0, 0], [1, 0], [2, 2]], "2u": [[0, 0, 1, 1], [2, 2, 3, 0]], "2in": [[0, 0, 1, 1]]}
    rows = {name: [row for row in some if len(answers(graph, SHAPES[name].fill(row)))] for name, some in rows.items()}
    questions, sets = book(method, graph, {name: some for name, some in rows.items() if some})
    kinds = np.repeat(np.arange(len(questions.templates)), [len(some) for some in questions.slots])
    places = np.concatenate([np.arange(len(some)) for some in questions.slots])
    order = random.permutation(len(kinds))
    arguments = (kinds[order], places[order], random.random(len(kinds)))
    whole = questions.batch(*arguments)
    assert all(int(answer) in sets[number] for number, answer in zip(whole.numbers, whole.positives, strict=True))
    losses = method.losses(whole, torch.Generator().manual_seed(0))
    parts = [questions.batch(*arguments, slice(rank, None, 2)) for rank in range(2)]
    shared = [method.losses(part, torch.Generator().manual_seed(0)) for part in parts]
    found = torch.empty_like(losses)
    found[torch.cat([part.places for part in parts])] = torch.cat(shared)
    assert torch.allclose(found[whole.places], losses, atol=1e-4)


def test_the_loss_is_the_published_one(graph: KnowledgeGraph) -> None:
    method = model(negatives=3)
    slots = next([head, 0] for head in range(10) if len(answers(graph, Project(0, Anchor(head)))))
    questions, _ = book(method, graph, {"1p": [slots]})
    batch = questions.batch(np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0.0, 0.99]))
    found = method.losses(batch, torch.Generator().manual_seed(0))
    draws = torch.rand(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    drawn = questions.negatives(batch.numbers, draws)
    logits = plain_scores(method, Project(slots[1], Anchor(slots[0])))
    sigmoid = torch.nn.functional.logsigmoid
    expected = [
        -(sigmoid(logits[positive]) + sigmoid(-logits[others]).mean()) / 2
        for positive, others in zip(batch.positives, drawn, strict=True)
    ]
    torch.testing.assert_close(found.double(), torch.stack(expected), rtol=1e-3, atol=1e-3)


def test_it_learns_what_the_training_graph_says() -> None:
    """A ring with two relations: training-query Hits@3 among 40 entities far above the 7.5 % of chance."""
    names = tuple(f"e{number}" for number in range(40))
    ring = graph_of([(n, 0, (n + 1) % 40) for n in range(40)] + [(n, 1, (n + 3) % 40) for n in range(40)], names)
    torch.manual_seed(0)
    method = BetaE(RELATIONS, names, BetaShape(16, hidden_dim=64, margin=8.0), BetaObjective(negatives=16))
    rows = {
        "1p": [[n, r] for n in range(40) for r in range(4)],
        "2p": [[n, r, s] for n in range(40) for r in (0, 2) for s in (0, 2)],
        "2i": [[n, 0, (n + 38) % 40, 2] for n in range(40)],
    }
    questions, sets = book(method, ring, rows)
    optimizer, generator = torch.optim.Adam(method.parameters(), 5e-3), torch.Generator().manual_seed(0)
    random = np.random.default_rng(0)
    for _ in range(400):
        kinds = random.integers(0, 3, 128)
        places = random.integers(0, [len(questions.slots[kind]) for kind in kinds])
        optimizer.zero_grad()
        method.losses(questions.batch(kinds, places, random.random(128)), generator).mean().backward()
        optimizer.step()
    queries = [SHAPES[name].fill(row) for name, some in rows.items() for row in some]
    best = method.answer(ring, queries).topk(3, dim=1).indices
    hits = [bool(set(row.tolist()) & wanted) for row, wanted in zip(best, sets, strict=True) if wanted]
    assert np.mean(hits) > 0.9


@torch.no_grad()
def test_estimates_are_the_scores_as_memberships_also_of_sub_queries(graph: KnowledgeGraph) -> None:
    method, inner = model(), Project(0, Anchor(2), variable="y")
    query = Project(1, inner)
    execution = method.estimate(graph, [query, query])
    assert torch.equal(execution.memberships(query), method.answer(graph, [query])[0].sigmoid())
    assert torch.allclose(execution.memberships(inner), method.answer(graph, [inner])[0].sigmoid())
    assert execution.stacked([query, inner]).shape == (2, 10)
    assert set(execution.best_bindings(Project(1, inner, variable="z"), 4)) == {"y", "z"}
