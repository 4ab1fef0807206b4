"""Any method on any questions with known answers, batch by batch.

```python
from unseen.datasets.dataset import Dataset
from unseen.evaluation.evaluator import Options, evaluate

result = evaluate(method, Dataset.open("fb15k-237-175"), "test", Options(limit=2000))
print(result.averages["avg_p"]["hits_at_10"])
```

A method is anything with `answer(graph, queries) -> scores [query, entity]`; one that also has `estimate` can be
measured on its probabilities too. Memory is bounded by one batch of scores; on a large graph by one block of them, if
the method has `score_blocks` (see `streaming`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unseen.errors import EvaluationError
from unseen.evaluation.collectors import (
    Collector,
    EstimateCollector,
    GroupCollector,
    RankCollector,
    RocCollector,
    ScoredBatch,
    changes,
    half_links,
    strata,
)
from unseen.evaluation.links import LINKS, LinkCollector, link_questions
from unseen.evaluation.query_sets import Questions, hard_answers, sample, training_answers
from unseen.evaluation.ranking import filtered_ranks, scores_at
from unseen.evaluation.results import EPFO, NEGATION, NOTHING, Result, TypeResult
from unseen.evaluation.streaming import streamed_ranks
from unseen.logic.protocols import BlockwiseAnswerer, Estimator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.logic.protocols import Answerer

Progress = Callable[[str, int, int], None]
"""Called with a label, the number of queries done and the number of all."""

Spread = Callable[["PreparedQuestions", Sequence["MeasuredPiece"]], Iterator[list[Any]]]
"""Measures pieces elsewhere: what their collectors have seen, in the order of the pieces."""

QUERIES = "queries"
"""The group of the split's own queries, beside those of training queries by graph."""

BATCH_CELLS = 1 << 22
"""Scores in one batch unless a batch size is asked for: 16 MB a matrix."""

STREAMED_FROM, STREAMED_QUERIES = 200_000, 256
"""Entities above which scores are taken block by block if the method offers it, and then the queries of a batch."""


@dataclass(frozen=True)
class Options:
    """What to measure, and on how many queries; refused if it is nothing, or if what is asked for has no queries."""

    types: tuple[str, ...] | None = None
    """Names of the shapes; all that the dataset has by default, none if empty."""
    limit: int | None = None
    """Most queries a type (or triples): a fixed random sample, and a smaller sample is part of a larger one."""
    seed: int = 0
    """Of the sample."""
    batch_size: int | None = None
    """Queries answered at once; by default as many as make four million scores."""
    strata: bool = False
    """Break down by the number of missing links."""
    training_queries: bool = False
    """Faithfulness: training queries on the training graph and on the split's larger one."""
    probabilities: bool = False
    """Numbers of answers and calibration."""
    links: bool = False
    """Link prediction: every hidden triple from both of its ends."""

    def __post_init__(self) -> None:
        if self.types != ():
            return
        if not self.links:
            raise EvaluationError("nothing is asked for: name query types, or links")
        extras = {"strata": self.strata, "training queries": self.training_queries, "probabilities": self.probabilities}
        asked = ", ".join(name for name, is_asked in extras.items() if is_asked)
        if asked:
            problem = f"links alone have no {asked}: these are measured on questions"
            raise EvaluationError(f"{problem}. Name query types too, such as `--types all,links`")


def evaluate(  # noqa: PLR0913  # all but the first three say how, not what
    method: Answerer,
    dataset: Dataset,
    split: str = "test",
    options: Options | None = None,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    spread: Spread | None = None,
) -> Result:
    """Measure a method on the queries of one split; `name` is what the result calls it.

    `spread` lets other processes answer; the numbers are the same.
    """
    options = options or Options()
    evaluation = _Evaluation(method, dataset, split, options)
    results = evaluation.run(progress or (lambda _label, _done, _total: None), spread)
    return Result(
        method=name or type(method).__name__,
        dataset=dataset.name,
        split=split,
        types=results.get(QUERIES, {}),
        links=results.get(LINKS, {}).get(LINKS),
        training_queries=_with_changed(results, split),
        ratio=_ratio(dataset),
        candidates=_num_candidates(dataset, split, options),
        seed=options.seed,
        limit=options.limit,
    )


def measure(
    method: Answerer,
    questions: Questions,
    collectors: Sequence[Collector],
    batch_size: int | None = None,
) -> TypeResult:
    """Answer the questions batch by batch and let every collector see each batch once."""
    for part in questions.batches(batch_size or batch_size_of(method, questions, collectors)):
        for collector, seen in zip(collectors, seen_in(method, part, collectors), strict=True):
            collector.add(seen)
    return _result(collectors)


