"""How long a query takes: one alone, and one of a batch; to be measured with nothing running beside it."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.evaluation.query_sets import Questions
    from unseen.logic.algebra import Query

ALONE = 5
"""Queries that are asked one by one; their median counts."""
ROUNDS = 2
"""How often a batch is asked; the quicker time counts."""


def seconds_per_query(method: Any, questions: Questions) -> dict[str, float | int]:
    """Median seconds of a query alone, and seconds of one of a batch; everything has been asked once before."""
    queries = [questions.table.query(row) for row in range(len(questions))]
    few = queries[:ALONE]
    _seconds(method, questions, queries)
    for query in few[:1]:
        _seconds(method, questions, [query])
    alone = [_seconds(method, questions, [query]) for query in few]
    batch = min(_seconds(method, questions, queries) for _ in range(ROUNDS)) / max(1, len(queries))
    return {"alone": statistics.median(alone) if alone else 0.0, "batch": batch, "batch_size": len(queries)}


def _seconds(method: Any, questions: Questions, queries: Sequence[Query]) -> float:
    """Until the scores are there; reading one of them waits for the device."""
    begin = time.perf_counter()
    scores = method.answer(questions.graph, queries)
    if scores.numel():
        float(scores[-1, -1])
    return time.perf_counter() - begin
