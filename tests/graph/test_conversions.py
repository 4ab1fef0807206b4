"""Graphs made of objects of other libraries, and the other way round."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

import unseen
from tests.conftest import FAMILY
from unseen.errors import GraphError, MissingExtra
from unseen.graph import KnowledgeGraph

COLUMNS = ["head", "relation", "tail"]


def test_a_data_frame_becomes_a_graph_and_comes_back(family: KnowledgeGraph) -> None:
    frame = pd.DataFrame(FAMILY, columns=COLUMNS)
    graph = unseen.load(frame)
    assert list(graph.triples()) == FAMILY
    assert graph.to_pandas().equals(family.to_pandas())
    assert graph.to_pandas().to_numpy().tolist() == [list(triple) for triple in FAMILY]


def test_an_arrow_table_becomes_a_graph_and_comes_back(family: KnowledgeGraph) -> None:
    table = family.to_arrow()
    assert table.column_names == COLUMNS
    assert list(unseen.load(table).triples()) == FAMILY


def test_columns_are_found_by_name_else_the_first_three_count() -> None:
    named = pd.DataFrame({"weight": [1.0], "object": ["b"], "predicate": ["r"], "subject": ["a"]})
    assert list(unseen.load(named).triples()) == [("a", "r", "b")]
    unnamed = pd.DataFrame([["a", "r", "b", 0.5]])
    assert list(unseen.load(unnamed).triples()) == [("a", "r", "b")]


def test_categories_and_whole_numbers_are_names() -> None:
    frame = pd.DataFrame({"head": [1, 2], "relation": pd.Categorical(["r", "r"]), "tail": [2, 3]})
    assert list(unseen.load(frame).triples()) == [("1", "r", "2"), ("2", "r", "3")]


def test_keys_of_a_graph_come_back_in_full() -> None:
    graph = KnowledgeGraph.from_triples([(f"http://a.example/{n}", "http://a.example/r", "b") for n in range(9)])
    assert graph.to_arrow("keys")["head"][0].as_py() == "http://a.example/0"
    assert unseen.load(graph.to_arrow("keys")).vocabulary.entities.keys == graph.vocabulary.entities.keys


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"head": ["a"], "name": ["r"], "tail": ["b"]}, "no column relation; the table has head, name, tail"),
        ({"head": ["a"], "x": ["b"]}, "no column relation and no column tail"),
        ({"a": ["a"], "b": ["b"]}, "needs three columns"),
        ({"head": ["a"], "subject": ["a"], "relation": ["r"], "tail": ["b"]}, "several columns could be head"),
        ({"head": ["a"], "relation": ["r"], "tail": [1.5]}, "'tail' holds double"),
        ({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", None]}, "'tail' has no name in row 1"),
        ({"head": ["a"], "relation": [""], "tail": ["b"]}, "a name is empty"),
        ({"head": [], "relation": [], "tail": []}, "no triples|holds null"),
    ],
)
def test_a_wrong_table_is_an_error_that_says_what_is_wrong(table: dict[str, list[object]], problem: str) -> None:
    with pytest.raises(GraphError, match=problem):
        unseen.load(pa.table(table))


def test_a_data_frame_of_mixed_things_is_an_error() -> None:
    frame = pd.DataFrame({"head": ["a", 1], "relation": ["r", "r"], "tail": ["b", "c"]}, dtype=object)
    with pytest.raises(GraphError, match="make its columns text"):
        unseen.load(frame)


def test_a_networkx_graph_becomes_a_graph_and_comes_back(family: KnowledgeGraph) -> None:
    network = family.to_networkx()
    assert network.number_of_edges() == len(FAMILY)
    assert network["Ada"]["Ben"]["parent"] == {"relation": "parent"}
    assert sorted(unseen.load(network).triples()) == sorted(FAMILY)


def test_a_simple_networkx_graph_names_relations_by_attribute() -> None:
    network = nx.DiGraph()
    network.add_edge("a", 7, label="r")
    assert list(unseen.load(network).triples()) == [("a", "r", "7")]
    network.add_edge("a", "c")
    with pytest.raises(GraphError, match="from 'a' to 'c' has no relation"):
        unseen.load(network)
    with pytest.raises(GraphError, match="undirected"):
        unseen.load(nx.Graph([("a", "b")]))


def test_a_factory_of_pykeen_becomes_a_graph() -> None:
    triples = pytest.importorskip("pykeen.triples", reason="pykeen is not installed")
    factory = triples.TriplesFactory.from_labeled_triples(np.array(FAMILY, dtype=str))
    assert set(unseen.load(factory).triples()) == set(FAMILY)


def test_ids_and_labels_of_a_factory_become_a_graph() -> None:
    entities, relations = {"Bob": 2, "Ada": 0}, {"knows": 0, "likes": 1}
    triples = torch.tensor([[0, 0, 2], [2, 1, 0]])
    factory = SimpleNamespace(mapped_triples=triples, entity_to_id=entities, relation_to_id=relations)
    assert list(unseen.load(factory).triples()) == [("Ada", "knows", "Bob"), ("Bob", "likes", "Ada")]


def test_triples_in_a_list_become_a_graph() -> None:
    assert list(unseen.load(FAMILY).triples()) == FAMILY


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (7, "cannot make a graph of int"),
        ({"a": 1}, "cannot make a graph of dict"),
        ([("a", "r")], "triple 0 .* is \\('a', 'r'\\)"),
        (("Ada", "abc", "Bob"), "triple 0 .* is 'Ada'"),
        ([("a", "r", None)], "must be text, not NoneType"),
        ([], "no triples"),
    ],
)
def test_what_is_no_graph_is_an_error(given: object, problem: str) -> None:
    with pytest.raises(GraphError, match=problem):
        unseen.load(given)


def test_several_objects_are_refused() -> None:
    with pytest.raises(GraphError, match="one table"):
        unseen.load(FAMILY, FAMILY)


@pytest.mark.parametrize("triple", [("Ada", "abc", "Bob"), ("Ada", "knows", "Bob")])
def test_a_bare_triple_is_no_list_of_triples(family: KnowledgeGraph, triple: tuple[str, str, str]) -> None:
    with pytest.raises(GraphError, match="list of triples"):
        family.extended_with(triple)  # type: ignore[arg-type]


def test_a_triple_of_another_length_is_an_error(family: KnowledgeGraph) -> None:
    with pytest.raises(GraphError, match="three parts"):
        family.extended_with([("a", "r", "b"), ("a", "r")])  # type: ignore[list-item]


def test_without_pandas_or_networkx_the_error_names_the_extra(
    family: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match="'notebook'"):
        family.to_pandas()
    with pytest.raises(MissingExtra, match="'notebook'"):
        family.to_networkx()


def test_answers_become_tables(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, "?x : borders(Portugal, x)", method="edge-type", top=3)
    table = answers.to_arrow()
    assert table.column_names == ["rank", "entity", "key", "known", "probability"]
    assert table["entity"].to_pylist() == [answer.entity for answer in answers]
    assert table["key"].to_pylist() == [answer.key for answer in answers]
    frame = answers.to_pandas()
    assert frame["known"].tolist() == [answer.known for answer in answers]
    assert frame["probability"].tolist() == [answer.probability for answer in answers]
