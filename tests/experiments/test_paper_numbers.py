"""The numbers of the paper are typed in correctly: the types of each row have the averages that it prints."""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.paper_numbers import paper_rows


def test_the_paper_says_what_it_says() -> None:
    rows = {(r.method, r.ratio, r.queries, r.graph, r.metric): r for r in paper_rows()}
    test = rows["Edge-type heuristic", 175, "test", "test", "hits_at_10"]
    training = rows["Edge-type heuristic", 175, "training", "test_all", "hits_at_10"]
    assert (round(test.avg_p or 0, 1), round(test.avg_n or 0, 1)) == (10.1, 4.1)
    assert (round(training.avg_p or 0, 1), round(training.avg_n or 0, 1)) == (20.0, 9.8)
    assert rows["GNN-QE", 550, "test", "test", "hits_at_3"].values["3i"] == 60.9
    assert rows["NodePiece-QE", 106, "training", "train", "hits_at_10"].avg_n is None


MISPRINTS = {("Edge-type heuristic", 134.0, metric, "avg_n") for metric in ("hits_at_3", "hits_at_10")}
"""Averages of test queries that the paper prints as 1.9 and 4.2, and of which its types give 1.7 and 3.8."""


def test_the_types_of_the_paper_have_the_averages_that_it_prints() -> None:
    """Every row of its tables of test and training queries, ROC AUC and BetaE, within the rounding of both numbers."""
    rows = {(r.method, r.ratio, r.queries, r.graph.removesuffix("_all"), r.metric): r for r in paper_rows()}
    wrong = set()
    for record in csv.DictReader((Path(__file__).parent / "paper_averages.csv").read_text().splitlines()):
        key = (record["method"], float(record["ratio"]), record["queries"], record["graph"], record["metric"])
        row = rows.pop(key)
        for name, mean in (("avg_p", row.avg_p), ("avg_n", row.avg_n)):
            assert (mean is None) == (record[name] == "")
            if mean is not None and abs(mean - float(record[name])) > 0.1:
                wrong.add((row.method, row.ratio, row.metric, name))
    assert wrong == MISPRINTS
    assert rows == {}
