"""What is measured on a batch of answered queries, each family of numbers by its own collector.

A collector finds what counts in a batch (`seen`), wherever it was answered, and adds it up in the order of the batches
(`add`). It keeps sums, never scores: memory does not grow with queries x entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from unseen.datasets.answering import answer_table
from unseen.datasets.table_hardness import NO_ANSWER, table_hardness
from unseen.evaluation.ranking import Ranks, mean_by_row, separation
from unseen.evaluation.reliability import Reliability, answer_count, checked_probabilities
from unseen.evaluation.results import HITS, RankMetrics
from unseen.graph.vocabulary import inverse_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable, Ragged
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Some queries of one shape on one graph, the scores of their answers, and the ranks of the wanted ones.

    All scores are not kept: on a large graph they never were in one place.
    """

    method: Any
    graph: KnowledgeGraph
    table: QueryTable
    queries: Sequence[Query]
    wanted: Ragged
    wanted_scores: NDArray[np.floating[Any]]
    others: Ragged
    other_scores: NDArray[np.floating[Any]]
    ranks: Ranks


class Collector(Protocol):
    """Takes batches, gives fields of a `TypeResult`."""

    def seen(self, batch: ScoredBatch) -> Any:
        """What of a batch counts: plain data that other processes can send."""
        ...

    def add(self, seen: Any) -> None:
        """Take what counts of one batch."""
        ...

    def fields(self) -> dict[str, Any]:
        """What was found."""
        ...


class MeansPart(NamedTuple):
    """The share of a batch in some means."""

    sums: Floats
    queries: int
    answers: int

    @classmethod
    def of(cls, values: Floats, lengths: NDArray[np.int64]) -> MeansPart:
        """Metrics by answer, one metric a row; query i has the next `lengths[i]` answers."""
        by_query = mean_by_row(values, lengths)
        return cls(by_query.sum(axis=1), by_query.shape[1], values.shape[1])


class RankMeans:
    """Rank metrics of one group of answers: means over queries of means over their answers in the group."""

    def __init__(self) -> None:
        self.queries, self.answers, self._sums = 0, 0, np.zeros(1 + len(HITS))

    def add(self, part: MeansPart) -> None:
        """Take the share of one batch."""
        self._sums += part.sums
        self.queries += part.queries
        self.answers += part.answers

    def result(self) -> RankMetrics:
        """The means; zero without any query."""
        return RankMetrics(self.queries, self.answers, *(self._sums / max(1, self.queries)).tolist())


class RankCollector:
    """The headline metrics, and the same from each kind of rank."""

    def __init__(self) -> None:
        self.headline = RankMeans()
        self.kinds = {kind: RankMeans() for kind in ("expected", "optimistic", "pessimistic")}

    def seen(self, batch: ScoredBatch) -> tuple[MeansPart, dict[str, MeansPart]]:
        """The headline metrics, and those of each kind of rank."""
        lengths = batch.wanted.lengths
        kinds = {kind: MeansPart.of(metrics_of(getattr(batch.ranks, kind)), lengths) for kind in self.kinds}
        return MeansPart.of(headline_metrics(batch.ranks), lengths), kinds

    def add(self, seen: tuple[MeansPart, dict[str, MeansPart]]) -> None:
        """Take one batch."""
        self.headline.add(seen[0])
        for kind, means in self.kinds.items():
            means.add(seen[1][kind])

    def fields(self) -> dict[str, Any]:
        """`metrics` and `by_rank`."""
        by_rank = {kind: means.result() for kind, means in self.kinds.items()}
        return {"metrics": self.headline.result(), "by_rank": by_rank}


class RocCollector:
    """Whether easy answers are scored above hard ones, where the hard ones are wanted and the easy ones are not."""

    def __init__(self) -> None:
        self.total, self.queries = 0.0, 0

    def seen(self, batch: ScoredBatch) -> tuple[float, int]:
        """The sum over queries, and their number."""
        values = separation(batch.other_scores, batch.others, batch.wanted_scores, batch.wanted)
        return float(np.nansum(values)), int((~np.isnan(values)).sum())

    def add(self, seen: tuple[float, int]) -> None:
        """Take one batch."""
        self.total += seen[0]
        self.queries += seen[1]

    def fields(self) -> dict[str, Any]:
        """`roc_auc` and how many queries it is the mean of."""
        return {"roc_auc": self.total / self.queries if self.queries else None, "roc_auc_queries": self.queries}


