"""Whole graphs over HTTP: the Graph Store Protocol."""

from __future__ import annotations

import pytest

from tests.server.running import Running

TURTLE = {"Content-Type": "text/turtle"}
NEW = "@prefix : <urn:unseen:> . :Gus :likes :Go ; :age 7 . [] :owns :Boat ."


@pytest.mark.parametrize(
    "media_type", ["text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json"]
)
def test_a_graph_goes_out_and_comes_back(server: Running, media_type: str) -> None:
    out = server.send("GET", "/store?default", None, {"Accept": media_type})
    assert out.status == 200
    assert out.headers["content-type"].startswith(media_type)
    assert server.send("PUT", "/store?graph=urn:copy", out.body, {"Content-Type": media_type}).status == 201
    count = server.query("SELECT (COUNT(*) AS ?n) { GRAPH <urn:copy> { ?s ?p ?o } }").json["results"]["bindings"]
    assert count[0]["n"]["value"] == "8"


def test_posting_adds_and_putting_replaces_and_models_follow(server: Running) -> None:
    assert server.send("POST", "/store?default", NEW, TURTLE).status == 204
    assert server.ask("?x : likes(x, Go)").json["known"] == 3
    assert server.send("PUT", "/store?default", NEW, TURTLE).status == 204
    assert server.ask("?x : likes(x, Go)").json["known"] == 1
    assert server.ask("?x : owns(x, Boat)").json["known"] == 1
    assert server.send("DELETE", "/store?default").status == 204
    assert server.send("GET", "/store?default").body == b""
    assert server.ask("?x : likes(x, Go)").status == 400


def test_named_graphs_come_and_go(server: Running) -> None:
    assert server.send("GET", "/store?graph=urn:g").error["code"] == "unknown_graph"
    assert server.send("POST", "/store?graph=urn:g", NEW, TURTLE).status == 201
    assert server.send("POST", "/store?graph=urn:g", NEW, TURTLE).status == 204
    assert server.send("HEAD", "/store?graph=urn:g").status == 200
    assert b"Gus" in server.send("GET", "/store?graph=urn:g").body
    assert server.send("PUT", "/store?graph=urn:g", "", TURTLE).status == 204
    assert server.send("GET", "/store?graph=urn:g").body == b""
    assert server.send("DELETE", "/store?graph=urn:g").status == 204
    assert server.send("DELETE", "/store?graph=urn:g").status == 404


@pytest.mark.parametrize(
    "address", ["/store", "/store?default&graph=urn:g", "/store?graph=no-iri", "/store?graph=urn:%3E"]
)
def test_a_request_that_names_no_graph_is_refused(reading: Running, address: str) -> None:
    assert reading.send("GET", address).error["code"] == "bad_request"


def test_a_broken_document_changes_nothing(server: Running) -> None:
    reply = server.send("POST", "/store?default", ":Gus :likes", TURTLE)
    assert (reply.status, reply.error["code"]) == (400, "bad_triples")
    assert server.ask("?x : likes(x, Go)").json["known"] == 2


def test_many_statements_are_loaded_in_bulk(server: Running) -> None:
    body = "".join(f"<urn:unseen:s{i}> <urn:unseen:r> <urn:unseen:o{i % 7}> .\n" for i in range(25_000))
    assert server.send("POST", "/store?default", body, {"Content-Type": "application/n-triples"}).status == 204
    assert server.ask("?x : r(x, o3)", exact=True).json["known"] == len(range(3, 25_000, 7))
    assert server.ask("?x : likes(x, Go)").json["known"] == 2


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.mark.parametrize(
    ("entities", "status"),
    [
        ('<!ENTITY u "urn:unseen:"><!ENTITY e2 "go">', 204),
        ("".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 3)), 400),
        ("".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 3)), 400),
        (f'<!ENTITY e2 "{"a" * 1000}">', 400),
    ],
)
def test_entities_of_xml_do_not_explode(server: Running, entities: str, status: int) -> None:
    body = (
        f'<!DOCTYPE x [<!ENTITY e0 "aa">{entities}]><r:RDF xmlns:r="{RDF}" xmlns:u="urn:u:">'
        '<r:Description r:about="urn:a"><u:p>&e2;</u:p></r:Description></r:RDF>'
    )
    assert server.send("POST", "/store?default", body, {"Content-Type": "application/rdf+xml"}).status == status
