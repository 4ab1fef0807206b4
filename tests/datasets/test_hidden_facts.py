"""Facts hidden at random, and questions that only they answer."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.datasets.hidden_facts import hidden_dataset, hidden_facts, with_questions
from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph
from unseen.logic.traverse import Traversal


def test_about_a_share_is_hidden_and_the_same_for_a_seed(countries: KnowledgeGraph) -> None:
    hidden = hidden_facts(countries, 0.1, seed=3)
    assert 0.05 * countries.num_triples < hidden.sum() <= 0.12 * countries.num_triples
    assert np.array_equal(hidden, hidden_facts(countries, 0.1, seed=3))
    assert not np.array_equal(hidden, hidden_facts(countries, 0.1, seed=4))


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_no_entity_is_left_without_a_fact(countries: KnowledgeGraph, share: float) -> None:
    kept = countries.restricted_to(~hidden_facts(countries, share, seed=0))
    assert np.array_equal(kept.connected_entities, countries.connected_entities)


@pytest.mark.parametrize("share", [-0.1, 0.0, 1.0])
def test_a_share_of_nothing_or_of_all_is_refused(family: KnowledgeGraph, share: float) -> None:
    with pytest.raises(UnseenError, match="between 0 and 1"):
        hidden_facts(family, share, seed=0)


def test_questions_ask_for_what_only_hidden_facts_give(countries: KnowledgeGraph) -> None:
    hidden = hidden_facts(countries, 0.1, seed=1)
    dataset = with_questions(hidden_dataset(countries, hidden), ("1p", "2i"), 20, seed=1)
    observed, complete = dataset.observed("test"), dataset.complete("test")
    assert (observed.num_triples, complete.num_triples) == (int((~hidden).sum()), countries.num_triples)
    for table in dataset.tables["test"].values():
        assert len(table) == 20
        assert table.hard.lengths.min() >= 1
    links = dataset.tables["test"]["1p"]
    for row, slots in enumerate(links.slots.tolist()):
        query = links.shape.fill(slots)
        true, known = (set(Traversal(graph).members(query).tolist()) for graph in (complete, observed))
        assert set(links.hard.row(row).tolist()) == true - known
