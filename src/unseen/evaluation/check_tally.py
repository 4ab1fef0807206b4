"""Answers to questions about hidden facts as they come in, and the numbers they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.evaluation.check_result import CheckResult, CheckScore, End, RelationCheck
from unseen.evaluation.reliability import Reliability
from unseen.graph.vocabulary import directed_relation, is_inverse, undirected_relation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.evaluation.query_sets import Questions
    from unseen.evaluation.ranking import Ranks
    from unseen.evaluation.results import ReliabilityCurve
    from unseen.graph import KnowledgeGraph

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

TOP = 10


@dataclass(frozen=True, eq=False)
class Answered:
    """One method on one batch: ranks by wanted answer, and by question its first prediction."""

    ranks: Ranks
    probability: Floats
    is_true: Mask


@dataclass(frozen=True, eq=False)
class _Batch:
    """One batch: by question its directed relation, by wanted answer question, source, target and chance."""

    directed: NDArray[np.int64]
    owners: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    chance: Floats
    found: Mapping[str, Answered]


class CheckTally:
    """Batches that every method has answered."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.answered = 0
        """Wanted answers asked for so far: two a fact."""
        self._batches: list[_Batch] = []

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self._batches)

    def add(self, part: Questions, found: Mapping[str, Answered]) -> None:
        """Take one batch."""
        owners = np.repeat(np.arange(len(part)), part.wanted.lengths)
        pool = len(part.candidates) + 1 - part.others.lengths - part.wanted.lengths
        chance = np.minimum(1.0, TOP / np.maximum(pool, 1))[owners]
        sources, directed = part.table.slots[:, 0].astype(np.int64), part.table.slots[:, 1].astype(np.int64)
        targets = part.wanted.values.astype(np.int64)
        self._batches.append(_Batch(directed, owners, sources[owners], targets, chance, found))
        self.answered += len(owners)

    def result(
        self,
        methods: Sequence[str],
        planned: int,
        seed: int,
        seconds: float,
        stopped: str | None,
        skipped: Mapping[str, str],
    ) -> CheckResult:
        """The numbers of all batches so far."""
        table = _Table(self._batches, methods)
        counts = np.bincount(self.graph.relations, minlength=self.graph.num_relations)
        names = self.graph.vocabulary.relations
        rows = [table.row(one, names.name(one), int(counts[one])) for one in np.unique(table.relations).tolist()]
        rows.sort(key=lambda row: (-max(score.hits_at_10 for score in row.scores.values()), -row.facts, row.relation))
        tried = {row.relation for row in rows}
        untried = tuple(name for one in np.flatnonzero(counts).tolist() if (name := names.name(one)) not in tried)
        reliability = {name: table.reliability(name, np.ones(len(table.directed), bool)) for name in methods}
        overall = {name: _weighted(rows, name, reliability[name]) for name in methods} if rows else {}
        size = (len(self.graph.connected_entities), self.graph.num_triples)
        return CheckResult(
            *size,
            tuple(methods),
            tuple(rows),
            overall,
            reliability,
            planned,
            untried,
            seed,
            seconds,
            stopped,
            dict(skipped),
        )


class _Table:
    """All batches in columns."""

    def __init__(self, batches: Sequence[_Batch], methods: Sequence[str]) -> None:
        self.methods = methods
        self.directed = _joined([batch.directed for batch in batches])
        self.asked = _joined([batch.directed[batch.owners] for batch in batches])
        self.relations = _undirected(self.asked)
        backwards: Any = is_inverse(self.asked)  # type: ignore[arg-type]
        sources, targets = (_joined([getattr(batch, name) for batch in batches]) for name in ("sources", "targets"))
        self.facts = np.stack([np.where(backwards, targets, sources), np.where(backwards, sources, targets)], axis=1)
        self.chance = _joined([batch.chance for batch in batches])
        self.metrics = {name: self._metrics([batch.found[name].ranks for batch in batches]) for name in methods}
        """By method, one row each: reciprocal rank, Hits@1, Hits@10."""
        self.first = {
            name: (
                _joined([batch.found[name].probability for batch in batches]),
                _joined([batch.found[name].is_true for batch in batches]).astype(bool),
            )
            for name in methods
        }

    @staticmethod
    def _metrics(ranks: Sequence[Ranks]) -> Floats:
        columns = [np.stack([1 / one.expected, one.hits_at(1), one.hits_at(TOP)]) for one in ranks]
        return np.concatenate([np.empty((3, 0)), *columns], axis=1)

    def row(self, relation: int, name: str, facts: int) -> RelationCheck:
        """The numbers of one relation."""
        mine, questions = self.relations == relation, _undirected(self.directed) == relation
        scores = {method: self._score(method, mine, questions) for method in self.methods}
        ends = {method: self._ends(method, relation) for method in self.methods}
        tried = len(np.unique(self.facts[mine], axis=0))
        return RelationCheck(name, facts, tried, float(self.chance[mine].mean()), scores, ends)

    def _score(self, method: str, mine: Mask, questions: Mask) -> CheckScore:
        return _score(self.metrics[method][:, mine].mean(axis=1), self.reliability(method, questions))

    def _ends(self, method: str, relation: int) -> dict[str, End]:
        found = {}
        for backwards, end in ((False, "tail"), (True, "head")):
            mine = self.asked == directed_relation(relation, backwards)
            if mine.any():
                hits = float(self.metrics[method][2, mine].mean())
                found[end] = End(int(mine.sum()), hits, float(self.chance[mine].mean()))
        return found

    def reliability(self, method: str, questions: Mask) -> ReliabilityCurve:
        """First predictions of some questions; one without a probability is none."""
        probability, is_true = self.first[method]
        chosen = questions & (probability > 0)
        reliability = Reliability()
        reliability.add(probability[chosen], is_true[chosen])
        return reliability.result()


def _joined(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(columns) if columns else np.empty(0, np.int64)


def _undirected(directed: NDArray[Any]) -> NDArray[Any]:
    relations: Any = undirected_relation(directed)  # type: ignore[arg-type]
    return np.asarray(relations)


def _score(ranks: Floats, found: ReliabilityCurve) -> CheckScore:
    """Means of reciprocal rank, Hits@1 and Hits@10, and what first predictions said; nothing if there were none."""
    mrr, hits_at_1, hits_at_10 = ranks.tolist()
    counts = np.array(found.counts)
    if not counts.any():
        return CheckScore(mrr, hits_at_1, hits_at_10, None, None, None)
    shares = [(counts * np.array(column)).sum() / counts.sum() for column in (found.probability, found.frequency)]
    return CheckScore(mrr, hits_at_1, hits_at_10, float(shares[0]), float(shares[1]), found.ece)


def _weighted(rows: Sequence[RelationCheck], method: str, found: ReliabilityCurve) -> CheckScore:
    """The means over relations, each as often as it has facts; probabilities are those of all questions."""
    weights = np.array([row.facts for row in rows], float)
    scores = [row.scores[method] for row in rows]
    columns = np.array([[score.mrr, score.hits_at_1, score.hits_at_10] for score in scores])
    return _score(np.average(columns, axis=0, weights=weights), found)
