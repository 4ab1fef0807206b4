"""One truth: SPARQL on the server, the command line and the library give the same exact answers."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

import unseen
from tests.cli.command import command_in
from tests.server.running import running
from unseen.graph import KnowledgeGraph
from unseen.graph.prefixes import key_of
from unseen.graph.vocabulary import inverse_relation
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, unbind
from unseen.logic.shapes import SHAPES
from unseen.logic.sparql.writer import is_bound, to_sparql
from unseen.logic.text_writer import to_formula
from unseen.logic.traverse import step

QUERIES = int(os.environ.get("UNSEEN_DIFFERENTIAL_QUERIES", "60"))
"""For each of two graphs; 500 to be thorough."""


def random_graph(chance: random.Random) -> KnowledgeGraph:
    entities, relations = [f"e{i}" for i in range(60)], [f"r {i}" for i in range(5)]
    return KnowledgeGraph.from_triples(
        {(chance.choice(entities), chance.choice(relations), chance.choice(entities)) for _ in range(300)}
    )


def tree(graph: KnowledgeGraph, answer: int, depth: int, chance: random.Random) -> Query:
    """A query with ids that `answer` would answer, were it not for negation."""
    if depth == 0:
        return Anchor(answer)
    other = int(chance.choice(graph.connected_entities))
    match chance.choice(("project", "project", "and", "or", "not")):
        case "and":
            return And((tree(graph, answer, depth - 1, chance), tree(graph, answer, depth - 1, chance)))
        case "or":
            return Or((tree(graph, answer, depth - 1, chance), tree(graph, other, depth - 1, chance)))
        case "not":
            return And((tree(graph, answer, depth - 1, chance), Not(tree(graph, other, depth - 1, chance))))
    relation, source = edge_to(graph, answer, chance)
    return Project(relation, tree(graph, source, depth - 1, chance))


def edge_to(graph: KnowledgeGraph, entity: int, chance: random.Random) -> tuple[int, int]:
    here = np.array([entity], np.int32)
    directed = list(range(graph.vocabulary.num_directed_relations))
    chance.shuffle(directed)
    found = ((relation, step(graph, inverse_relation(relation), here)) for relation in directed)
    relation, sources = next((relation, sources) for relation, sources in found if len(sources))
    return relation, int(chance.choice(sources))


def shaped(graph: KnowledgeGraph, name: str, chance: random.Random) -> Query:
    slots = [
        int(chance.choice(graph.connected_entities))
        if slot == "e"
        else chance.randrange(graph.vocabulary.num_directed_relations)
        for slot in SHAPES[name].slots
    ]
    return SHAPES[name].fill(slots)


def questions(graph: KnowledgeGraph, chance: random.Random, count: int) -> list[Query]:
    made: list[Query] = []
    while len(made) < count:
        entity = int(chance.choice(graph.connected_entities))
        query = (
            shaped(graph, chance.choice(list(SHAPES)), chance)
            if len(made) % 3 == 0
            else tree(graph, entity, chance.randrange(1, 4), chance)
        )
        if is_bound(query):
            made.append(unbind(query, graph.vocabulary.entities.key, graph.vocabulary.relation_name))
    return made


@pytest.mark.parametrize("name", ["random", "countries"])
def test_server_command_line_and_library_agree(
    name: str,
    countries: KnowledgeGraph,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(7)
    graph = countries if name == "countries" else random_graph(chance)
    monkeypatch.setattr("unseen.cli.console.read", lambda *_, **__: graph)
    command = command_in(monkeypatch, capsys)
    answered = 0
    with running(tmp_path / "x.db", list(graph.triples())) as server, unseen.connect(server.url) as client:
        for number, query in enumerate(questions(graph, chance, QUERIES)):
            sparql, formula = to_sparql(query), to_formula(query)
            expected = {a.entity for a in unseen.ask(graph, formula, method="exact", top=100_000)}
            assert {key_of(row["x"]) for row in client.query(sparql)} == expected, sparql
            question = sparql if number % 2 else formula
            printed = command("ask", "x", question, "--method", "exact", "--top", "100000", "--json").output
            assert {answer["entity"] for answer in json.loads(printed)["answers"]} == expected, question
            assert client.ask(question, exact=True).known == len(expected), question
            answered += bool(expected)
    assert answered > QUERIES / 3
