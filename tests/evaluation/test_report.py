"""Tables against golden files, figures as files, and published numbers beside them.

`UNSEEN_WRITE_GOLDEN=1 pytest tests/evaluation/test_report.py` writes the golden files anew.
"""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from unseen.errors import EvaluationError, MissingExtra
from unseen.evaluation.report import read_result, write_report
from unseen.evaluation.report_rows import ReportRow, published_rows, ratio_of, rows_of
from unseen.evaluation.report_tables import Table
from unseen.evaluation.results import AnswerCount, RankMetrics, ReliabilityCurve, Result, TypeResult

GOLDEN = Path(__file__).parent / "golden"
PAPER = Path(__file__).parents[2] / "experiments" / "paper_results.csv"
TABLES = ("test_queries", "training_queries", "roc_auc", "probabilities", "strata", "half_links")


def metrics(value: float, answers: int = 30) -> RankMetrics:
    return RankMetrics(10, answers, value / 2, value / 4, value / 2, value, min(1.0, 2 * value))


def found(value: float) -> TypeResult:
    return TypeResult(
        metrics(value),
        roc_auc=0.5 + value / 2,
        strata={"1": metrics(value, 27), "2": metrics(value / 2, 3)},
        half_links={"both": metrics(value, 20), "neither": metrics(0.0, 10)},
        answer_count=AnswerCount(0.4, 0.9, 3.0, 4.0),
        calibration=ReliabilityCurve(0.02, (90, 0, 10), (0.1, 0.0, 0.9), (0.05, 0.0, 0.95)),
    )


def result(method: str, ratio: int, value: float) -> Result:
    types = {"1p": found(value), "2i": found(value + 0.1), "3in": found(value / 2), "4p": found(value / 4)}
    training = {graph: {"1p": TypeResult(metrics(share))} for graph, share in (("train", 0.9), ("test_all", 0.8))}
    training["test"] = {"1p": TypeResult(metrics(0.7))}
    return Result(method, f"data & {ratio}", "test", types, training, float(ratio), 100)


RESULTS = [result("edge-type", 175, 0.1), result("mine_2", 175, 0.3), result("edge-type", 550, 0.12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("report")
    write_report(RESULTS, target, figures=False)
    return target


@pytest.mark.parametrize(
    "name", [f"{table}.{kind}" for table in TABLES for kind in ("md", "tex", "csv")] + ["results.csv"]
)
def test_tables_are_those_of_the_golden_files(folder: Path, name: str) -> None:
    text = (folder / name).read_text("utf-8")
    if os.environ.get("UNSEEN_WRITE_GOLDEN"):
        (GOLDEN / name).write_text(text, "utf-8")
    assert text == (GOLDEN / name).read_text("utf-8")


def bare(result: Result) -> Result:
    """The result with its headline metrics only: fewer figures, a quicker test."""
    types = {name: TypeResult(one.metrics) for name, one in result.types.items()}
    return replace(result, types=types, training_queries={})


def test_every_figure_is_there_in_both_formats(tmp_path: Path) -> None:
    written = write_report(
        [RESULTS[0], replace(bare(RESULTS[2]), training_queries=RESULTS[2].training_queries)], tmp_path
    )
    pictures = [path for path in written if path.suffix in {".png", ".svg"}]
    names = {
        "test_queries_by_ratio",
        "test_queries_by_type",
        "training_queries_by_ratio",
        "training_queries_by_type",
        "strata_edge-type_data-175",
        "reliability_edge-type_data-175",
    }
    assert {path.name for path in pictures} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert all(path.stat().st_size > 5_000 for path in pictures)
    assert "test_queries_by_ratio.png" in (tmp_path / "report.md").read_text("utf-8")


def test_one_ratio_gives_bars_with_the_paper_beside_and_the_same_numbers_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write_report([bare(RESULTS[0])], tmp_path / name, beside=PAPER) for name in ("a", "b"))
    names = {path.name for path in first}
    assert "test_queries_by_type.png" in names
    assert "test_queries_by_ratio.png" not in names
    table = (tmp_path / "a" / "test_queries.md").read_text("utf-8")
    assert "GNN-QE (paper)" in table
    assert "550" not in table
    assert all(one.read_bytes() == other.read_bytes() for one, other in zip(first, second, strict=True))


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"matplotlib; install the extra .plot."):
        write_report(RESULTS, tmp_path)


def test_published_numbers_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    with pytest.raises(EvaluationError, match=r"published\.csv: cannot be read"):
        published_rows(path)
    path.write_text("method,1p\nGNN-QE,12.5\n")
    with pytest.raises(EvaluationError, match=r"its columns are method, ratio, queries, graph, metric"):
        published_rows(path)
    path.write_text("method,ratio,queries,graph,metric,1p\nGNN-QE,175,test,test,hits_at_10,12.5\n")
    assert [row.values for row in published_rows(path)] == [{"1p": 12.5}]


def test_rows_are_percentages_and_leave_out_what_was_not_measured() -> None:
    rows = {(row.graph, row.metric): row for row in rows_of(RESULTS[0])}
    assert rows["test", "hits_at_10"].values["1p"] in {10.0, 70.0}
    assert ("train", "roc_auc") not in rows
    assert rows["train", "hits_at_10"].avg_n is None


@pytest.mark.parametrize(
    ("dataset", "ratio", "expected"),
    [
        ("175", None, 175),
        ("fb15k-237-550", None, 550),
        ("fb15k-237", None, None),
        ("wiki", None, None),
        ("x-175", 300, 300),
    ],
)
def test_the_ratio_is_the_datasets_word_or_the_number_its_name_ends_in(
    dataset: str, ratio: float | None, expected: float | None
) -> None:
    assert ratio_of(Result("m", dataset, "test", {}, ratio=ratio)) == expected


def test_a_row_without_a_ratio_is_placed_by_its_dataset() -> None:
    assert ReportRow("m", "wiki", None, "test", "test", "mrr", {"1p": 1.0}).place == "wiki"


def test_signs_that_latex_and_markdown_know_are_escaped() -> None:
    table = Table("t", "50 % & more", ("a", "b_c"), (("x|y", "1"),), 1)
    assert r"x\|y" in table.to_markdown()
    assert r"50 \% \& more" in table.to_latex()
    assert r"b\_c" in table.to_latex()


def test_files_that_are_no_results_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    with pytest.raises(EvaluationError, match=r"other\.json: cannot be read"):
        read_result(path)
    path.write_text("{", "utf-8")
    with pytest.raises(EvaluationError, match=r"other\.json: this is not JSON"):
        read_result(path)
    path.write_text(json.dumps({"a": 1}), "utf-8")
    with pytest.raises(EvaluationError, match=r"other\.json: this is not a result"):
        read_result(path)


def test_a_report_needs_results_and_metrics_that_exist(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="at least one"):
        write_report([], tmp_path)
    with pytest.raises(EvaluationError, match="hits_at_7"):
        write_report(RESULTS, tmp_path, metrics=["hits_at_7"])
