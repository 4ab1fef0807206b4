"""`unseen sample` by a crew: a piece is all queries of one shape in one split, drawn from a seed of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.datasets.shared_work import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unseen.datasets.sampling.sample_dataset import SampleOutcome, SampleTask, SampleWork, SpreadSampling
    from unseen.spreading.crew import Crew


def spread_sampling(crew: Crew) -> SpreadSampling:
    """What performs tasks by the workers of a crew, all of which share the graphs."""

    def performed(work: SampleWork, tasks: Sequence[SampleTask]) -> Iterator[tuple[int, SampleOutcome]]:
        for graphs in work.graphs.values():
            for graph in (graphs.observed, graphs.complete):
                _ = graph.by_head, graph.by_tail  # sorted here, and by no worker again
        return crew.results(_sampling, [work, crew.threads], tasks)

    return performed


def _sampling(work: SampleWork, threads: int) -> Callable[[SampleTask], SampleOutcome]:
    return lambda task: in_threads(work.perform, [task], 1)[0] if threads == 1 else work.perform(task)
