"""Checks of whole graphs: what is hidden, what is asked, what comes out, and how they end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch

import unseen
from tests.rules.worlds import family as family_tree
from unseen.checking import opened_check
from unseen.datasets.hidden_facts import LEAST_FACTS, hidden_by_relation, hidden_dataset
from unseen.errors import EvaluationError, UnknownMethod, UnseenError
from unseen.evaluation.graph_check import CheckOptions, GraphCheck, in_turns
from unseen.evaluation.links import link_questions
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.stopping import check_stop


class Fixed:
    """A method that gives every entity a probability by its id, and knows which graph it was asked about."""

    def __init__(self, slow: float = 0.0) -> None:
        self.graphs: list[KnowledgeGraph] = []
        self.slow = slow

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Fixed:
        self.graphs.append(graph)
        end = time.monotonic() + self.slow
        while time.monotonic() < end:
            check_stop()
            time.sleep(0.01)
        return self

    def stacked(self, queries: Sequence[Query]) -> torch.Tensor:
        entities = self.graphs[-1].num_entities
        return (0.5 / (1 + torch.arange(entities))).expand(len(queries), entities)


class TestHiding:
    """Which facts are hidden."""

    def test_every_relation_with_enough_facts_loses_a_tenth_at_most(self, countries: KnowledgeGraph) -> None:
        (hidden,) = hidden_by_relation(countries, 20, seed=1)
        counts = np.bincount(countries.relations)
        lost = np.bincount(countries.relations[hidden], minlength=len(counts))
        degrees = np.bincount(np.concatenate([countries.heads, countries.tails]))
        can_be_lost = (degrees[countries.heads] > 1) & (degrees[countries.tails] > 1)
        assert ((lost > 0) == ((counts >= LEAST_FACTS) & (np.bincount(countries.relations[can_be_lost]) > 0))).all()
        assert (lost <= np.minimum(20, np.maximum(1, counts // 10))).all()
        assert np.array_equal(hidden, hidden_by_relation(countries, 20, seed=1)[0])
        assert not np.array_equal(hidden, hidden_by_relation(countries, 20, seed=2)[0])

    def test_rounds_hide_other_facts_and_no_more_than_asked_for(self, countries: KnowledgeGraph) -> None:
        rounds = hidden_by_relation(countries, 20, seed=1, rounds=5)
        together = np.sum(rounds, axis=0)
        assert len(rounds) > 1
        assert together.max() == 1
        assert np.bincount(countries.relations[together > 0]).max() == 20
        kept = [countries.restricted_to(~hidden) for hidden in rounds]
        assert all(np.array_equal(one.connected_entities, countries.connected_entities) for one in kept)

    def test_the_other_direction_of_a_hidden_fact_stays(self) -> None:
        names = [f"e{number}" for number in range(12)]
        both = [(*pair, "next_to") for pair in pairwise(names)]
        graph = KnowledgeGraph.from_triples([(a, r, b) for a, b, r in both] + [(b, r, a) for a, b, r in both])
        (hidden,) = hidden_by_relation(graph, 1, seed=0)
        head, tail = int(graph.heads[hidden][0]), int(graph.tails[hidden][0])
        left = graph.restricted_to(~hidden)
        assert ((left.heads == tail) & (left.tails == head)).any()


def test_questions_come_in_turns(countries: KnowledgeGraph) -> None:
    (hidden,) = hidden_by_relation(countries, 20, seed=1)
    questions = in_turns(link_questions(hidden_dataset(countries, hidden), "test"), 0)
    directed = questions.table.slots[:, 1]
    kinds = len(np.unique(directed))
    assert len(np.unique(directed[:kinds])) == kinds
    assert (np.diff(directed[:kinds]) > 0).all()


class TestNumbers:
    """Ranks and probabilities against counts by hand."""

    def test_a_method_that_ignores_the_question_is_ranked_by_ids(self, countries: KnowledgeGraph) -> None:
        method = Fixed()
        running = GraphCheck(countries, {"fixed": lambda _graph, _seconds: method}, CheckOptions(2, rounds=1))
        running.run()
        found = running.result()
        (hidden,) = running.rounds
        assert found.tried == found.planned == hidden.sum()
        assert method.graphs[0].num_triples == countries.num_triples - hidden.sum()
        names = countries.vocabulary.relations
        for row in found.rows:
            mine = np.flatnonzero(hidden & (countries.relations == names.find(row.relation)))
            wanted = [rank_by_hand(countries, fact, end) for fact in mine.tolist() for end in (0, 1)]
            assert row.scores["fixed"].mrr == pytest.approx(np.mean([1 / rank for rank in wanted]))
            assert row.scores["fixed"].hits_at_10 == pytest.approx(np.mean([rank <= 10 for rank in wanted]))
            assert {end: one.asked for end, one in row.ends["fixed"].items()} == {"tail": len(mine), "head": len(mine)}
            assert row.chance == pytest.approx(10 / countries.num_entities, rel=0.3)

    def test_rules_find_what_is_certain_and_are_mined_without_the_hidden_facts(self) -> None:
        graph = family_tree().graph
        found = unseen.check(graph, methods=["rules", "edge-type"], facts=10)
        row = found.row("grandparent_of")
        assert row is not None
        assert row.best == "rules"
        assert row.scores["rules"].hits_at_1 > 0.8
        assert row.scores["edge-type"].hits_at_10 < 0.5
        assert found.overall["rules"].mrr > found.overall["edge-type"].mrr
        assert found.as_json()["relations"][0]["methods"]["rules"]["ends"]["tail"]["asked"] == 10

    def test_the_same_seed_gives_the_same_numbers(self, countries: KnowledgeGraph) -> None:
        first, second = (unseen.check(countries, methods=["edge-type"], facts=2, seed=4) for _ in range(2))
        assert first.rows == second.rows


def rank_by_hand(graph: KnowledgeGraph, fact: int, end: int) -> int:
    """The filtered place of one end of a fact when entities are ordered by their ids."""
    ends = (graph.heads, graph.tails)
    wanted, given = int(ends[end][fact]), int(ends[1 - end][fact])
    answers = ends[end][(graph.relations == graph.relations[fact]) & (ends[1 - end] == given)]
    return wanted + 1 - int((answers < wanted).sum())


class TestEndings:
    """What a check does when it cannot do everything."""

    def test_when_time_is_up_all_relations_were_tried_alike(self, countries: KnowledgeGraph) -> None:
        running = GraphCheck(countries, {"slow": lambda _graph, _seconds: Fixed(0.3)}, CheckOptions(20, seconds=1.5))
        running.run()
        found = running.result()
        assert found.stopped == "time"
        assert 0 < found.tried < found.planned

    def test_too_little_time_for_one_batch_is_an_error(self, countries: KnowledgeGraph) -> None:
        running = GraphCheck(countries, {"slow": lambda _graph, _seconds: Fixed(30)}, CheckOptions(seconds=0.2))
        with pytest.raises(EvaluationError, match="too few to try a single fact"):
            running.run()

    def test_an_interrupt_leaves_what_was_found(self, countries: KnowledgeGraph) -> None:
        def progress(_label: str, done: int, _total: int) -> None:
            if done:
                raise KeyboardInterrupt

        running = opened_check(countries, ["edge-type"], CheckOptions(2), progress)
        with pytest.raises(KeyboardInterrupt):
            running.run()
        found = running.result()
        assert found.stopped == "interrupted"
        assert 0 < found.tried < found.planned

    def test_a_method_that_refuses_the_graph_is_left_out(self, countries: KnowledgeGraph) -> None:
        def refuse(_graph: KnowledgeGraph, _seconds: float) -> Fixed:
            raise UnseenError("it needs more memory than there is")

        openers = {"large": refuse, "fixed": lambda _graph, _seconds: Fixed()}
        running = GraphCheck(countries, openers, CheckOptions(1, rounds=1))
        running.run()
        assert running.result().methods == ("fixed",)
        assert running.result().skipped == {"large": "it needs more memory than there is"}
        with pytest.raises(UnseenError, match="more memory"):
            GraphCheck(countries, {"large": refuse}, CheckOptions(1)).run()

    @pytest.mark.parametrize("slow", [0.6, 60.0])
    def test_a_method_that_is_too_slow_for_every_relation_is_left_out(
        self, countries: KnowledgeGraph, slow: float
    ) -> None:
        openers = {"slow": lambda _graph, _seconds: Fixed(slow), "quick": lambda _graph, _seconds: Fixed()}
        running = GraphCheck(countries, openers, CheckOptions(2, seconds=10, rounds=1))
        running._size = 1
        running.run()
        found = running.result()
        assert found.methods == ("quick",)
        assert "`--method slow` tries it alone" in found.skipped["slow"]
        assert found.tried > 0

    def test_what_cannot_be_checked_is_refused(self, single_edge: KnowledgeGraph, countries: KnowledgeGraph) -> None:
        for graph in (single_edge, KnowledgeGraph.from_triples([])):
            with pytest.raises(EvaluationError, match="nothing can be hidden"):
                unseen.check(graph, methods=["edge-type"])
        with pytest.raises(UnknownMethod):
            unseen.check(countries, methods=["no-such-method"])
        with pytest.raises(EvaluationError, match="at least one fact"):
            unseen.check(countries, methods=["edge-type"], facts=0)
