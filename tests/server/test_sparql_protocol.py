"""SPARQL over HTTP: any standard client, exact answers, predictions only on demand."""

from __future__ import annotations

import csv
import json
from io import StringIO
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

import pytest

from tests.server.running import FORM, Running

CHILDREN = "SELECT ?x WHERE { :Ada :parent ?x }"
PREDICTED = "SELECT ?x ?score ?known WHERE { :Ada :likes ?x }"


def values(text: str) -> set[str]:
    return {row["x"]["value"].removeprefix("urn:unseen:") for row in json.loads(text)["results"]["bindings"]}


@pytest.mark.parametrize(
    ("method", "address", "body", "headers"),
    [
        ("GET", f"/query?query={quote(CHILDREN)}", None, {}),
        ("POST", "/query", urlencode({"query": CHILDREN}), FORM),
        ("POST", "/query", CHILDREN, {"Content-Type": "application/sparql-query; charset=utf-8"}),
    ],
)
def test_the_three_ways_to_query(reading: Running, method: str, address: str, body: str, headers: dict) -> None:
    reply = reading.send(method, address, body, headers)
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/sparql-results+json"
    assert values(reply.text) == {"Ben", "Cleo"}


@pytest.mark.parametrize(
    ("accept", "found"),
    [
        ("", "application/sparql-results+json"),
        ("*/*", "application/sparql-results+json"),
        ("text/csv", "text/csv; charset=utf-8"),
        ("text/tab-separated-values, */*;q=0.1", "text/tab-separated-values; charset=utf-8"),
        ("application/sparql-results+xml;q=0.9, text/csv;q=0.5", "application/sparql-results+xml"),
        ("application/json", "application/json"),
        ("text/html,application/xml;q=0.9", "application/xml"),
    ],
)
@pytest.mark.parametrize("infer", ["false", "true"])
def test_results_come_in_the_media_type_that_is_liked_best(
    reading: Running, accept: str, found: str, infer: str
) -> None:
    reply = reading.query(PREDICTED.replace("?score ?known", ""), {"Accept": accept}, infer=infer)
    assert (reply.status, reply.headers["content-type"]) == (200, found)
    assert "urn:unseen:Go" in reply.text


def test_what_cannot_be_accepted_is_said(reading: Running) -> None:
    assert reading.query(CHILDREN, {"Accept": "image/png"}).error["code"] == "not_acceptable"
    assert reading.query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", {"Accept": "text/csv"}).status == 406


def test_all_of_sparql_is_answered_exactly(reading: Running) -> None:
    ask = reading.query("ASK { :Ada :parent :Ben }")
    assert ask.json["boolean"] is True
    counted = reading.query("SELECT (COUNT(*) AS ?x) WHERE { ?s :parent+ ?o OPTIONAL { ?o :likes ?l } }")
    assert counted.json["results"]["bindings"][0]["x"]["value"] == "6"
    triples = reading.query("CONSTRUCT { ?o :child ?s } WHERE { ?s :parent ?o }", {"Accept": "application/n-triples"})
    assert len(triples.text.splitlines()) == 4
    assert reading.query("DESCRIBE :Ada").headers["content-type"].startswith("text/turtle")


def test_predictions_have_a_score_and_say_what_is_known(reading: Running) -> None:
    reply = reading.query(PREDICTED, {"Accept": "text/csv"}, infer="true", k="5")
    rows = list(csv.DictReader(StringIO(reply.text)))
    assert rows[0] == {"x": "urn:unseen:Go", "score": "1", "known": "true"}
    assert rows[1]["x"] == "urn:unseen:Chess"
    assert rows[1]["known"] == "false"
    assert 0 < float(rows[1]["score"]) < 1
    assert values(reading.query("SELECT ?x { :Ada :likes ?x }").text) == {"Go"}


def test_the_number_of_predictions_is_k_or_the_limit(reading: Running) -> None:
    assert len(reading.query("SELECT ?x { :Ada :likes ?x } LIMIT 1", infer="true").json["results"]["bindings"]) == 1
    assert len(reading.query("SELECT ?x { :Ada :likes ?x }", infer="true", k="2").json["results"]["bindings"]) == 2


def test_predictions_as_xml_are_well_formed(reading: Running) -> None:
    reply = reading.query(PREDICTED, {"Accept": "application/sparql-results+xml"}, infer="true")
    root = ET.fromstring(reply.text)
    assert [variable.get("name") for variable in root[0]] == ["x", "score", "known"]


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("SELECT ?x { :Ada :likes ?x OPTIONAL { ?x :likes ?y } }", "OPTIONAL"),
        ("SELECT ?x ?y { :Ada :likes ?x . :Ben :likes ?y }", "has no connection with"),
        ("SELECT ?x { :Ada :likes+ ?x }", "`+`"),
        ("SELECT ?x { :Ada :parent ?x . ?v :likes ?w }", "no connection"),
        ("SELECT ?x { SERVICE <http://127.0.0.1/> { :Ada :likes ?x } }", "SERVICE"),
    ],
)
def test_what_cannot_be_predicted_is_refused_by_name(reading: Running, text: str, construct: str) -> None:
    reply = reading.query(text, infer="true")
    assert reply.status == 400
    assert reply.error["code"] == "refused"
    assert construct in reply.error["message"]


