from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.evaluation.small_dataset import TYPES, small_dataset
from unseen.cli.main import app
from unseen.errors import EvaluationError, GraphError, UnknownMethod

PAPER = Path(__file__).parents[2] / "experiments" / "paper_results.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("datasets") / "small-175"
    small_dataset(queries=8).save(path)
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_evaluate_shows_a_line_for_every_type_and_the_averages(folder: Path) -> None:
    output = run("evaluate", "edge-type", folder)
    assert all(name in output for name in (*TYPES, "avg_p", "avg_n", "Hits@10", "ROC AUC"))


def test_evaluate_writes_the_promised_json(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    run("evaluate", "exact", folder, "--types", "1p,2in", "--limit", 5, "--full", "--batch-size", 2, "--json", target)
    value = json.loads(target.read_text("utf-8"))
    assert (value["method"], value["dataset"], value["split"], value["limit"]) == ("exact", "small-175", "test", 5)
    assert set(value["types"]) == {"1p", "2in"}
    assert value["types"]["1p"]["queries"] == 5
    assert {"mrr", "hits_at_1", "hits_at_3", "hits_at_10", "hits_at_100"} <= value["avg_p"].keys()
    assert value["types"]["1p"]["strata"].keys() == {"1"}
    assert value["training_queries"]["train"]["avg_p"]["hits_at_10"] == 1
    assert value["types"]["2in"]["calibration"]["ece"] >= 0
    assert list(tmp_path.iterdir()) == [target]


def test_a_dash_prints_json_and_nothing_else(folder: Path) -> None:
    assert json.loads(run("evaluate", "edge-type", folder, "--json", "-"))["split"] == "test"


def test_the_same_sample_gives_the_same_numbers(folder: Path) -> None:
    def types(seed: int) -> object:
        return json.loads(run("evaluate", "edge-type", folder, "--limit", 4, "--seed", seed, "--json", "-"))["types"]

    assert types(1) == types(1)
    assert types(1) != types(2)


def test_links_are_measured_alone_or_beside_the_types(folder: Path, tmp_path: Path) -> None:
    shown = run("evaluate", "edge-type", folder, "--types", "links")
    assert all(word in shown for word in ("both", "tails", "heads", "triples"))
    assert "avg_p" not in shown
    target = tmp_path / "links.json"
    run("evaluate", "edge-type", folder, "--types", "all, links", "--limit", 5, "--json", target)
    value = json.loads(target.read_text("utf-8"))
    assert set(value["types"]) == set(TYPES)
    assert (value["links"]["answers"], value["links"]["directions"]["heads"]["answers"]) == (10, 5)
    run("report", target, "-o", tmp_path / "report", "--no-figures")
    assert "| tails | 5 |" in (tmp_path / "report" / "links.md").read_text("utf-8")


def test_types_that_leave_nothing_of_what_was_asked_are_refused(folder: Path) -> None:
    for option in ("--strata", "--training-queries", "--probabilities", "--full"):
        with pytest.raises(EvaluationError, match=r"links alone have no .*all,links"):
            run("evaluate", "edge-type", folder, "--types", "links", option)
    for types in (",", " ", ""):
        result = CliRunner().invoke(app, ["evaluate", "edge-type", str(folder), "--types", types])
        assert result.exit_code == 2
        assert "names no query type" in result.output


def test_a_graph_too_large_for_the_network_is_evaluated_by_rules_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.methods.zero_shot import footprint

    monkeypatch.setattr(footprint, "bytes_free", lambda _device: 1000)
    target = tmp_path / "result.json"
    run("evaluate", "--model", "default", folder, "--types", "links", "--limit", "5", "--json", target)
    assert json.loads(target.read_text("utf-8"))["method"] == "default"


def test_report_makes_tables_of_results(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    run("evaluate", "edge-type", folder, "--json", target)
    run("report", target, "-o", tmp_path / "report", "--no-figures", "--metrics", "mrr", "--beside", PAPER)
    table = (tmp_path / "report" / "test_queries.md").read_text("utf-8")
    assert "| 175 % | Edge-type heuristic | MRR |" in table
    assert (tmp_path / "report" / "report.md").is_file()


def test_what_cannot_be_done_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownMethod, match="edge-type, exact"):
        run("evaluate", "magic", folder)
    with pytest.raises(EvaluationError, match="train, valid, test"):
        run("evaluate", "exact", folder, "--split", "dev")
    with pytest.raises(EvaluationError, match="type 9p"):
        run("evaluate", "exact", folder, "--types", "9p")
    with pytest.raises(GraphError, match="there is no folder"):
        run("evaluate", "exact", folder, "--json", tmp_path / "nowhere" / "x.json")
