"""`unseen evaluate` by a crew: workers answer batches of questions, and send what is measured on each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from unseen.api import open_method
from unseen.spreading.crew import in_order
from unseen.spreading.taught_graph import TaughtGraph, name_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unseen.evaluation.evaluator import MeasuredPiece, PreparedQuestions, Spread
    from unseen.logic.method import Method
    from unseen.spreading.crew import Crew


def spread_evaluation(crew: Crew, method: Method, name: str, device: str, effort: str) -> Spread:
    """What measures pieces by the workers of a crew, each of which opens the method by its name."""

    def measured(prepared: PreparedQuestions, pieces: Sequence[MeasuredPiece]) -> Iterator[list[Any]]:
        graphs = {id(questions.graph): questions.graph for questions in prepared.questions.values()}
        taught = [TaughtGraph.of(graph, method) for graph in graphs.values()]
        make = partial(_measuring, name_anywhere(name), device, effort)
        return in_order(crew.results(make, [(prepared, taught)], pieces))

    return measured


def _measuring(
    name: str, device: str, effort: str, shared: tuple[PreparedQuestions, list[TaughtGraph]]
) -> Callable[[MeasuredPiece], list[Any]]:
    prepared, taught = shared
    method = open_method(name, device, effort=effort)
    for graph in taught:
        graph.hand_to(method)
    return lambda piece: prepared.seen(method, piece)
