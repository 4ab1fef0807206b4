"""LangChain's `RdfGraph` on `/query`: itself where it is installed, and the queries that it sends in any case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rdflib import Graph
from rdflib.plugins.stores.sparqlstore import SPARQLStore

from tests.server.running import Running, running

EXAMPLE = "http://example.org/"
TURTLE = """
@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
ex:Country rdfs:comment "a state" ; rdfs:subClassOf ex:Place .
ex:France a ex:Country ; ex:borders ex:Spain . ex:Spain a ex:Country .
ex:borders a rdf:Property , owl:ObjectProperty ; rdfs:comment "shares a border" .
"""
PREFIXES = """PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
"""
SCHEMA_QUERIES = {
    "classes": ("cls", "?instance a ?cls . ", "Country"),
    "classes and those above them": ("cls", "?instance a/rdfs:subClassOf* ?cls . ", "Place"),
    "classes with IRIs": ("cls", "?instance a/rdfs:subClassOf* ?cls . FILTER (isIRI(?cls)) . ", "Place"),
    "relations": ("rel", "?subj ?rel ?obj . ", "borders"),
    "properties": ("rel", "?rel a/rdfs:subPropertyOf* rdf:Property . ", "borders"),
    "object properties": ("op", "?op a/rdfs:subPropertyOf* owl:ObjectProperty . ", "borders"),
}
"""What RdfGraph asks when it opens a graph: variable, pattern, and a local name that is found."""
COMMENTS = {"Country": "a state", "borders": "shares a border", "Place": "None"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("rdf") / "x.db") as made:
        sent = made.send("POST", "/store?default", TURTLE, {"Content-Type": "text/turtle"})
        assert sent.status in (201, 204), sent.text
        yield made


@pytest.mark.parametrize("name", SCHEMA_QUERIES)
def test_the_schema_queries_of_rdf_graph_are_answered_over_rdflib(served: Running, name: str) -> None:
    variable, pattern, wanted = SCHEMA_QUERIES[name]
    store = SPARQLStore()
    store.open(f"{served.url}/query")
    graph = Graph(store)
    assert len(graph) == 8
    comment = f"OPTIONAL {{ ?{variable} rdfs:comment ?com }}"
    rows = list(graph.query(f"{PREFIXES}SELECT DISTINCT ?{variable} ?com\nWHERE {{ {pattern}{comment} }}"))
    comments = {str(row[variable]): str(row["com"]) for row in rows}
    assert comments[EXAMPLE + wanted] == COMMENTS[wanted]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("standard", ["rdf", "rdfs", "owl"])
def test_rdf_graph_of_langchain_opens_and_asks(served: Running, standard: str) -> None:
    graphs = pytest.importorskip("langchain_community.graphs.rdf_graph", reason="langchain-community is not installed")
    graph = graphs.RdfGraph(query_endpoint=f"{served.url}/query", standard=standard)
    assert f"<{EXAMPLE}borders> (borders, shares a border)" in graph.get_schema
    rows = graph.query(f"SELECT ?x WHERE {{ <{EXAMPLE}France> <{EXAMPLE}borders> ?x }}")
    assert [str(row["x"]) for row in rows] == [f"{EXAMPLE}Spain"]


def test_predictions_reach_rdflib_with_infer(served: Running) -> None:
    store = SPARQLStore(params={"infer": "true"})
    store.open(f"{served.url}/query")
    rows = list(Graph(store).query(f"SELECT ?x ?known WHERE {{ <{EXAMPLE}France> <{EXAMPLE}borders> ?x }}"))
    assert (str(rows[0]["x"]), str(rows[0]["known"])) == (f"{EXAMPLE}Spain", "true")
