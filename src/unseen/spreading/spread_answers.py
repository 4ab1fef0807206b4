"""`unseen answer` by a crew: every worker holds the method, and all workers of a machine one graph."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from unseen.bulk.answer_table import answer_rows
from unseen.bulk.answering_files import GraphAsker
from unseen.spreading.taught_graph import TaughtGraph, name_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from unseen.bulk.answer_table import Row
    from unseen.bulk.answering_files import Batch, SpreadAnswers
    from unseen.spreading.crew import Crew


def spread_answers(crew: Crew, asker: GraphAsker) -> SpreadAnswers:
    """What answers batches of questions as an asker would, by the workers of a crew."""

    def answered(batches: Sequence[Batch]) -> Iterator[tuple[int, list[Row]]]:
        taught = TaughtGraph.of(asker.graph, asker.method)
        return crew.results(partial(_asking, name_anywhere(asker.name), asker.options_given), [taught], batches)

    return answered


def _asking(name: str, options: Mapping[str, Any], taught: TaughtGraph) -> Callable[[Batch], list[Row]]:
    asker = GraphAsker(taught.graph, name, **options)
    taught.hand_to(asker.method)
    return lambda batch: list(answer_rows(batch, asker.ask(batch)))
