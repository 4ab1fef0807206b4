"""The numbers that the paper prints, by type of query."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from unseen.evaluation.report_rows import ReportRow, published_rows

PAPER_RESULTS = Path(__file__).with_name("paper_results.csv")


@cache
def paper_rows() -> tuple[ReportRow, ...]:
    """The result tables of the paper: test queries, training queries, ROC AUC, BetaE."""
    return tuple(published_rows(PAPER_RESULTS))
