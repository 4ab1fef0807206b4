"""`unseen check`: a table, JSON, a picture, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import Command, assert_golden
from tests.rules.worlds import family as family_tree
from unseen.cli.check_table import check_table, remarks
from unseen.cli.console import output_console
from unseen.evaluation.check_result import CheckResult, CheckScore, End, RelationCheck
from unseen.evaluation.graph_check import GraphCheck
from unseen.evaluation.results import ReliabilityCurve

HEURISTIC = ("--method", "edge-type")
"""What gives the same digits on every machine."""


@pytest.fixture
def tree(folder: Path) -> str:
    lines = ("\t".join(triple) + "\n" for triple in family_tree().graph.triples())
    (folder / "tree.tsv").write_text("".join(lines), encoding="utf-8")
    return "tree.tsv"


def test_the_table_of_a_small_graph(command: Command, tree: str) -> None:
    result = command("check", tree, *HEURISTIC)
    assert (result.code, result.errors) == (0, "")
    assert_golden("check.txt", re.sub(r"in \d+ s\.", "in N s.", result.output))


def test_the_same_as_json(command: Command, tree: str) -> None:
    result = command("check", tree, *HEURISTIC, "--facts", "3", "--json")
    assert (result.code, result.errors) == (0, "")
    found = json.loads(result.output)
    assert found.pop("seconds") >= 0
    assert_golden("check.json", json.dumps(found, indent=2) + "\n")


@pytest.mark.parametrize("name", ["check.png", "check.SVG"])
def test_a_picture_is_drawn(command: Command, tree: str, folder: Path, name: str) -> None:
    result = command("check", tree, *HEURISTIC, "--figure", name)
    assert result.code == 0
    assert f"wrote {name}" in result.errors
    assert (folder / name).stat().st_size > 5000
    assert {path.name for path in folder.iterdir()} == {name, "tree.tsv"}


def test_ctrl_c_shows_what_was_found(command: Command, tree: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = GraphCheck._answer
    answered = []

    def interrupted(self: GraphCheck, part: object, methods: object) -> None:
        if answered:
            raise KeyboardInterrupt
        answered.append(1)
        answer(self, part, methods)  # type: ignore[arg-type]

    monkeypatch.setattr(GraphCheck, "_answer", interrupted)
    result = command("check", tree, *HEURISTIC)
    assert result.code == 0
    assert "Interrupted: " in result.output
    result = command("check", tree, *HEURISTIC)
    assert (result.code, result.output) == (130, "")


def test_wrong_input_is_one_message(command: Command, folder: Path, tree: str) -> None:
    (folder / "tiny.tsv").write_text("a\tr\tb\nb\tr\tc\nc\tr\ta\n", encoding="utf-8")
    (folder / "empty.tsv").write_text("", encoding="utf-8")
    for words, told in [
        (["no-such-file.tsv"], "no such file"),
        (["tiny.tsv"], "nothing can be hidden in a graph of 3 facts"),
        (["empty.tsv"], "the file is empty"),
        ([tree, "--method", "no-such-method"], "there is no method 'no-such-method'"),
        ([tree, "--figure", "check.pdf"], ".png or .svg"),
        ([tree, "--figure", "no/check.png"], "no folder"),
        ([tree, "--facts", "0"], "--facts"),
    ]:
        result = command("check", *words)
        assert result.code == 2, words
        assert told in result.errors.replace("\n", " "), result.errors


def made_up(names: list[str], methods: list[str]) -> CheckResult:
    scores = {name: CheckScore(0.5, 1.0, 1.0, 0.5, 1.0, 0.5) for name in methods}
    ends = {name: {"tail": End(20, 1.0, 0.1)} for name in methods}
    rows = tuple(RelationCheck(name, 100, 20, 0.1, scores, ends) for name in names)
    reliability = {name: ReliabilityCurve(0.5, (1,), (0.5,), (1.0,)) for name in methods}
    return CheckResult(9, 99, tuple(methods), rows, scores, reliability, 20, ("x",) * 9, 0, 1.0)


def test_long_names_fit_into_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    found = made_up(
        ["http://example.org/" + "relation" * 20, "r"], ["default", "rules", "edge-type", "runs/" + "x" * 90]
    )
    output_console().print(check_table(found, 40))
    shown = capsys.readouterr().out.splitlines()
    assert all(len(line.rstrip()) <= 80 for line in [*shown, *remarks(found, 1)])
    assert "1 more relations: --top 2" in " ".join(remarks(found, 1))
