"""Tables and figures from result files alone, with the paper beside."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from experiments.cell_files import MISSING, GridFolder
from experiments.comparison import GridResults
from experiments.grid import Cell
from experiments.grid_errors import ReproductionError
from experiments.grid_figures import pooled_reliability, training_rows
from experiments.grid_report import HEADINGS, write_grid_report
from experiments.large_graph.wikikg_table import large_graph_table, paper_large_graph, read_lines
from experiments.paper_tables import grid_tables
from tests.experiments.fakes import fill
from unseen.evaluation.results import EPFO

PRINTED = {"Edge-type heuristic": 3.1, "NodePiece-QE": 9.2, "NodePiece-QE w/ GNN": 10.1}
"""avg_p as the paper's table of WikiKG-QE prints it."""


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    fill(tmp_path, "gnn-qe", 175, 60)
    fill(tmp_path, "gnn-qe", 550, 40)
    fill(tmp_path, "nodepiece-qe", 175, 20, types=EPFO)
    GridFolder(tmp_path).write(Cell(550, "zero-shot", "test"), MISSING, {"reason": "no model: none is shipped"})
    return tmp_path


def test_our_rows_stand_beside_the_papers_with_the_difference(grid: Path) -> None:
    write_grid_report(grid, grid / "report", figures=False)
    rows = rows_of(grid / "report" / "test_hits_at_10.csv")
    whoses = ("unseen", "unseen, no known facts", "paper", "difference")
    assert [(row["Ratio"], row["Method"], row[""]) for row in rows] == [
        ("175 %", method, whose) for method in ("GNN-QE", "NodePiece-QE") for whose in whoses
    ] + [("550 %", "GNN-QE", whose) for whose in whoses]
    assert [row["avg_p"] for row in rows[:4]] == ["60.0", "30.0", "50.7", "-20.7"]
    assert (rows[3]["1p"], rows[4]["avg_n"], rows[7]["avg_n"], rows[7]["avg_p"]) == ("-35.4", "", "", "-1.2")


def test_test_queries_with_known_facts_alone_have_no_fair_difference(grid: Path) -> None:
    (grid / "results/550/gnn-qe/test-alone.json").unlink()
    fill(grid, "edge-type", 550, 30)
    (grid / "results/550/edge-type/test-alone.json").unlink()
    write_grid_report(grid, grid / "report", figures=False)
    rows = [row for row in rows_of(grid / "report" / "test_hits_at_10.csv") if row["Ratio"] == "550 %"]
    assert [(row["Method"], row[""]) for row in rows] == [
        *(("Edge-type heuristic", whose) for whose in ("unseen", "paper", "difference")),
        *(("GNN-QE", whose) for whose in ("unseen", "paper")),
    ]


def test_averages_are_held_against_the_paper_ratio_by_ratio_and_over_all(grid: Path) -> None:
    write_grid_report(grid, grid / "report", figures=False)
    alone = "unseen, no known facts"
    against = {(row["Method"], row[""]): row for row in rows_of(grid / "report" / "against_the_paper.csv")}
    assert [against["GNN-QE", "unseen"][ratio] for ratio in ("175 %", "106 %")] == ["+9.3 / +26.4", ""]
    assert against["GNN-QE", alone]["175 %"] == "-20.7 / -3.6"
    assert [against["NodePiece-QE", whose]["175 %"] for whose in ("unseen", alone)] == ["+8.8 / –", "-1.2 / –"]


def test_means_are_held_against_the_paper_without_known_facts_first(grid: Path) -> None:
    write_grid_report(grid, grid / "report", figures=False)
    rows = rows_of(grid / "report" / "mean_over_ratios.csv")
    assert [(row["Method"], row[""], row["Known facts"]) for row in rows] == [
        *(("GNN-QE", whose, "no") for whose in ("unseen", "paper")),
        *(("NodePiece-QE", whose, "no") for whose in ("unseen", "paper")),
        ("UltraQuery", "its paper", "no"),
        *((method, "unseen", "yes") for method in ("GNN-QE", "NodePiece-QE")),
    ]
    assert [row["avg_p"] for row in rows] == ["25.0", "41.9", "10.0", "11.2", "47.9", "50.0", "20.0"]
    assert (rows[0]["Ratios"], rows[0]["Queries a type"]) == ("2", "50")
    assert float(rows[0]["avg_p ±"]) == pytest.approx(
        100 * (0.3 * 0.7 + 0.2 * 0.8) ** 0.5 / (50 * 9) ** 0.5 / 2, abs=0.06
    )
    assert rows[4]["avg_n"] == "29.1"


def test_rows_whose_settings_were_read_off_test_queries_are_marked(grid: Path) -> None:
    folder, cell = GridFolder(grid), Cell(175, "gnn-qe", "train")
    content = folder.read(cell).content
    settings = content["settings"] | {"type_weights": ["1p=2", "2i=2"]}
    folder.write(cell, "done", {key: content[key] for key in ("training", "seed")} | {"settings": settings})
    tables = {table.name: table for table in grid_tables(GridResults.of(folder))}
    assert tables["mean_over_ratios"].rows[0][0] == "GNN-QE †"
    assert "read off test queries" in tables["mean_over_ratios"].title
    assert {row[7][-1:] for row in tables["against_the_paper"].rows if row[0] == "GNN-QE"} == {"†"}
    assert "read off test queries" in tables["test_hits_at_10"].title


def test_what_the_shipped_model_has_seen_stands_beside_its_numbers(grid: Path) -> None:
    fill(grid, "zero-shot", 175, 50)
    tables = {table.name: table for table in grid_tables(GridResults.of(GridFolder(grid)))}
    for name in ("mean_over_ratios", "test_hits_at_10", "training_queries", "easy_first", "strata", "probabilities"):
        assert "87 to 88 % of the hidden test triples" in tables[name].title
    assert "Zero-shot*" in {row[0] for row in tables["mean_over_ratios"].rows}