def test_a_service_clause_brings_predictions_into_any_exact_query(reading: Running) -> None:
    text = """PREFIX f: <urn:unseen:>
        SELECT ?x ?score ?known ?fan WHERE {
          SERVICE <urn:unseen:predict> { SELECT ?x ?score { f:Ada f:likes ?x } LIMIT 5 }
          ?fan f:likes ?x . FILTER(?score < 1)
        } ORDER BY ?fan"""
    rows = reading.query(text).json["results"]["bindings"]
    assert [(row["x"]["value"], row["known"]["value"]) for row in rows] == [("urn:unseen:Chess", "false")] * 2
    assert [row["fan"]["value"] for row in rows] == ["urn:unseen:Ben", "urn:unseen:Dora"]


def test_a_service_clause_without_select_takes_its_only_variable(reading: Running) -> None:
    reply = reading.query("SELECT * { SERVICE <urn:unseen:predict> { :Ada :likes ?x } }", k="1")
    assert values(reply.text) == {"Go"}
    refused = reading.query("SELECT * { SERVICE <urn:unseen:predict> { :Ada ?p ?x } }")
    assert refused.status == 400


@pytest.mark.parametrize("word", ["SERVICE", "SERVICE SILENT", "service"])
def test_other_servers_are_never_asked(reading: Running, word: str) -> None:
    reply = reading.query(f"SELECT * {{ {word} <http://127.0.0.1:{reading.port}/query> {{ ?s ?p ?o }} }}")
    assert reply.status == 400
    assert "SERVICE" in reply.error["reason"]


def test_graphs_of_the_protocol_are_used(server: Running) -> None:
    assert server.update("INSERT DATA { GRAPH <urn:g> { :a :b :c } GRAPH <urn:h> { :d :b :e } }").status == 204
    text = "SELECT ?x { ?x :b ?y }"
    assert values(server.query(text).text) == set()
    assert values(server.query(text, **{"default-graph-uri": "urn:g"}).text) == {"a"}
    named = "SELECT ?x { GRAPH ?g { ?x :b ?y } }"
    assert values(server.query(named).text) == {"a", "d"}
    assert values(server.query(named, **{"named-graph-uri": "urn:h"}).text) == {"d"}
    update = {"update": "INSERT { ?x :seen :yes } WHERE { ?x :b ?y }", "using-graph-uri": "urn:h"}
    assert server.send("POST", "/update", urlencode(update), FORM).status == 204
    assert values(server.query("SELECT ?x { ?x :seen :yes }").text) == {"d"}


def test_an_update_counts_in_exact_and_predicted_answers_at_once(server: Running) -> None:
    reply = server.send(
        "POST",
        "/update",
        "INSERT DATA { :Gus :admires :Ada ; :likes :Go }",
        {"Content-Type": "application/sparql-update"},
    )
    assert (reply.status, reply.body) == (204, b"")
    assert values(server.query("SELECT ?x { ?x :admires :Ada }").text) == {"Gus"}
    assert values(server.query("SELECT ?x { ?x :admires :Ada }", infer="true").text) == {"Gus"}
    assert server.ask("?x : admires(x, Ada) & likes(x, Go)").json["answers"][0]["entity"] == "Gus"
    assert server.update("DELETE WHERE { :Gus ?p ?o }").status == 204
    assert values(server.query("SELECT ?x { ?x :admires :Ada }", infer="true").text) == set()


def test_a_result_that_is_too_large_leaves_no_file_behind(tmp_path) -> None:
    from tests.server.running import running
    from unseen.server.server_settings import Limits, ServerSettings

    triples = [(f"a{i}", "r", f"b{i}") for i in range(2000)]
    limits = Limits(result_bytes=100_000)  # more than is held in memory
    with running(tmp_path / "x.db", triples, ServerSettings(port=0, model="edge-type", limits=limits)) as server:
        assert server.query("SELECT * { ?s ?p ?o }").error["code"] == "result_too_large"
        assert not list((tmp_path / "x.db" / "serving").glob("result-*"))


def test_results_that_are_too_large_or_slow_are_stopped(tmp_path) -> None:
    from tests.server.running import running, wait_until
    from unseen.server.server_settings import Limits, ServerSettings

    limits = Limits(result_bytes=2000, seconds=0.5)
    triples = [(f"a{i}", "r", f"b{i}") for i in range(300)]
    with running(tmp_path / "x.db", triples, ServerSettings(port=0, model="edge-type", limits=limits)) as server:
        wait_until(lambda: server.query("ASK {}").status == 200)  # the first query also waits for the engine to start
        assert server.query("SELECT * { ?s ?p ?o }").error["code"] == "result_too_large"
        slow = server.query("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?a != ?d && ?d != ?g) }")
        assert (slow.status, slow.error["code"]) == (504, "time_limit")
        assert server.query("ASK { :a1 :r :b1 }").json["boolean"] is True


def test_several_answer_variables_are_predicted_too(reading: Running) -> None:
    found = reading.query("SELECT ?x ?y ?score ?known { ?x :parent ?y . ?y :likes ?z }", infer="true", k="5").json
    assert found["head"]["vars"] == ["x", "y", "score", "known"]
    rows = found["results"]["bindings"]
    assert [row["known"]["value"] for row in rows] == sorted((row["known"]["value"] for row in rows), reverse=True)
    asked = reading.ask("?x, y : exists z . parent(x, y) & likes(y, z)", top=5).json
    assert asked["complete"] in (True, False)
    assert [one["keys"] for one in asked["answers"]] == [
        {name: row[name]["value"].removeprefix("urn:unseen:") for name in "xy"} for row in rows
    ]
    inner = "SELECT ?x ?y { ?x :parent ?y . ?y :likes ?z } LIMIT 5"
    service = f"SELECT ?x ?y ?score {{ SERVICE <urn:unseen:predict> {{ {inner} }} ?x :parent ?y }}"
    assert len(reading.query(service).json["results"]["bindings"]) == sum(
        row["known"]["value"] == "true" for row in rows
    )
