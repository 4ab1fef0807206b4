"""Requests that once were answered wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.server.running import Running
from unseen.database.guard import LONGEST_REMEMBERED, _remembered_query
from unseen.server.admission import Bounds
from unseen.server.batching import Batcher

PREDICT = "SERVICE <urn:unseen:predict>"


@pytest.mark.parametrize("name", ["score", "known"])
def test_what_predictions_say_cannot_be_the_answer(reading: Running, name: str) -> None:
    for text in (f"SELECT ?{name} {{ ?x :likes :Go }}", f"SELECT ?{name} {{ ?{name} :likes :Go }}"):
        refused = reading.query(text, infer="true")
        assert (refused.status, refused.error["code"]) == (400, "refused")
        assert f"?{name}" in refused.error["message"]
        assert reading.query(f"SELECT * {{ {PREDICT} {{ {text} }} }}").status == 400


@pytest.mark.parametrize("headers", [{"Host": "["}, {"Origin": "http://["}])
def test_headers_that_are_no_addresses_are_refused(reading: Running, headers: dict[str, str]) -> None:
    assert reading.send("GET", "/healthz", None, headers).status == 400


def test_the_smaller_of_k_and_limit_counts(reading: Running) -> None:
    text = "SELECT ?x { ?x :likes :Go } LIMIT "
    counts = [
        len(reading.query(text + limit, infer="true", **more).json["results"]["bindings"])
        for limit, more in (("1", {"k": "3"}), ("3", {"k": "1"}), ("2", {}), ("99999999999", {"k": "2"}))
    ]
    assert counts == [1, 1, 2, 2]
    assert reading.query(text + "99999999999", infer="true").status == 200


def test_two_predictions_in_one_group_are_refused(reading: Running) -> None:
    one, other = f"{PREDICT} {{ ?x :likes :Go }}", f"{PREDICT} {{ :Ada :parent ?y }}"
    refused = reading.query(f"SELECT * {{ {one} {other} }}")
    assert (refused.status, refused.error["code"]) == (400, "refused")
    assert "one SERVICE clause" in refused.error["message"]
    assert reading.query(f"SELECT * {{ {{ {one} }} UNION {{ {other} }} }}").status == 200


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX u: <urn:unseen:> SELECT * { SERVICE u:predict { ?x :likes :Go } }",
        "SELECT * { SERVICE :predict { ?x :likes :Go } }",
    ],
)
def test_the_service_may_be_named_by_a_prefix(reading: Running, text: str) -> None:
    assert reading.query(text).json["results"]["bindings"]


@pytest.mark.parametrize("name", ["default-graph-uri", "named-graph-uri"])
def test_predictions_have_no_other_graphs(reading: Running, name: str) -> None:
    refused = reading.query("SELECT ?x { ?x :likes :Go }", infer="true", **{name: "urn:g"})
    assert refused.status == 400
    assert name in refused.error["message"]


def test_a_slash_too_many_is_not_found(reading: Running) -> None:
    assert reading.send("GET", "/healthz/").status == 404


def test_our_own_graphs_are_no_ones(server: Running) -> None:
    turtle = {"Content-Type": "text/turtle"}
    assert server.send("PUT", "/store?graph=urn:unseen-store:touched", "", turtle).status == 400
    assert server.query("ASK {}", **{"default-graph-uri": "urn:unseen-store:touched"}).status == 400
    assert server.update("DROP SILENT GRAPH <urn:unseen-store:touched>").status == 400
    assert server.update("DROP GRAPH <urn:none>").status == 400
    told = server.send("POST", "/store?default", "<urn:a> <urn:b> <<( <urn:c> <urn:d> <urn:e> )>> .", turtle)
    assert told.status == 204


def test_long_queries_are_not_remembered(reading: Running) -> None:
    before = _remembered_query.cache_info().currsize
    assert (
        reading.send(
            "POST", "/query", "ASK {} #" + "x" * LONGEST_REMEMBERED, {"Content-Type": "application/sparql-query"}
        ).status
        == 200
    )
    assert _remembered_query.cache_info().currsize == before


def test_names_that_the_server_hands_out_are_understood(server: Running) -> None:
    iris = [entity["iri"] for entity in server.send("GET", "/entities?search=Ada").json["entities"]]
    assert server.post("/triples", {"triples": [[iris[0], "likes", "Rowing"]]}).json["added"] == 1
    assert server.ask("?x : likes(x, Rowing)").json["answers"][0]["entity"] == "Ada"


def test_an_item_that_breaks_the_model_does_not_harm_the_others() -> None:
    def answer(items: Sequence[int]) -> list[int]:
        return [10 // item for item in items]

    async def run() -> None:
        batcher: Batcher[int, int] = Batcher(answer, Bounds(batch=8, waiting=8))
        asked = [asyncio.create_task(batcher.submit(number)) for number in (1, 0, 5)]
        await asyncio.sleep(0)
        batcher.start()
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert (results[0], results[2]) == (10, 2)
        assert isinstance(results[1], ZeroDivisionError)
        await batcher.stop()

    asyncio.run(run())
