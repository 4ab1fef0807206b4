"""`unseen rules`: a table, JSON, a file, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.rules.test_large_graphs import hubs
from tests.rules.worlds import family
from unseen.rules import mining


@pytest.fixture
def tree(tmp_path: Path) -> str:
    path = tmp_path / "tree.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in family().graph.triples()), encoding="utf-8")
    return str(path)


def test_rules_of_a_relation_are_listed_with_support_confidence_and_an_example(command: Command, tree: str) -> None:
    result = command("rules", tree, "--relation", "grandparent_of", "--samples", "20", "--json")
    assert result.code == 0
    found = json.loads(result.output)
    wanted = "grandparent_of(x, z) <- parent_of(x, y), parent_of(y, z)"
    rule = next(rule for rule in found["rules"] if rule["rule"] == wanted)
    assert 0.8 < rule["confidence"] < 1
    assert rule["pairs"] >= rule["support"] > 100
    assert [edge[1] for edge in rule["example"]] == ["parent_of", "parent_of"]
    assert {rule["head"][1] for rule in found["rules"]} == {"grandparent_of"}


def test_a_table_shows_as_many_as_asked_for(command: Command, tree: str) -> None:
    result = command("rules", tree, "--samples", "20", "--top", "3")
    assert result.code == 0
    assert "3 rules shown" in result.output


def test_a_file_holds_all_rules(command: Command, tree: str, tmp_path: Path) -> None:
    result = command("rules", tree, "--samples", "20", "-o", str(tmp_path / "rules.tsv"))
    assert result.code == 0
    lines = (tmp_path / "rules.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == ["confidence", "support", "pairs", "rule", "example"]
    assert len(lines) > 20
    assert f"wrote {len(lines) - 1:,} rules" in result.errors


def test_an_unknown_relation_and_two_efforts_are_refused(command: Command, tree: str, tmp_path: Path) -> None:
    result = command("rules", tree, "--relation", "grandparent")
    assert result.code == 2
    assert "grandparent_of" in result.errors
    assert command("rules", tree, "--samples", "5", "--seconds", "1").code == 2
    assert command("rules", tree, "-o", str(tmp_path / "no" / "rules.tsv")).code == 2


def test_questions_are_answered_by_rules(command: Command, tree: str) -> None:
    result = command("ask", tree, "?x : grandparent_of(x, p2/0/0)", "--method", "rules", "--json")
    assert result.code == 0
    assert json.loads(result.output)["method"] == "rules"


def test_a_large_graph_is_announced_before_it_is_mined(
    command: Command, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mining, "LARGE", 10)
    assert "5 samples take roughly" in command("rules", tree, "--samples", "5").errors
    assert "for about 10 seconds" in command("ask", tree, "?x : parent_of(x, p2/0/0)", "--method", "rules").errors
    assert "take roughly" not in command("rules", tree, "--seconds", "1").errors


def test_too_few_seconds_are_a_remark(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "FIRST_SAMPLES", 1000)
    path = tmp_path / "hubs.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in hubs(20_000).triples()), encoding="utf-8")
    result = command("rules", str(path), "--seconds", "0.1")
    assert result.code == 0
    assert "0.1 seconds are too few for this graph" in result.errors
