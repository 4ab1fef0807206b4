"""What a graph adds to the weights of network and rules: facts hidden from it, the fit, its file, when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.conformance.methods import combined
from unseen.errors import GraphError
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Anchor, Project
from unseen.methods.combination import CALIBRATION, EVIDENCE, Combination, LinkEvidence
from unseen.methods.own_weights import own_fit, own_opening
from unseen.methods.own_weights.hidden_rows import MISSING, hidden_rows
from unseen.methods.own_weights.own_weights import OwnWeights
from unseen.methods.own_weights.row_candidates import SIZE, RowCandidates, candidates_of
from unseen.methods.zero_shot.effort import BUDGETS, Budget
from unseen.rules.origins import note_source

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(0)


def mirrored_world(pairs: int = 300) -> KnowledgeGraph:
    """Pairs that know each other, who work somewhere."""
    ends = [(f"a{number}", f"b{number}") for number in range(pairs)]
    know = [(left, "knows", right) for left, right in ends] + [(right, "knows", left) for left, right in ends]
    return KnowledgeGraph.from_triples(know + [(left, "works_for", f"firm{len(left)}") for left, _ in ends])


def made_up_rows(count: int, useful: str) -> tuple[RowCandidates, np.ndarray]:
    """One hidden target a row, which stands out in one kind of evidence alone; the others are noise."""
    kinds = RANDOM.normal(size=(count, SIZE, len(EVIDENCE)))
    is_true = np.zeros((count, SIZE), bool)
    is_true[:, 0] = True
    kinds[:, 0, EVIDENCE.index(useful)] += 6
    many = np.zeros((count, SIZE))
    many[:, :30] = 1.0
    shipped = np.tile([2.0, 0.5, 0.0, 0.0, 0.0], (count, 1))
    return RowCandidates(kinds, many, is_true, shipped, np.zeros((count, 6)), np.ones(count)), np.zeros(count, np.int64)


def chances_by(columns: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """The probability of each candidate of each row."""
    start = columns[:, :, CALIBRATION.index("scale")] + columns[:, :, CALIBRATION.index("balance")]
    return 1 / (1 + np.exp(-start - np.einsum("rck,rk->rc", columns, calibration)))


class TestHiddenRows:
    def test_about_a_tenth_of_the_facts_around_is_hidden_and_asked_for(self) -> None:
        graph = mirrored_world()
        rows = hidden_rows(graph, 200)
        assert 0.03 < 1 - rows.graph.num_triples / graph.num_triples < 1.3 * MISSING
        left = set(rows.graph.triples())
        for source, relation, targets in zip(rows.sources, rows.relations, rows.targets, strict=True):
            for target in targets.tolist():
                ends = (source, target) if relation % 2 == 0 else (target, source)
                names = [graph.vocabulary.entities.name(int(end)) for end in ends]
                triple = (names[0], graph.vocabulary.relations.name(int(relation) // 2), names[1])
                assert triple in set(graph.triples()) - left

    def test_every_entity_keeps_a_fact(self) -> None:
        graph = mirrored_world()
        assert len(hidden_rows(graph, 200).graph.connected_entities) == len(graph.connected_entities)

    def test_half_of_the_questions_ask_for_something_and_weigh_less(self) -> None:
        rows = hidden_rows(mirrored_world(), 200)
        asks = np.array([len(targets) > 0 for targets in rows.targets])
        assert 0.3 < asks.mean() < 0.7
        assert rows.weights[asks].mean() < rows.weights[~asks].mean()

    def test_they_are_the_same_for_a_seed(self) -> None:
        first, second = (hidden_rows(mirrored_world(), 100, seed=3) for _ in range(2))
        assert (first.sources == second.sources).all()
        assert (first.weights == second.weights).all()


class TestFit:
    @pytest.mark.parametrize(("useful", "useless"), [("rules", 0), ("network", 1)])
    def test_what_finds_hidden_facts_counts_more_and_the_rest_less(self, useful: str, useless: int) -> None:
        rows, relations = made_up_rows(60, useful)
        evidence, _ = own_fit.fitted_weights(rows, relations, np.ones(60), 2)
        assert evidence[0, 1 - useless] > 0 > evidence[0, useless]

    def test_a_relation_without_questions_has_the_weights_of_all(self) -> None:
        rows, relations = made_up_rows(60, "rules")
        evidence, calibration = own_fit.fitted_weights(rows, relations, np.ones(60), 4)
        assert (evidence[3] == evidence[4]).all()
        assert (calibration[3] == calibration[4]).all()

    def test_few_questions_change_little(self) -> None:
        changes = []
        for count in (3, 100):
            rows, relations = made_up_rows(count, "rules")
            changes.append(np.abs(own_fit.fitted_weights(rows, relations, np.ones(count), 2)[0][-1]).sum())
        assert changes[0] < changes[1] / 2

    def test_what_is_always_hidden_is_nearly_certain_and_what_never_is_is_not(self) -> None:
        rows, relations = made_up_rows(200, "rules")
        evidence, calibration = own_fit.fitted_weights(rows, relations, np.ones(200), 2)
        scores, totals = own_fit.scores_of(rows, evidence[relations])
        chances = chances_by(
            own_fit.calibration_columns(scores, rows, totals, calibration[relations, 0]), calibration[relations]
        )
        assert chances[:, 0].mean() > 0.8
        assert chances[:, 1:30].mean() < 0.05

    def test_without_anything_hidden_nothing_is_added_to_the_evidence(self) -> None:
        rows, relations = made_up_rows(20, "rules")
        nothing = RowCandidates(
            rows.kinds, rows.many, np.zeros_like(rows.is_true), rows.shipped, rows.offsets, rows.missing
        )
        assert not own_fit.fitted_weights(nothing, relations, np.ones(20), 2)[0].any()


def rows_with(each: int, absent: list[int], hidden: list[int], noise: int = 60) -> RowCandidates:
    """Rows of a relation with so many targets a source: some absent, some of these hidden; rules tell targets apart."""
    count, known = len(absent), each - np.array(absent)
    kinds = RANDOM.normal(size=(count, SIZE, len(EVIDENCE)))
    is_true, many = np.zeros((count, SIZE), bool), np.zeros((count, SIZE))
    for row, (gone, asked) in enumerate(zip(absent, hidden, strict=True)):
        kinds[row, :gone, EVIDENCE.index("rules")] += 3
        is_true[row, :asked], many[row, : gone + noise] = True, 1.0
    missing = np.where(known > 0, known / 9, 1.0) if each > 1 else np.where(known > 0, 1e-3, 1.0)
    offsets = np.zeros((count, 6))
    offsets[:, 4] = np.log1p(known)
    return RowCandidates(kinds, many, is_true, np.tile([0.0, 1.0, 0, 0, 0], (count, 1)), offsets, missing)


@pytest.mark.parametrize("each", [1, 30])
def test_as_many_are_expected_as_are_missing(each: int) -> None:
    missing = RANDOM.binomial(each - 1, MISSING, 400)  # one is there, or it would not be asked about
    hidden = RANDOM.binomial(each - missing, MISSING)
    tried = rows_with(each, (missing + hidden).tolist(), hidden.tolist())
    relations = np.zeros(400, np.int64)
    evidence, calibration = own_fit.fitted_weights(tried, relations, np.ones(400), 2)
    absent = RANDOM.binomial(each, MISSING, 400)
    asked = rows_with(each, absent.tolist(), [0] * 400)
    scores, totals = own_fit.scores_of(asked, evidence[relations])
    chances = chances_by(
        own_fit.calibration_columns(scores, asked, totals, calibration[relations, 0]), calibration[relations]
    )
    assert (asked.many * chances).sum(axis=1).mean() == pytest.approx(absent.mean(), rel=0.1)


class TestFile:
    def weights(self) -> OwnWeights:
        count = 2 * len(("knows", "works_for")) + 1
        parts = RANDOM.normal(size=(count, len(EVIDENCE))), RANDOM.normal(size=(count, len(CALIBRATION)))
        return OwnWeights(*parts, 64, ("knows", "works_for"), 900, "model")

    def test_it_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        weights = self.weights()
        weights.save(tmp_path / "w.safetensors")
        again = OwnWeights.load(tmp_path / "w.safetensors")
        assert (again.evidence == weights.evidence).all()
        assert (again.questions, again.relation_keys, again.model) == (64, weights.relation_keys, "model")

    def test_a_damaged_one_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "w.safetensors"
        self.weights().save(path)
        damaged = bytearray(path.read_bytes())
        damaged[-3] ^= 1
        path.write_bytes(bytes(damaged))
        with pytest.raises(GraphError, match="no file of weights"):
            OwnWeights.load(path)

    def test_new_relations_have_the_weights_of_all(self) -> None:
        weights = self.weights()
        rows = weights.rows(np.array([0, 17]))
        assert torch.equal(rows.evidence[1], torch.from_numpy(weights.evidence[-1]).float())


def test_a_column_that_stands_for_many_counts_as_many() -> None:
    count = 1000
    copies = torch.ones(count)
    copies[-1] = 5000.0
    empty = torch.zeros(1, count)
    row = torch.ones(1)
    links = LinkEvidence(torch.full((1, count), 0.1), empty, empty, empty, row, row, row, row, copies)
    found = candidates_of(links, Combination({"network": {"one": 1.0}}, {}), [np.array([3])], np.random.default_rng(0))
    assert found.many.sum() == pytest.approx(5999)
    assert found.many[found.is_true].sum() == 1


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """How many questions each fit asked; few are asked, and what comes out is kept in a folder of its own."""
    monkeypatch.setenv("UNSEEN_FIT", "1")
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(own_opening, "QUESTIONS", (16,))
    monkeypatch.setattr(own_opening, "SECONDS", 1000.0)
    monkeypatch.setattr(own_opening, "LEAST_HIDDEN", 1)
    real, found = own_opening.fitted_to, []

    def noted(*arguments: object) -> OwnWeights:
        weights = real(*arguments)  # type: ignore[arg-type]
        found.append(weights.questions)
        return weights

    monkeypatch.setattr(own_opening, "fitted_to", noted)
    return found


class TestOpening:
    def test_a_graph_is_fitted_once_and_its_weights_are_kept(self, fits: list[int], tmp_path: Path) -> None:
        graph = note_source(mirrored_world(60), None)
        first = combined()
        scores = first.answer(graph, [Project(0, Anchor(0))])
        again = combined().answer(note_source(mirrored_world(60), None), [Project(0, Anchor(0))])
        assert len(fits) == 1
        assert 8 <= fits[0] <= 16
        assert torch.equal(scores, again)
        assert len(list((tmp_path / "cache" / "weights").iterdir())) == 1

    def test_a_graph_that_has_grown_a_little_keeps_them(self, fits: list[int]) -> None:
        graph, method = mirrored_world(60), combined()
        method.answer(graph, [Project(0, Anchor(0))])
        method.answer(graph.extended_with([("new", "knows", "a0")]), [Project(0, Anchor(0))])
        assert len(fits) == 1

    def test_one_that_has_grown_a_lot_is_fitted_anew(self, fits: list[int]) -> None:
        graph, method = mirrored_world(60), combined()
        method.answer(graph, [Project(0, Anchor(0))])
        more = [(f"c{number}", "knows", "a0") for number in range(60)]
        method.answer(graph.extended_with(more), [Project(0, Anchor(0))])
        assert len(fits) == 2

    def test_nothing_is_added_where_it_is_turned_off(self, fits: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNSEEN_FIT", "0")
        graph, method = mirrored_world(60), combined()
        assert not method.own.weights(method, graph).evidence.any()
        assert not fits

    def test_a_small_graph_is_asked_in_several_rounds(self, fits: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(own_opening, "QUESTIONS", (64,))
        graph, method = mirrored_world(10), combined()
        assert method.own.weights(method, graph).questions > len(hidden_rows(graph, 64))
        assert len(fits) == 1

    def test_a_graph_that_is_read_in_parts_is_asked_in_parts(
        self, fits: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(BUDGETS, "normal", Budget(0, 50, 100_000, 10_000, 1_000_000))
        graph, method = mirrored_world(60), combined()
        weights = method.own.weights(method, graph)
        assert 8 <= fits[0] <= 16
        assert weights.evidence.any()

    def test_nothing_is_added_where_too_little_can_be_hidden(
        self, fits: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(own_opening, "LEAST_HIDDEN", 1000)
        graph, method = mirrored_world(10), combined()
        assert method.own.weights(method, graph).questions == 0
        assert fits == [0]

    def test_nothing_is_tried_on_a_tiny_graph(self, fits: list[int]) -> None:
        graph, method = mirrored_world(3), combined()
        assert method.own.weights(method, graph).questions == 0
        assert not fits

    def test_nothing_is_added_where_too_few_questions_can_be_asked(
        self, fits: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(own_opening, "SECONDS", 1e-9)
        monkeypatch.setattr(own_opening, "SECONDS_PER_MILLION", 0.0)
        graph, method = mirrored_world(60), combined()
        assert not method.own.weights(method, graph).evidence.any()
        assert fits == [0]
