"""`unseen check` by a crew: each worker lets all methods answer a batch of questions about hidden facts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.api import open_method
from unseen.errors import Stopped
from unseen.evaluation.graph_check import CheckPiece, Tried, answered
from unseen.logic.stopping import stop_when
from unseen.spreading.crew import in_order
from unseen.spreading.taught_graph import TaughtGraph, name_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from unseen.evaluation.query_sets import Questions
    from unseen.logic.protocols import Estimator
    from unseen.spreading.crew import Crew

    Shared = tuple[Questions, dict[str, TaughtGraph]]


@dataclass(frozen=True)
class CrewCheck:
    """Answers the batches of a check by the workers of a crew."""

    crew: Crew

    @property
    def workers(self) -> int:
        """Batches that are answered at a time."""
        return self.crew.workers

    def answers(
        self, questions: Questions, methods: Mapping[str, Estimator], pieces: Iterable[CheckPiece], until: float
    ) -> Iterator[dict[str, Tried]]:
        """What every method made of each batch, in their order."""
        taught = {name: TaughtGraph.of(questions.graph, method) for name, method in methods.items()}
        names = {name: name_anywhere(name) for name in methods}
        return in_order(self.crew.results(_checking, [(questions, taught), names], pieces, until=until))


def _checking(shared: Shared, names: Mapping[str, str]) -> Callable[[CheckPiece], dict[str, Tried]]:
    questions, taught = shared
    methods = {name: open_method(place) for name, place in names.items()}
    for name, method in methods.items():
        taught[name].hand_to(method)

    def tried(piece: CheckPiece) -> dict[str, Tried]:
        part = questions.take(np.arange(piece.start, piece.stop))
        return {name: _tried(methods[name], part, patience) for name, patience in piece.patience.items()}

    return tried


def _tried(method: Estimator, part: Questions, patience: float) -> Tried:
    begun = time.monotonic()
    try:
        with stop_when(lambda: time.monotonic() > begun + patience):
            found = answered(method, part)
    except Stopped:
        found = None
    return Tried(found, (time.monotonic() - begun) / len(part))
