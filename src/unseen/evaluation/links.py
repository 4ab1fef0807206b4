"""Link prediction as its papers measure it: every hidden triple asked from both of its ends.

For a hidden triple (h, r, t) there are two ranks: of t among all entities as answers to (h, r, ?), and of h as answers
to (?, r, t). Whatever else is known to be true is filtered out: all triples of the complete graph, observed or not.
The *candidates are all entities of the complete graph*, also those without an observed edge, and a metric is the mean
over *triples* and both directions; nothing is left out because a question has many answers. The type 1p differs in
each of these: its candidates have an observed edge, it is a mean over questions, and questions with more than 1,000
answers are none of it. Ties are counted as everywhere here (`ranking`); `by_rank` has the other readings.

Triples with the same end and relation share a question, so the method answers each question once.
Cost: one sort of the complete graph's edges with such an end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.query_table import QueryTable, Ragged
from unseen.evaluation.collectors import MeansPart, headline_metrics, metrics_of
from unseen.evaluation.query_sets import Questions, sample
from unseen.evaluation.results import HITS, RankMetrics
from unseen.graph.vocabulary import directed_relation, is_inverse
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.evaluation.collectors import ScoredBatch
    from unseen.graph import KnowledgeGraph

    Columns = tuple[NDArray[np.int64], NDArray[np.int64]]

LINKS = "links"
"""What this family of questions is called beside the query types."""
DIRECTIONS = ("tails", "heads")
RANKS = ("expected", "optimistic", "pessimistic")


def hidden_triples(dataset: Dataset, split: str) -> NDArray[np.int32]:
    """The triples of a split that are to be predicted; in training, where nothing is hidden, none."""
    sides = {"valid": dataset.split.valid_predict, "test": dataset.split.test_predict}
    return sides.get(split, dataset.split.train_graph[:0])


def link_questions(dataset: Dataset, split: str, limit: int | None = None, seed: int = 0) -> Questions:
    """All hidden triples of a split, or a fixed random sample of them, as questions from both ends, by relation."""
    triples = hidden_triples(dataset, split)
    triples = triples[sample(len(triples), limit, seed, LINKS)]
    complete = dataset.complete(split)
    asked, targets = _both_ways(triples[:, 0], triples[:, 1], triples[:, 2], complete)
    questions = np.unique(asked)
    wanted = np.unique(np.searchsorted(questions, asked) * complete.num_entities + targets)
    everything = _answers(questions, complete)
    others = np.setdiff1d(everything, wanted, assume_unique=True)
    relations, sources = np.divmod(questions, complete.num_entities)
    slots = np.stack([sources, relations], axis=1).astype(np.int32)
    rows = [_rows(packed, len(questions), complete.num_entities) for packed in (others, wanted)]
    table = QueryTable(SHAPES["1p"], slots, *rows)
    return Questions(dataset.observed(split), complete.connected_entities, table, table.hard, table.easy)


class LinkCollector:
    """Means over triples, in both directions together and in each."""

    def __init__(self) -> None:
        self.headline, self.directions = _AnswerMeans(), {name: _AnswerMeans() for name in DIRECTIONS}
        self.kinds = {kind: _AnswerMeans() for kind in RANKS}

    def seen(self, batch: ScoredBatch) -> dict[str, MeansPart]:
        """The metrics of both directions, of each, and of each kind of rank."""
        directed: Any = batch.table.slots[:, 1]
        backwards: Any = is_inverse(directed)
        owners = np.repeat(backwards, batch.wanted.lengths)
        metrics = headline_metrics(batch.ranks)
        found = {LINKS: _part(metrics, len(batch.table))}
        for name, chosen in zip(DIRECTIONS, (False, True), strict=True):
            found[name] = _part(metrics[:, owners == chosen], int((backwards == chosen).sum()))
        kinds = {kind: _part(metrics_of(getattr(batch.ranks, kind)), len(batch.table)) for kind in RANKS}
        return found | kinds

    def add(self, seen: dict[str, MeansPart]) -> None:
        """Take one batch."""
        for name, means in {LINKS: self.headline, **self.directions, **self.kinds}.items():
            means.add(seen[name])

    def fields(self) -> dict[str, Any]:
        """`metrics`, `triples`, `directions` and `by_rank`."""
        return {
            "metrics": self.headline.result(),
            "triples": self.directions["tails"].answers,
            "directions": {name: means.result() for name, means in self.directions.items()},
            "by_rank": {kind: means.result() for kind, means in self.kinds.items()},
        }


class _AnswerMeans:
    """Means over answers, however they are spread over questions."""

    def __init__(self) -> None:
        self.queries, self.answers, self._sums = 0, 0, np.zeros(1 + len(HITS))

    def add(self, part: MeansPart) -> None:
        """Take the share of one batch."""
        self._sums += part.sums
        self.queries += part.queries
        self.answers += part.answers

    def result(self) -> RankMetrics:
        return RankMetrics(self.queries, self.answers, *(self._sums / max(1, self.answers)).tolist())


def _part(values: NDArray[np.float64], queries: int) -> MeansPart:
    """The share of a batch in means over answers."""
    return MeansPart(values.sum(axis=1), queries, values.shape[1])


def _both_ways(heads: Any, relations: Any, tails: Any, graph: KnowledgeGraph) -> Columns:
    """Each edge from both ends: its question, a number that goes up with the directed relation, and its target."""
    wide: list[Any] = [np.asarray(column, np.int64) for column in (heads, relations, tails)]
    directed = np.concatenate([directed_relation(wide[1], inverse) for inverse in (False, True)])
    sources, targets = np.concatenate([wide[0], wide[2]]), np.concatenate([wide[2], wide[0]])
    return directed * graph.num_entities + sources, targets


def _answers(questions: NDArray[np.int64], graph: KnowledgeGraph) -> NDArray[np.int64]:
    """All answers of the questions in a graph, as sorted numbers: place of the question x entities + answer."""
    asked, targets = _both_ways(graph.heads, graph.relations, graph.tails, graph)
    places = np.minimum(np.searchsorted(questions, asked), max(0, len(questions) - 1))
    among = questions[places] == asked if len(questions) else np.zeros(len(asked), bool)
    return np.unique(places[among] * graph.num_entities + targets[among])


def _rows(packed: NDArray[np.int64], count: int, num_entities: int) -> Ragged:
    """Rows of answers from their sorted numbers."""
    owners, values = np.divmod(packed, max(1, num_entities))
    return Ragged.from_lengths(np.bincount(owners, minlength=count), values.astype(np.int32))