def test_training_queries_are_held_against_the_paper_without_known_facts(grid: Path) -> None:
    write_grid_report(grid, grid / "report", figures=False)
    rows = [row for row in rows_of(grid / "report" / "training_queries.csv") if row["Ratio"] == "550 %"]
    assert [(row["Graph"], row[""]) for row in rows] == [
        (graph, whose)
        for graph in ("train", "test")
        for whose in ("unseen", "unseen, no known facts", "paper", "difference")
    ]
    (grid / "results/550/gnn-qe/training-alone.json").unlink()
    write_grid_report(grid, grid / "report", figures=False)
    rows = [row for row in rows_of(grid / "report" / "training_queries.csv") if row["Ratio"] == "550 %"]
    assert "difference" not in {row[""] for row in rows}
    assert {row.ratio for row in training_rows(GridResults.of(GridFolder(grid)))} == {175}


def test_every_table_is_there_and_says_where_its_numbers_come_from(grid: Path) -> None:
    tables = {table.name: table for table in grid_tables(GridResults.of(GridFolder(grid)))}
    assert set(tables) == set(HEADINGS) - {"large_graph"}
    covered = {row[:2]: row[2:] for row in tables["coverage"].rows}
    left = "test-alone training training-alone strata probabilities time"
    assert covered["550 %", "Zero-shot"] == ("", left, "no model: none is shipped")
    assert covered["175 %", "GNN-QE"][1:] == ("", "")
    origin = dict(zip(tables["origins"].header, tables["origins"].rows[0], strict=True))
    assert (origin["Seed"], origin["Commit"], origin["Command"]) == ("7", "fedcba98", "python -m experiments -o grid")
    assert tables["time"].rows[0][2:8] == ("4.00", "1.000", "16", "a GPU", "1.5", "1,200")
    assert tables["strata"].rows[0][:4] == ("175 %", "GNN-QE", "60.0", "1,400")
    assert tables["easy_first"].rows[2][2:5] == ("difference", "-37.3", "-28.5")


def test_what_was_trained_but_not_timed_is_among_the_times(grid: Path) -> None:
    (grid / "results/175/gnn-qe/time.json").unlink()
    tables = {table.name: table for table in grid_tables(GridResults.of(GridFolder(grid)))}
    assert tables["time"].rows[0][:8] == ("175 %", "GNN-QE", "", "", "", "", "1.5", "1,200")


def test_times_of_random_weights_say_so(grid: Path) -> None:
    file = grid / "results/175/gnn-qe/time.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"made_by": content["made_by"] | {"run": None}}))
    tables = {table.name: table for table in grid_tables(GridResults.of(GridFolder(grid)))}
    assert tables["time"].rows[0][5] == "a GPU, random weights"


def test_a_report_is_one_page_with_tables_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.evaluation.figure_style.DPI", 30)
    for ratio in (175, 550):
        fill(tmp_path, "gnn-qe", ratio, 60, types=("1p", "2i", "2in"))
    written = write_grid_report(tmp_path, tmp_path / "report")
    names = {path.name for path in written}
    assert written[0].name == "report.md"
    assert {"test_queries_by_ratio.png", "test_queries_by_type.svg", "training_queries_by_ratio.png"} <= names
    assert "test_queries_alone_by_ratio.png" in names
    assert {"strata.png", "reliability.png", "time.tex"} <= names
    page = written[0].read_text()
    assert page.index("## Against the paper") < page.index("## Test queries, Hits@10") < page.index("## Origins")
    assert "tiny" not in page


def test_a_folder_of_results_alone_is_enough(grid: Path, tmp_path: Path) -> None:
    whole = write_grid_report(grid, tmp_path / "a", figures=False)[0].read_text()
    assert write_grid_report(grid / "results", tmp_path / "b", figures=False)[0].read_text() == whole
    assert write_grid_report(tmp_path / "nothing", tmp_path / "c") == []


def test_lines_of_the_large_graph_stand_beside_the_papers(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    line = {"benchmark": "large_graph", "stage": "heuristic", "seconds": 30.2, "peak_mb": 1200}
    lines = [line | {"stage": "split"}, line | {"hits_at_100": {"1p": 5.0, "avg_p": 1.2}}, {"benchmark": "other"}]
    file.write_text("a remark\n" + "\n".join(json.dumps(one) for one in lines))
    table = large_graph_table(read_lines(file))
    assert table.rows[0][:4] == ("Edge-type heuristic", "unseen", "1.2", "5.0")
    assert table.rows[0][-3:] == ("", "30", "1,200")
    assert [row[0] for row in table.rows[1:]] == list(PRINTED)
    noted = large_graph_table([{"stage": "evaluate", "hits_at_100": {}, "queries_per_type": 1000, "note": "Of old."}])
    assert (noted.rows[0][-3:], noted.title.endswith("better. Of old.")) == (("1,000", "", ""), True)
    file.write_text("{}\n")
    with pytest.raises(ReproductionError, match=r"has no line of .python -m experiments"):
        read_lines(file)


def test_the_papers_large_graph_has_the_averages_it_prints() -> None:
    for row in paper_large_graph():
        assert sum(float(row[kind]) for kind in EPFO) / 9 == pytest.approx(PRINTED[row["method"]], abs=0.06)


def test_types_are_pooled_by_their_counts(grid: Path) -> None:
    result = GridResults.of(GridFolder(grid)).results("probabilities")[0]
    probability, frequency, error = pooled_reliability(list(result.types.values()))
    assert probability == pytest.approx(frequency)
    assert error == pytest.approx(0)
    assert len(probability) == 10
