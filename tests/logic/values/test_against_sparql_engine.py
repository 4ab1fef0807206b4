"""With predictions off, questions about values have exactly the answers that a SPARQL engine gives."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pyoxigraph
import pytest

import unseen
from tests.logic.values.random_questions import BASE, RandomQuestion, random_graph
from unseen.errors import QueryRefused
from unseen.graph.files.readers import read_graph

if TYPE_CHECKING:
    from pathlib import Path

    from unseen import Answers, KnowledgeGraph

GRAPHS = int(os.environ.get("UNSEEN_VALUE_GRAPHS", "12"))
QUESTIONS = 25


def rows_of_engine(store: pyoxigraph.Store, question: str) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, solution)) for solution in store.query(question))  # type: ignore[union-attr]


def rows_of(answers: Answers) -> list[tuple[str, ...]]:
    return sorted(tuple(map(term, one.keys.values() if one.keys else [one.key])) for one in answers)


def term(key: str) -> str:
    return f"<{key}>" if key.startswith(BASE) else key


def loaded(folder: Path, text: str) -> tuple[KnowledgeGraph, pyoxigraph.Store]:
    """The same statements as a graph and in an engine."""
    file = folder / "graph.nt"
    file.write_text(text)
    store = pyoxigraph.Store()
    store.load(text.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    return read_graph(file).graph, store


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_answers_are_those_of_an_engine(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    graph, store = loaded(tmp_path, random_graph(random))
    answered = 0
    for _ in range(QUESTIONS):
        question = RandomQuestion(random).text()
        try:
            found = unseen.ask(graph, question, method="exact", top=1_000_000)
        except unseen.UnseenError as error:
            if not isinstance(error, QueryRefused | unseen.errors.UnknownName):
                raise
            continue
        answered += 1
        assert rows_of(found) == rows_of_engine(store, question), question
    assert answered >= QUESTIONS // 3
