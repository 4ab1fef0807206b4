"""Work stops between its steps when it is told to; questions that would grow without end are refused at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import unseen
from unseen.api import ask_all
from unseen.asking.answers import answers_of
from unseen.asking.preparing import parse, prepare
from unseen.errors import QueryRefused, Stopped
from unseen.logic.algebra import MAX_SIZE, Anchor, Not, Or, Project, Query
from unseen.logic.execute import execute
from unseen.logic.method import Method
from unseen.logic.stopping import check_stop, checked_by, stop_when
from unseen.logic.traverse import Traversal
from unseen.methods.edge_type import EdgeType
from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape

TWO_HOPS = "?x : exists v . borders(France, v) & speaks(v, x)"


class Counting:
    """Says stop at a given check, and counts them."""

    def __init__(self, last: int) -> None:
        self.last, self.checks = last, 0

    def __call__(self) -> bool:
        self.checks += 1
        return self.checks > self.last


def test_a_check_costs_nothing_where_nobody_says_when_to_stop() -> None:
    check_stop()
    with stop_when(lambda: False):
        check_stop()
    with stop_when(lambda: True):
        with pytest.raises(Stopped):
            check_stop()
        with checked_by(None):
            check_stop()
    check_stop()


def test_execution_stops_between_levels() -> None:
    graph = unseen.load("countries")
    query = prepare(graph, TWO_HOPS).query
    calls: list[int] = []

    class Projector:
        def project(self, _graph: object, sets: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
            calls.append(len(relations))
            return sets

    with stop_when(Counting(1)), pytest.raises(Stopped):
        execute(Projector(), graph, [query])
    assert calls == [1]


def _network() -> ZeroShot:
    torch.manual_seed(0)
    return ZeroShot(ZeroShotShape(dim=8, num_layers=3, relation_layers=2, hidden_dim=8)).eval()


@pytest.mark.parametrize("method", [EdgeType, _network], ids=["edge-type", "zero-shot"])
def test_a_method_stops_at_whichever_check_it_is_told_to(method: Callable[[], Method]) -> None:
    graph, opened = unseen.load("countries"), method()
    question = prepare(graph, TWO_HOPS, explain=True)
    ask_all(graph, [question], opened, "method")  # what is read of relations is kept
    whole = Counting(10**9)
    with stop_when(whole):
        expected = ask_all(graph, [question], opened, "method")
    assert whole.checks >= 5
    for last in sorted({*range(0, whole.checks, max(1, whole.checks // 12)), whole.checks - 1}):
        with stop_when(Counting(last)), pytest.raises(Stopped):
            ask_all(graph, [question], opened, "method")
    assert ask_all(graph, [question], opened, "method") == expected


def test_a_network_is_checked_in_every_layer() -> None:
    graph, counted = unseen.load("countries"), Counting(10**9)
    query, opened = prepare(graph, TWO_HOPS).query, _network()
    opened.estimate(graph, [query])
    with stop_when(counted):
        opened.estimate(graph, [query])
    assert counted.checks >= 2 * 3


def test_traversal_and_ranking_stop_too() -> None:
    graph = unseen.load("countries")
    question = prepare(graph, TWO_HOPS)
    with stop_when(Counting(1)), pytest.raises(Stopped):
        Traversal(graph).members(question.query)
    steps = Counting(10**9)
    with stop_when(steps):
        Traversal(graph).members(question.query)
    with stop_when(Counting(steps.checks)), pytest.raises(Stopped):
        answers_of(graph, [question], None, "exact")


def _doubling(levels: int) -> Query:
    query: Query = Anchor("France")
    for _ in range(levels):
        query = Or((Project("borders", query), Project("speaks", query)))
    return query


def test_a_query_whose_parts_double_is_refused_before_anybody_walks_over_it() -> None:
    assert Not(_doubling(10)).size == 2 + 3 * (2**10 - 1) + 2**10 - 1
    with pytest.raises(QueryRefused, match=f"more than {MAX_SIZE:,} parts"):
        _doubling(40)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { :France " + "/".join(["(:borders|:speaks)"] * 40) + " ?x }",
        f"?x : exists {', '.join(f'v{n}' for n in range(40))} . borders(France, v0) & "
        + " & ".join(f"(borders(v{n}, v{n + 1}) | speaks(v{n}, v{n + 1}))" for n in range(39))
        + " & borders(v39, x)",
    ],
    ids=["sparql", "formula"],
)
def test_a_short_text_that_means_a_giant_question_is_refused_at_once(text: str) -> None:
    with pytest.raises(QueryRefused, match="parts"):
        parse(text, unseen.load("countries"))