class GroupCollector:
    """Headline metrics by group of answers; `group_of` names the group of each wanted answer of a batch, in order."""

    def __init__(self, field: str, group_of: Callable[[ScoredBatch], Sequence[str] | NDArray[np.str_]]) -> None:
        self.field, self.group_of = field, group_of
        self.groups: dict[str, RankMeans] = {}

    def seen(self, batch: ScoredBatch) -> dict[str, MeansPart]:
        """The metrics of each group in the batch."""
        groups = np.asarray(self.group_of(batch))
        owners = np.repeat(np.arange(len(batch.table)), batch.wanted.lengths)
        found = {}
        for group in np.unique(groups).tolist():
            inside = groups == group
            lengths = np.bincount(owners[inside], minlength=len(batch.table))
            found[group] = MeansPart.of(headline_metrics(batch.ranks.chosen(inside)), lengths)
        return found

    def add(self, seen: dict[str, MeansPart]) -> None:
        """Take one batch."""
        for group, part in seen.items():
            self.groups.setdefault(group, RankMeans()).add(part)

    def fields(self) -> dict[str, Any]:
        """The metrics of every group met, groups in order."""
        return {self.field: {group: self.groups[group].result() for group in sorted(self.groups)}}


class EstimateCollector:
    """Numbers of answers and calibration of a method that gives probabilities; truth is the complete graph."""

    def __init__(self, complete: KnowledgeGraph, candidates: NDArray[np.int32]) -> None:
        self.complete, self.candidates = complete, candidates
        self.reliability = Reliability()
        self.predicted: list[Floats] = []
        self.actual: list[Floats] = []

    def seen(self, batch: ScoredBatch) -> tuple[Reliability, Floats, Floats]:
        """One more run of the method: reliability of its probabilities, expected and true numbers of answers."""
        stacked = batch.method.estimate(batch.graph, batch.queries).stacked(batch.queries)
        estimates = checked_probabilities(stacked.detach().float().cpu().numpy()[:, self.candidates])
        is_true = self._truth(batch.table)[:, self.candidates]
        reliability = Reliability()
        reliability.add(estimates, is_true)
        return reliability, estimates.sum(axis=1, dtype=np.float64), is_true.sum(axis=1).astype(np.float64)

    def add(self, seen: tuple[Reliability, Floats, Floats]) -> None:
        """Take one batch."""
        self.reliability.join(seen[0])
        self.predicted.append(seen[1])
        self.actual.append(seen[2])

    def fields(self) -> dict[str, Any]:
        """`answer_count` and `calibration`."""
        predicted, actual = (np.concatenate([np.empty(0), *column]) for column in (self.predicted, self.actual))
        asked = actual > 0
        counts = answer_count(predicted[asked], actual[asked]) if asked.any() else None
        return {"answer_count": counts, "calibration": self.reliability.result()}

    def _truth(self, table: QueryTable) -> NDArray[np.bool_]:
        """Which entities are answers on the complete graph; of a published negation, not every easy answer is."""
        answers = answer_table(self.complete, table.shape, table.slots)
        is_true = np.zeros((len(table), self.complete.num_entities), bool)
        is_true[np.repeat(np.arange(len(table)), answers.lengths), answers.values] = True
        return is_true


def headline_metrics(ranks: Ranks) -> Floats:
    """MRR of the expected rank, then the chance of each Hits@k; one metric a row."""
    return np.stack([1 / ranks.expected, *(ranks.hits_at(k) for k in HITS)])


def metrics_of(rank: Floats) -> Floats:
    """MRR and Hits@k of a definite rank; one metric a row."""
    return np.stack([1 / rank, *((rank <= k).astype(np.float64) for k in HITS)])


def half_links(batch: ScoredBatch) -> list[str]:
    """For each wanted answer of 1p queries which half of its link the graph has: both, head, tail or neither."""
    names = {(True, True): "both", (True, False): "head", (False, True): "tail", (False, False): "neither"}
    groups = []
    for row, (head, relation) in enumerate(batch.table.slots.tolist()):
        has_head = bool(np.isin(head, batch.graph.range_of(inverse_relation(relation))[0]))
        has_tail = np.isin(batch.wanted.row(row), batch.graph.range_of(relation)[0])
        groups += [names[has_head, tail] for tail in has_tail.tolist()]
    return groups


def strata(complete: KnowledgeGraph, batch: ScoredBatch) -> list[str]:
    """For each wanted answer the number of missing links it needs; `none` for what the complete graph does not say."""
    table = batch.table
    needed = table_hardness(complete, batch.graph, table.shape, table.slots, batch.wanted).tolist()
    return ["none" if links == NO_ANSWER else str(links) for links in needed]


def changes(batch: ScoredBatch) -> NDArray[np.str_]:
    """For each wanted answer whether its query has other answers here than its table says: changed or unchanged."""
    easy, wanted = batch.table.easy, batch.wanted
    same = [np.array_equal(easy.row(row), wanted.row(row)) for row in range(len(batch.table))]
    return np.repeat(np.where(same, "unchanged", "changed"), wanted.lengths)
