"""Batches: by seed and step alone, in the proportions asked for."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.training.small_world import TYPES, small_dataset
from unseen.errors import ConfigError
from unseen.logic.shapes import shape_of
from unseen.training.batches import Batches, seed_of

TABLES = small_dataset().tables["train"]


def batches(types: tuple[str, ...] = TYPES, size: int = 8, seed: int = 0, **weights: float) -> Batches:
    named = {name.removeprefix("t"): weight for name, weight in weights.items()}
    return Batches(TABLES, types, named, batch_size=size, seed=seed)


def test_a_batch_depends_on_seed_and_step_only() -> None:
    assert batches()[5].queries == batches()[5].queries
    assert batches()[5].queries != batches()[6].queries
    assert batches(seed=1)[5].queries != batches()[5].queries
    assert len({seed_of(seed, step) for seed in range(5) for step in range(5)}) == 25


def test_every_query_comes_with_its_own_answers() -> None:
    batch = batches()[0]
    for query, answers in zip(batch.queries, batch.answers, strict=True):
        table = TABLES[shape_of(query).name]
        rows = [row for row in range(len(table)) if table.query(row) == query]
        assert any(table.easy.row(row).tolist() == answers.tolist() for row in rows)


def test_types_are_drawn_by_weight() -> None:
    drawn = Counter(shape_of(query).name for query in batches(size=4000, t1p=3.0, t2in=0.0)[0].queries)
    assert drawn["2in"] == 0
    assert drawn["1p"] / drawn["2p"] == pytest.approx(3, rel=0.2)
    assert drawn["2i"] / drawn["2p"] == pytest.approx(1, rel=0.2)


def test_the_shares_of_all_processes_are_the_batch() -> None:
    batch = batches(size=7)[0]
    shares = [batch.share(rank, 3) for rank in range(3)]
    assert sorted(map(str, batch.queries)) == sorted(str(query) for share in shares for query in share.queries)
    assert [len(share) for share in shares] == [3, 2, 2]


def test_a_type_without_queries_is_an_error_that_says_what_there_is() -> None:
    with pytest.raises(ConfigError, match="type 3p; it has 1p, 2p, 2i, 2in"):
        batches(types=("1p", "3p"))
    with pytest.raises(ConfigError, match="no training query is left"):
        batches(types=("1p",), t1p=0.0)