def batch_size_of(method: Answerer, questions: Questions, collectors: Sequence[Collector]) -> int:
    """How many questions are answered at once."""
    if _is_streamed(method, questions, collectors):
        return STREAMED_QUERIES
    return max(1, BATCH_CELLS // max(1, questions.graph.num_entities))


def seen_in(method: Answerer, part: Questions, collectors: Sequence[Collector]) -> list[Any]:
    """What the collectors see in one batch that a method answers."""
    is_streamed = _is_streamed(method, part, collectors)
    batch = (
        _streamed(method, part) if is_streamed and isinstance(method, BlockwiseAnswerer) else _answered(method, part)
    )
    return [collector.seen(batch) for collector in collectors]


def _is_streamed(method: Answerer, questions: Questions, collectors: Sequence[Collector]) -> bool:
    needs_all = any(isinstance(collector, EstimateCollector) for collector in collectors)
    return isinstance(method, BlockwiseAnswerer) and questions.graph.num_entities > STREAMED_FROM and not needs_all


def _result(collectors: Sequence[Collector]) -> TypeResult:
    return TypeResult(**{key: value for collector in collectors for key, value in collector.fields().items()})


class MeasuredPiece(NamedTuple):
    """Questions that are answered together: their group and shape, and which of them."""

    group: str
    shape: str
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class PreparedQuestions:
    """All questions of an evaluation by group and shape, with what is measured on each; without the method."""

    questions: Mapping[tuple[str, str], Questions]
    collectors: Mapping[tuple[str, str], Sequence[Collector]]

    def pieces(self, method: Answerer, batch_size: int | None) -> list[MeasuredPiece]:
        """All questions in batches, in order."""
        found = []
        for key, questions in self.questions.items():
            size = batch_size or batch_size_of(method, questions, self.collectors[key])
            found += [MeasuredPiece(*key, at, min(at + size, len(questions))) for at in range(0, len(questions), size)]
        return found

    def seen(self, method: Answerer, piece: MeasuredPiece) -> list[Any]:
        """What the collectors of a piece see when a method answers it."""
        key = (piece.group, piece.shape)
        return seen_in(method, self.questions[key].take(np.arange(piece.start, piece.stop)), self.collectors[key])

    def add(self, piece: MeasuredPiece, seen: Sequence[Any]) -> None:
        """Let the collectors take what they have seen in a piece."""
        for collector, one in zip(self.collectors[piece.group, piece.shape], seen, strict=True):
            collector.add(one)

    def results(self) -> dict[str, dict[str, TypeResult]]:
        """The results by group and shape."""
        found: dict[str, dict[str, TypeResult]] = {}
        for (group, shape), collectors in self.collectors.items():
            found.setdefault(group, {})[shape] = _result(collectors)
        return found


class _Evaluation:
    """One run: all questions are drawn up first, so that progress knows its end."""

    def __init__(self, method: Answerer, dataset: Dataset, split: str, options: Options) -> None:
        self.method, self.dataset, self.split, self.options = method, dataset, split, options
        self.groups = self._groups()

    def run(self, progress: Progress, spread: Spread | None) -> dict[str, dict[str, TypeResult]]:
        """The results by group and shape."""
        prepared = self._prepared()
        pieces, done = prepared.pieces(self.method, self.options.batch_size), 0
        total = sum(len(questions) for questions in prepared.questions.values())
        found = (prepared.seen(self.method, piece) for piece in pieces) if spread is None else spread(prepared, pieces)
        for piece, seen in zip(pieces, found, strict=True):
            prepared.add(piece, seen)
            done += piece.stop - piece.start
            label = piece.shape if piece.group in (QUERIES, LINKS) else f"{piece.shape}, training queries"
            progress(label, done, total)
        return prepared.results()

    def _prepared(self) -> PreparedQuestions:
        questions = {(group, shape): some for group, shapes in self.groups.items() for shape, some in shapes.items()}
        return PreparedQuestions(questions, {key: self._collectors(key[0], some) for key, some in questions.items()})

    def _groups(self) -> dict[str, dict[str, Questions]]:
        """The questions by group and shape: the split's own, then training queries on each graph."""
        groups = {LINKS: {LINKS: self._links()}} if self.options.links else {}
        if self.options.types == ():
            return groups
        groups[QUERIES] = self._drawn(hard_answers, self.split, self.split)
        if self.options.training_queries:
            self._require_training_answers()
            groups["train"] = self._drawn(hard_answers, "train", "train")
            groups[f"{self.split}_all"] = self._drawn(training_answers, self.split, "train")
        return groups

    def _links(self) -> Questions:
        questions = link_questions(self.dataset, self.split, self.options.limit, self.options.seed)
        if not len(questions):
            raise EvaluationError(
                f"nothing is hidden in the {self.split} split of {self.dataset.name}: no link to ask for"
            )
        return questions

    def _drawn(self, draw: Callable[[Dataset, str, str], Questions], split: str, tables: str) -> dict[str, Questions]:
        """The sampled questions of every wanted shape that the tables have."""
        drawn = {shape: draw(self.dataset, split, shape) for shape in self._shapes(tables)}
        limit, seed = self.options.limit, self.options.seed
        return {shape: some.take(sample(len(some), limit, seed, shape)) for shape, some in drawn.items()}

    def _shapes(self, tables: str) -> list[str]:
        """The wanted types, in the paper's order, then others."""
        available = list(self.dataset.tables.get(tables, {}))
        wanted = self.options.types or available
        if not available:
            problem = f"the dataset {self.dataset.name} has no {tables} queries: `unseen sample` makes some"
            raise EvaluationError(f"{problem}, and `--types links` asks for the hidden triples themselves")
        for shape in wanted:
            if shape not in available:
                raise EvaluationError(f"there are no {tables} queries of type {shape}, only {', '.join(available)}")
        known = [shape for shape in (*EPFO, *NEGATION) if shape in available]
        return [shape for shape in dict.fromkeys([*known, *available]) if shape in wanted]

    def _require_training_answers(self) -> None:
        if self.split == "train":
            raise EvaluationError("training queries are compared with a larger graph: choose the split valid or test")
        if self.split not in self.dataset.training_answers:
            raise EvaluationError(f"the dataset has no answers of its training queries on the {self.split} graph")

    def _collectors(self, group: str, questions: Questions) -> list[Collector]:
        if group == LINKS:
            return [LinkCollector()]
        if group != QUERIES:
            return [RankCollector(), GroupCollector("by_change", changes)]
        collectors: list[Collector] = [RankCollector()]
        if self.split != "train":
            collectors += self._hard_answer_collectors(questions)
        if self.options.probabilities:
            self._check_estimator()
            collectors.append(EstimateCollector(self.dataset.complete(self.split), questions.candidates))
        return collectors

    def _hard_answer_collectors(self, questions: Questions) -> list[Collector]:
        """What only makes sense where some answers are hard."""
        collectors: list[Collector] = [RocCollector()]
        if questions.table.shape.template == "e/r":
            collectors.append(GroupCollector("half_links", half_links))
        if self.options.strata:
            collectors.append(GroupCollector("strata", partial(strata, self.dataset.complete(self.split))))
        return collectors

    def _check_estimator(self) -> None:
        if not isinstance(self.method, Estimator):
            raise EvaluationError(f"the method {type(self.method).__name__} gives scores, but no probabilities")


def _with_changed(results: dict[str, dict[str, TypeResult]], split: str) -> dict[str, dict[str, TypeResult]]:
    """The training queries' results, with those of changed queries alone as a group of their own."""
    groups = {group: types for group, types in results.items() if group not in (QUERIES, LINKS)}
    if f"{split}_all" in groups:
        everything = groups[f"{split}_all"]
        groups[split] = {
            shape: TypeResult(result.by_change.get("changed", NOTHING)) for shape, result in everything.items()
        }
    return groups


def _answered(method: Answerer, questions: Questions) -> ScoredBatch:
    """One batch with its scores and ranks."""
    queries = [questions.table.query(row) for row in range(len(questions))]
    scores = as_matrix(method.answer(questions.graph, queries), len(queries), questions.graph.num_entities)
    wanted, others = questions.wanted, questions.others
    ranks = filtered_ranks(scores, wanted, others, questions.candidates)
    found = (wanted, scores_at(scores, wanted), others, scores_at(scores, others))
    return ScoredBatch(method, questions.graph, questions.table, queries, *found, ranks)


def _streamed(method: BlockwiseAnswerer, questions: Questions) -> ScoredBatch:
    """One batch with its ranks, whose scores came and went block by block."""
    queries = [questions.table.query(row) for row in range(len(questions))]
    blocks = method.score_blocks(questions.graph, queries)
    wanted, others = questions.wanted, questions.others
    found = streamed_ranks(blocks, wanted, others, questions.candidates)
    scores = (wanted, found.wanted_scores, others, found.other_scores)
    return ScoredBatch(method, questions.graph, questions.table, queries, *scores, found.ranks)


def as_matrix(scores: Any, num_queries: int, num_entities: int) -> NDArray[np.floating[Any]]:
    """Scores of any device and width as an array on this machine; another size than expected is an error."""
    if tuple(scores.shape) != (num_queries, num_entities):
        raise EvaluationError(
            f"the method gave {tuple(scores.shape)} scores for {num_queries} queries x {num_entities} entities"
        )
    scores = scores.detach().cpu()
    matrix: NDArray[np.floating[Any]] = (scores if scores.dtype.itemsize >= 4 else scores.float()).numpy()
    return matrix


def _num_candidates(dataset: Dataset, split: str, options: Options) -> int:
    """How many entities are ranked; links alone rank those of the complete graph too."""
    return len(dataset.complete(split).connected_entities if options.types == () else dataset.candidates(split))


def _ratio(dataset: Dataset) -> float | None:
    """The dataset's own word for its ratio; else none."""
    ratio = dataset.manifest.get("ratio")
    return float(ratio) if isinstance(ratio, int | float) else None
