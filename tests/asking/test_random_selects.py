"""Where nothing is predicted, every SELECT has the solutions of a SPARQL engine, whatever it is made of."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

import unseen
from tests.asking.random_selects import RandomSelect
from tests.logic.values.random_questions import random_graph
from tests.logic.values.test_against_sparql_engine import loaded, term
from unseen.asking.preparing import prepare_exactly
from unseen.errors import QueryRefused
from unseen.methods.exact import Exact

if TYPE_CHECKING:
    from pathlib import Path

    import pyoxigraph

    from unseen import Answers, KnowledgeGraph

GRAPHS = int(os.environ.get("UNSEEN_RANDOM_SELECTS", "8"))
"""Random graphs; each is asked so many queries in both ways."""
QUERIES = 25
WORDS = ("OPTIONAL", "UNION", "MINUS", "NOT EXISTS", "BIND", "VALUES", "GROUP BY", "HAVING", "LIMIT", "AVG", "{ SELECT")


def solutions(store: pyoxigraph.Store, text: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """The variables and the rows that an engine finds."""
    found = store.query(text)
    names = [variable.value for variable in found.variables]  # type: ignore[union-attr]
    rows = [tuple("" if value is None else str(value) for value in row) for row in found]  # type: ignore[union-attr]
    return names, rows


def rows_of(answers: Answers, names: list[str]) -> list[tuple[str, ...]]:
    keys = [one.keys if answers.variables else {names[0]: one.key} for one in answers]
    return [tuple(term(row[name]) if name in row else "" for name in names) for row in keys]


def agree(text: str, found: list[tuple[str, ...]], expected: list[tuple[str, ...]], *, repeats: bool) -> bool:
    """Whether rows are the same; in the same order, where that matters; each once, where repeated rows do not count."""
    if not repeats:
        found, expected = list(dict.fromkeys(found)), list(dict.fromkeys(expected))
    return found == expected if "LIMIT" in text else sorted(found) == sorted(expected)


def asked(folder: Path, seed: int) -> tuple[KnowledgeGraph, pyoxigraph.Store, list[str]]:
    random = Random(seed)
    graph, store = loaded(folder, random_graph(random))
    return graph, store, [RandomSelect(random).text() for _ in range(QUERIES)]


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_exact_answers_are_the_multisets_of_an_engine(tmp_path: Path, seed: int) -> None:
    graph, store, texts = asked(tmp_path, seed)
    used = Counter[str]()
    for text in texts:
        names, expected = solutions(store, text)
        found = rows_of(unseen.ask(graph, text, method="exact", top=1_000_000), names)
        is_table = prepare_exactly(graph, text).table is not None
        assert agree(text, found, expected, repeats=is_table), text
        used.update(word for word in WORDS if word in text)
    assert len(used) > len(WORDS) / 2, used


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_a_method_that_predicts_nothing_adds_nothing(tmp_path: Path, seed: int) -> None:
    graph, store, texts = asked(tmp_path, 10_000 + seed)
    answered = 0
    for text in texts:
        try:
            answers = unseen.ask(graph, text, method=Exact(), top=1_000_000)
        except QueryRefused:
            continue
        names, expected = solutions(store, text)
        is_grouped = "GROUP BY ?" in text.rsplit("}", 1)[-1]
        assert agree(text, rows_of(answers, names), expected, repeats=is_grouped), text
        answered += 1
    assert answered > QUERIES / 3
