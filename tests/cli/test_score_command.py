"""`unseen score`: statements, and files of triples."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import unseen
from tests.cli.command import Command
from unseen.bulk import scoring_files
from unseen.bulk.score_output import score_writer
from unseen.bulk.scoring_files import GraphScorer
from unseen.errors import UnseenError
from unseen.methods.edge_type import EdgeType

ROWS = ["France\tborders\tSpain", "France\tborders\tAustria", "Frnace\tborders\tSpain", "Spain\tspeaks\tFrench"]


def test_a_statement_has_a_line(command: Command) -> None:
    known = command("score", "countries", "borders(France, Spain)", "--method", "edge-type")
    assert (known.code, known.output.split()) == (0, ["1.000", "known"])
    found = command(
        "score", "countries", "!borders(France, Chile) & borders(France, Spain)", "--method", "rules", "--explain"
    )
    assert found.output.split()[1] == "known"
    assert "the graph does not say borders(France, Chile)" in found.output
    plain = json.loads(
        command("score", "countries", "borders(France, Chile)", "--method", "edge-type", "--json").output
    )
    assert (plain["statement"], plain["known"]) == ("borders(France, Chile)", False)
    assert 0 < plain["probability"] < 0.1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["countries"], "give a graph, then the statement"),
        (["countries", "borders(France, Spain)", "-o", "x.tsv"], "only with --file"),
        (["countries", "?x : borders(France, x)"], "has no answer variable"),
        (["countries", "borders(Frnace, Spain)"], "closest: France"),
        (["countries", "--file", "missing.tsv"], "there is no such file"),
    ],
)
def test_what_cannot_be_scored_is_said(command: Command, folder: Path, words: list[str], says: str) -> None:
    result = command("score", *words)
    assert result.code == 2
    assert says in result.errors


@pytest.mark.parametrize("name", ["s.parquet", "s.tsv", "s.tsv.gz", "s.jsonl"])
def test_a_file_is_scored_row_by_row(command: Command, folder: Path, name: str) -> None:
    with gzip.open("t.tsv.gz", "wt") as stream:
        stream.write("\n".join(ROWS) + "\n")
    result = command("score", "countries", "--file", "t.tsv.gz", "-o", name, "--method", "edge-type")
    assert (result.code, result.output) == (0, "")
    assert "4 triples scored: 1 known" in result.errors
    assert "1 have an unknown name" in result.errors
    assert not Path(f"{name}.parts").exists()
    expected = [
        1.0,
        *(
            unseen.score(unseen.load("countries"), tuple(ROWS[i].split("\t")), method="edge-type").probability
            for i in (1, 3)
        ),
    ]
    assert [value for value in probabilities(Path(name)) if value is not None] == pytest.approx(expected, rel=1e-5)


def probabilities(path: Path) -> list[float | None]:
    if path.suffix == ".parquet":
        found: list[float | None] = parquet.read_table(path)["probability"].to_pylist()
        return found
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()
    if path.suffix == ".jsonl":
        return [json.loads(line)["probability"] for line in lines]
    assert lines[0] == "head\trelation\ttail\tprobability\tknown\terror"
    return [float(line.split("\t")[3]) if line.split("\t")[3] else None for line in lines[1:]]


def test_without_an_output_lines_go_to_standard_output(command: Command, folder: Path) -> None:
    Path("t.csv").write_text("head,relation,tail\nFrance,borders,Spain\n")
    assert command("score", "countries", "--file", "t.csv", "--method", "exact").output.endswith("Spain\t1\ttrue\n")


def test_an_interrupted_file_goes_on_where_it_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_files, "CALLS_OF_A_PART", 1)
    monkeypatch.setattr(scoring_files, "together", lambda _: 1)
    Path("t.tsv").write_text("\n".join([*ROWS, "Chile\tborders\tPeru"]) + "\n")
    graph, calls = unseen.load("countries"), 0

    class Interrupted(EdgeType):
        def estimate(self, *given):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls == 3:
                raise KeyboardInterrupt
            return super().estimate(*given)

    scorer = GraphScorer(graph, Interrupted(), "edge-type")
    target = Path("out.tsv")
    with pytest.raises(KeyboardInterrupt), score_writer(target) as write:
        scorer.score(Path("t.tsv"), write, target, lambda _done, _total: None)
    assert not target.exists()
    with score_writer(target) as write:
        found = scorer.score(Path("t.tsv"), write, target, lambda _done, _total: None)
    scorer.finish()
    assert (found.kept, found.triples, calls) == (3, 5, 4)
    alone = unseen.score(graph, [tuple(row.split("\t")) for row in ROWS], method="edge-type")
    mine = [value for value in probabilities(target)[:4] if value is not None]
    assert mine == pytest.approx([one.probability for one in alone if one.probability is not None], rel=1e-5)
    assert not Path("out.tsv.parts").exists()


def test_scores_of_another_graph_are_not_mixed_with_these(folder: Path) -> None:
    Path("t.tsv").write_text(ROWS[0] + "\n")
    graph = unseen.load("countries")
    smaller = graph.restricted_to(np.arange(graph.num_triples) > 5)
    target = Path("out.tsv")
    for given in (graph, smaller):
        scorer = GraphScorer(given, EdgeType(), "edge-type")
        with score_writer(target) as write:
            if given is smaller:
                with pytest.raises(UnseenError, match="--restart"):
                    scorer.score(Path("t.tsv"), write, target, lambda _done, _total: None)
                scorer.score(Path("t.tsv"), write, target, lambda _done, _total: None, restart=True)
            else:
                scorer.score(Path("t.tsv"), write, target, lambda _done, _total: None)


def test_a_row_that_is_no_triple_is_an_error_with_the_file(command: Command, folder: Path) -> None:
    Path("t.tsv").write_text("France\tborders\n")
    result = command("score", "countries", "--file", "t.tsv", "--method", "exact")
    assert result.code == 2
    assert "t.tsv: cannot be read as triples" in result.errors
