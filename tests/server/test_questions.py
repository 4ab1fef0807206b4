"""Questions and facts as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from tests.conftest import FAMILY
from tests.reasons.tree import TREE
from tests.server.running import JSON, Running, running
from unseen.server.server_settings import Limits, ServerSettings

GRANDCHILDREN = "?u : exists child . parent(Ada, child) & parent(child, u)"


def test_the_server_answers_as_the_library_does(reading: Running, family: unseen.KnowledgeGraph) -> None:
    for options in ({}, {"top": 3}, {"explain": True}, {"predicted_only": True}):
        mine = unseen.ask(family, GRANDCHILDREN, method="edge-type", **options).as_json()  # type: ignore[arg-type]
        theirs = reading.ask(GRANDCHILDREN, **options).json
        assert {(a["entity"], a["known"], a["probability"]) for a in theirs["answers"]} == {
            (a["entity"], a["known"], a["probability"]) for a in mine["answers"]
        }
        assert theirs["known"] == mine["known"]
        assert theirs["graph"] == mine["graph"]


def test_reasons_come_with_an_explained_question_and_only_then(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, model="edge-type")
    with running(tmp_path / "tree.db", TREE, settings) as server, unseen.connect(server.url) as graph:
        question = "?x : grandparent_of(Ann0, x) & !lives_in(x, Graz)"
        plain = server.ask(question, explain=True).json["answers"][0]
        rule, absent = plain["reasons"]
        assert (plain["entity"], plain["known"], rule["kind"], absent["kind"]) == ("Eve0", False, "rule", "absent")
        assert rule["body"] == [["Ann0", "parent_of", "Bob0"], ["Bob0", "parent_of", "Eve0"]]
        assert (rule["support"], rule["pairs"]) == (8, 9)
        assert rule["text"].endswith("; holds for 8 of 9 such pairs")
        assert rule["confidence"] != plain["probability"]
        reasons = graph.ask(question, explain=True)[0].reasons
        assert [reason.as_json() for reason in reasons] == plain["reasons"]
        assert "reasons" not in server.ask(question).json["answers"][0]
        name = "<img src=x onerror=alert(1)>"
        graph.add([("Ann0", "parent_of", name), (name, "parent_of", "Eve0")])
        graph.remove([("Ann0", "parent_of", "Bob0")])
        reply = server.ask(question, explain=True)
        assert f"because parent_of(Ann0, {name})" in reply.json["answers"][0]["reasons"][0]["text"]
        assert reply.headers["content-type"] == "application/json"


def test_the_shipped_model_answers_and_knows_a_new_fact_at_once(tmp_path: Path) -> None:
    patient = ServerSettings(port=0, limits=Limits(seconds=300.0))  # the first question may have to compile
    with running(tmp_path / "family.db", FAMILY, patient) as server:
        before = server.ask(GRANDCHILDREN).json
        assert before["method"] == "default"
        assert [answer["entity"] for answer in before["answers"] if answer["known"]] == ["Dora", "Emil"]
        assert server.post("/triples", {"triples": [["Cleo", "parent", "Gus"]]}).json == {"added": 1, "unchanged": 0}
        after = server.ask(GRANDCHILDREN).json
        assert {answer["entity"] for answer in after["answers"] if answer["known"]} == {"Dora", "Emil", "Gus"}
        assert all(0 <= answer["probability"] <= 1 for answer in after["answers"]), "six digits: one in a million is 0"


def test_exact_answers_have_no_predictions(reading: Running) -> None:
    answers = reading.ask("SELECT ?x { :Ada :likes ?x }", exact=True).json
    assert [answer["entity"] for answer in answers["answers"]] == ["Go"]
    assert answers["method"] == "exact"


def test_facts_come_and_go(server: Running) -> None:
    new = {"triples": [["Gus", "admires", "Ada"], ["Gus", "likes", "Go"], FAMILY[0]]}
    assert server.post("/triples", new).json == {"added": 2, "unchanged": 1}
    assert server.ask("?x : admires(x, Ada)").json["known"] == 1
    removed = server.send("DELETE", "/triples", '{"triples": [["Gus", "admires", "Ada"], ["x", "y", "z"]]}', JSON)
    assert removed.json == {"removed": 1, "unchanged": 1}
    assert server.ask("?x : admires(x, Ada)").json["known"] == 0


def test_names_are_found(server: Running) -> None:
    assert [found["name"] for found in server.send("GET", "/entities?search=e&limit=2").json["entities"]] == [
        "Emil",
        "Ben",
    ]
    assert server.send("GET", "/relations").json["relations"][0] == {
        "name": "parent",
        "iri": "urn:unseen:parent",
        "triples": 4,
    }
    server.post("/triples", {"triples": [["Ärger", "mag", "Go"]]})
    assert server.send("GET", "/entities?search=%C3%A4rg").json["entities"][0]["name"] == "Ärger"
    assert server.send("GET", "/relations?search=mag").json["relations"] == [
        {"name": "mag", "iri": "urn:unseen:mag", "triples": 1}
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"question": "?x : likes(Adda, x)"}, "unknown_entity"),
        ({"question": "?x : lkes(Ada, x)"}, "unknown_relation"),
        ({"question": "?x : likes(Ada x)"}, "syntax_error"),
        ({"question": "?x : !likes(Ada, x)"}, "refused"),
        ({"question": ""}, "bad_json"),
        ({"question": 7}, "bad_json"),
        ({"question": "?x : likes(Ada, x)", "top": 0}, "bad_json"),
        ({"question": "?x : likes(Ada, x)", "topp": 1}, "bad_json"),
        ({}, "bad_json"),
        ([], "bad_json"),
    ],
)
def test_bad_questions_say_what_is_wrong(reading: Running, body: Any, code: str) -> None:
    reply = reading.post("/ask", body)
    assert (reply.status, reply.error["code"]) == (400, code)
    if code == "unknown_entity":
        assert "Ada" in reply.error["closest"]
        assert "Ada" in reply.error["suggestion"]
        assert "did you mean: " in reply.error["message"]
    if code == "syntax_error":
        assert reply.error["position"] == 15


@pytest.mark.parametrize(
    "body", [{}, {"triples": []}, {"triples": [["a", "b"]]}, {"triples": [["a", "b", ""]]}, {"triples": "abc"}, []]
)
def test_bad_facts_are_refused(reading: Running, body: Any) -> None:
    assert reading.post("/triples", body).status == 400


def test_health_and_metrics(reading: Running) -> None:
    reading.ask(GRANDCHILDREN)
    assert reading.send("GET", "/healthz").json["status"] == "ok"
    metrics = reading.send("GET", "/metrics").text
    assert 'unseen_requests_total{route="/ask",method="POST",status="200"}' in metrics
    assert "unseen_triples 8\n" in metrics
    assert 'unseen_batch_size_bucket{le="+Inf"}' in metrics


def test_the_description_lists_every_route_with_examples(reading: Running) -> None:
    described = reading.send("GET", "/openapi.json").json
    assert {
        "/query",
        "/update",
        "/store",
        "/ask",
        "/score",
        "/triples",
        "/entities",
        "/relations",
        "/healthz",
        "/metrics",
        "/.json",
        "/ask.json",
        "/ask.csv",
        "/ask.parquet",
        "/why.json",
        "/entity.json",
        "/change.json",
        "/quality.json",
        "/mcp",
    } == set(described["paths"])
    assert "example" in str(described["paths"]["/ask"])
    given = {path for path, routes in described["paths"].items() if "422" in str(routes)}
    page = {"/ask.json", "/ask.csv", "/ask.parquet", "/why.json", "/change.json"}
    assert given == {"/ask", "/score", "/query", *page}  # the framework's own would be everywhere


def test_relations_that_cannot_be_predicted_are_named_and_silent(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    facts = [(f"e{i}", "likes", f"e{random.integers(600)}") for i in range(600) for _ in range(2)]
    with running(tmp_path / "likes.db", facts, ServerSettings(port=0, model="rules")) as server:
        question = "?x : likes(e0, x)"
        answers = server.ask(question).json
        assert all(answer["known"] for answer in answers["answers"])
        assert "cannot predict likes(…, ?)" in answers["warnings"][0]
        everything = server.ask(question, all_predictions=True).json
        assert not all(answer["known"] for answer in everything["answers"])
        assert "warnings" not in everything
        with unseen.connect(server.url) as client:
            assert client.ask(question).warnings == tuple(answers["warnings"])
            assert len(client.ask(question, all_predictions=True)) == len(everything["answers"])
