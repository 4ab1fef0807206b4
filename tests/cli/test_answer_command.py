"""`unseen answer` and keys beside names: answers that can be joined back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import unseen
from tests.cli.command import Command
from unseen.bulk.answering_files import GraphAsker, answer_file
from unseen.bulk.question_files import AskedQuestion, read_questions
from unseen.errors import UnseenError

QUESTIONS = ["?x : borders(France, x)", "?x : borders(Farnce, x)", "?x : speaks(x, French", "?x : borders(Cuba, x)"]


def rows(path: Path) -> list[dict[str, Any]]:
    return parquet.read_table(path).to_pylist()


def test_a_bad_question_is_one_row_with_its_error_and_the_others_are_answered(command: Command, folder: Path) -> None:
    Path("q.txt").write_text("\n".join(["# neighbours", *QUESTIONS, ""]), encoding="utf-8")
    result = command("answer", "q.txt", "-g", "countries", "-o", "a.parquet", "--method", "exact", "--top", "3")
    assert (result.code, result.output) == (0, "")
    assert "4 questions answered (2 could not be: see the column `error`): a.parquet" in result.errors
    found = rows(Path("a.parquet"))
    assert [row["number"] for row in found] == [1, 1, 1, 2, 3, 4]
    assert [row["rank"] for row in found] == [1, 2, 3, None, None, None]
    assert "closest: France" in found[3]["error"]
    assert "syntax error" in found[4]["error"]
    assert found[5]["error"] is None
    assert not Path("a.parquet.parts").exists()


def test_questions_come_as_json_lines_and_as_parquet_too(command: Command, folder: Path) -> None:
    lines = [
        '{"question": "?x : borders(France, x)", "id": "fr", "top": 2}',
        '"?x : borders(Spain, x)"',
        "{",
        '{"id": 7}',
    ]
    Path("q.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert command("answer", "q.jsonl", "-g", "countries", "-o", "a.parquet", "--method", "exact").code == 0
    found = rows(Path("a.parquet"))
    assert [row["id"] for row in found if row["error"] is None][:3] == ["fr", "fr", "2"]
    assert [row["id"] for row in found if row["error"]] == ["3", "7"]
    parquet.write_table(pa.table({"question": [QUESTIONS[0]], "id": [5]}), "q.parquet")
    assert read_questions(Path("q.parquet")) == [AskedQuestion(1, QUESTIONS[0], "5")]


def test_tuples_and_tables_have_values_and_keys_by_variable(command: Command, folder: Path) -> None:
    table = "SELECT ?x (COUNT(?y) AS ?n) { ?x :borders ?y . ?x :speaks :Dutch } GROUP BY ?x"
    Path("q.txt").write_text(f"?x, y : borders(x, y) & speaks(x, Dutch)\n{table}\n?x : borders(France, x)\n")
    assert command("answer", "q.txt", "-g", "countries", "-o", "a.parquet", "--method", "exact", "--top", "1").code == 0
    pair, group, single = rows(Path("a.parquet"))
    assert set(json.loads(pair["keys"])) == {"x", "y"}
    assert json.loads(group["values"])["n"].isdecimal()
    assert (single["values"], single["keys"]) == (None, None)
    assert single["key"] == single["entity"]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    graph = unseen.load("countries")
    questions = [AskedQuestion(number, "?x : borders(France, x)", str(number)) for number in range(1, 11)]

    class Interrupted(GraphAsker):
        batch = 3
        asked = 0

        def ask(self, questions: Any) -> Any:
            if self.asked == 2:
                raise KeyboardInterrupt
            self.asked += 1
            return super().ask(questions)

    output = tmp_path / "a.parquet"
    first = Interrupted(graph, "exact", top=1)
    with pytest.raises(KeyboardInterrupt):
        answer_file(questions, first, output)
    assert not output.exists()
    with pytest.raises(UnseenError, match="--restart starts over"):
        answer_file(questions, Interrupted(graph, "exact", top=2), output)
    second = Interrupted(graph, "exact", top=1)
    assert answer_file(questions, second, output) == 6
    assert [row["number"] for row in rows(output)] == list(range(1, 11))
    assert answer_file(questions[:6], Interrupted(graph, "exact", top=2), output, restart=True) == 0


def test_keys_stand_beside_names_and_names_with_colons_come_out_as_they_went_in(command: Command, folder: Path) -> None:
    Path("t.tsv").write_text("urn:isbn:12\tcites\ttag:me,2020:b\nurn:isbn:12\tcites\tmailto:x\n", encoding="utf-8")
    result = command("ask", "t.tsv", "?x : cites(<urn:isbn:12>, x)", "--json", "--method", "exact")
    answers = json.loads(result.output)["answers"]
    assert [(one["entity"], one["key"]) for one in answers] == [
        ("tag:me,2020:b", "tag:me,2020:b"),
        ("mailto:x", "mailto:x"),
    ]
    Path("t.nt").write_text("<http://a.org/x> <http://a.org/r> <http://a.org/y> .\n", encoding="utf-8")
    result = command("ask", "t.nt", "?x : r(x, y)", "--json", "--method", "exact")
    assert json.loads(result.output)["answers"][0] | {"probability": 0} == {
        "rank": 1, "entity": "a:x", "key": "http://a.org/x", "known": True, "probability": 0, "bindings": {}
    }  # fmt: skip


def test_a_server_beside_another_graph_or_with_a_model_is_refused(command: Command) -> None:
    result = command("ask", "http://127.0.0.1:9", "countries", QUESTIONS[0])
    assert (result.code, "a graph of its own" in result.errors) == (2, True)
    result = command("ask", "http://127.0.0.1:9", QUESTIONS[0], "--method", "rules")
    assert (result.code, "its own model" in result.errors) == (2, True)
    result = command("ask", "http://127.0.0.1:9", QUESTIONS[0])
    assert (result.code, "does not answer" in result.errors) == (2, True)
