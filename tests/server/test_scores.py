"""`/score` and SPARQL ASK with predictions: the same numbers as at home."""

from __future__ import annotations

import pytest

import unseen
from tests.server.running import Running
from unseen.errors import QueryRefused, ServerError, UnknownName

FACTS = [("Ada", "parent", "Cleo"), ("Ada", "parent", "Dora"), ("Cleo", "parent", "Ada")]


def test_a_server_scores_as_the_library_does(reading: Running, family: unseen.KnowledgeGraph) -> None:
    with unseen.connect(reading.url) as graph:
        mine = unseen.score(family, FACTS, method="edge-type")
        theirs = graph.score(FACTS)
        assert [one.probability for one in theirs] == pytest.approx([one.probability for one in mine], abs=1e-6)
        assert [one.known for one in theirs] == [one.known for one in mine]
        text = "exists v . parent(Ada, v) & !parent(v, Emil)"
        for given in (text, FACTS[1], "ASK { :Ada :parent :Dora }"):
            here, there = (
                unseen.score(family, given, method="edge-type", explain=True),
                graph.score(given, explain=True),
            )
            assert there.probability == pytest.approx(here.probability, abs=1e-6)
            assert (there.known, there.bindings, there.edges) == (here.known, here.bindings, here.edges)
        assert graph.score(text, exact=True).method == "exact"


def test_what_is_wrong_with_one_is_its_own_error_and_with_the_only_one_that_of_the_request(reading: Running) -> None:
    with unseen.connect(reading.url) as graph:
        found = graph.score([("Ada", "parent", "Nobody"), "parent(Ada", "parent(Ada, Cleo)"])
        assert [one.error is None for one in found] == [False, False, True]
        with pytest.raises(UnknownName, match="Nobody"):
            graph.score("parent(Ada, Nobody)")
        with pytest.raises(QueryRefused, match="negation must be bound"):
            graph.score("exists v . !parent(Ada, v)")
        with pytest.raises(ServerError, match="one of the two"):
            graph._json("POST", "/score", {})
    assert reading.post("/score", {"statement": "parent(Ada, Cleo)", "statements": []}).status == 400
    assert reading.post("/score", {"statements": [["Ada", "parent"]]}).status == 400


def test_ask_with_predictions_has_a_boolean_and_a_probability(reading: Running, family: unseen.KnowledgeGraph) -> None:
    rdf = pytest.importorskip("pyoxigraph")
    for head, relation, tail in FACTS:
        score = unseen.score(family, (head, relation, tail), method="edge-type")
        reply = reading.query(f"ASK {{ :{head} :{relation} :{tail} }}", infer="true")
        assert reply.json["probability"] == pytest.approx(score.probability, rel=1e-5)
        assert (reply.json["known"], reply.json["boolean"]) == (score.known, (score.probability or 0) >= 0.5)
        assert float(reply.headers["unseen-probability"]) == reply.json["probability"]
        assert bool(rdf.parse_query_results(reply.body, rdf.QueryResultsFormat.JSON)) == reply.json["boolean"]
    for accept in ("application/sparql-results+xml", "text/csv"):
        reply = reading.query("ASK { :Ada :parent :Cleo }", {"Accept": accept}, infer="true")
        assert (reply.status, reply.headers["unseen-known"]) == (200, "true")
        assert "true" in reply.text
    assert reading.query("ASK { :Ada :parent ?x FILTER(?x > 3) }", infer="true").status == 400
    assert reading.query("ASK { :Ada :parent :Cleo }").json["boolean"] is True
