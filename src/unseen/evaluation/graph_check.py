"""The check of a graph: facts are hidden, relation by relation, and asked for from both ends.

1. A round hides a tenth of the facts of every relation, but no more than are wanted of it. What is left is the graph
   that methods see; a method that learns from the graph, as rules do, learns from this one.
2. Questions come in turns, one of each relation and end, then the next of each, so that a check that ends early has
   tried all relations alike. Each batch is answered by every method before the next one begins.
3. Relations with few facts are tried in several rounds, each with other facts hidden.
4. A method that is too slow to be asked about every relation once in the time there is, is left out, if others are not.

With workers (`SpreadCheck`), batches have one size and several are answered at a time; each worker lets all methods
answer a batch, one after the other.

Other answers that are known to be true do not count as wrong (`links` says what is asked and filtered). Ranks and
probabilities are those of `estimate`, which is what `ask` shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from unseen.datasets.hidden_facts import hidden_by_relation, hidden_dataset
from unseen.errors import EvaluationError, Stopped, UnseenError
from unseen.evaluation.check_tally import Answered, CheckTally
from unseen.evaluation.evaluator import BATCH_CELLS, as_matrix
from unseen.evaluation.first_predictions import first_predictions
from unseen.evaluation.links import link_questions
from unseen.evaluation.ranking import filtered_ranks
from unseen.evaluation.reliability import checked_probabilities
from unseen.logic.stopping import stop_when

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.evaluation.check_result import CheckResult
    from unseen.evaluation.query_sets import Questions
    from unseen.graph import KnowledgeGraph
    from unseen.logic.protocols import Estimator

Opener = Callable[["KnowledgeGraph", float], "Estimator"]
"""Makes a method ready for a graph with facts hidden, in about so many seconds."""
Progress = Callable[[str, int, int], None]
"""Called with what is being done, the number of questions answered and of all."""
FIRST_BATCH, LARGEST_BATCH, QUICK = 8, 64, 0.5
"""Questions of the first batch and of the largest one; batches grow while one takes less than so many seconds."""
SPREAD_BATCH = 32
"""Questions of a batch for a worker, on a graph that is not too large."""
LARGE = 4_000_000
"""Triples, times questions of the first batch, at most."""
PATIENCE, TRIAL_BATCHES = 0.4, 2
"""The share of the time left that a method may take for its first batch, or for one question of each relation and end,
and the number of batches after which it is judged by that."""


@dataclass(frozen=True)
class CheckPiece:
    """A batch for a worker: which questions, and how many seconds each method may take for it."""

    start: int
    stop: int
    patience: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Tried:
    """What a method made of a batch, None if it was too slow; and the seconds a question."""

    answered: Answered | None
    seconds: float


class SpreadCheck(Protocol):
    """Answers batches elsewhere, several at a time."""

    @property
    def workers(self) -> int:
        """Batches that are answered at a time."""
        ...

    def answers(
        self, questions: Questions, methods: Mapping[str, Estimator], pieces: Iterable[CheckPiece], until: float
    ) -> Iterator[dict[str, Tried]]:
        """What every method made of each batch, in their order, until a time of the clock."""
        ...


@dataclass(frozen=True)
class CheckOptions:
    """How much is tried."""

    facts: int = 20
    """Most facts of each relation."""
    seconds: float = 120.0
    seed: int = 0
    rounds: int = 5
    """Most rounds of hiding; further ones only serve relations with few facts."""

    def __post_init__(self) -> None:
        if self.facts < 1 or self.rounds < 1 or not self.seconds > 0:
            raise EvaluationError("a check needs at least one fact of each relation, one round and some time")


class GraphCheck:
    """A check that runs until all is tried or time is up; `result` says what is known at any moment."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        openers: Mapping[str, Opener],
        options: CheckOptions,
        progress: Progress | None = None,
        spread: SpreadCheck | None = None,
    ) -> None:
        self.graph, self.openers, self.options, self.spread = graph, dict(openers), options, spread
        self.progress = progress or (lambda _label, _done, _total: None)
        self.rounds = hidden_by_relation(graph, options.facts, options.seed, options.rounds)
        if not self.rounds:
            raise EvaluationError(
                f"nothing can be hidden in a graph of {graph.num_triples:,} facts: a check needs a relation with five "
                "facts or more whose entities have others"
            )
        self.skipped: dict[str, str] = {}
        self.tally = CheckTally(graph)
        self._begun, self._size = time.monotonic(), max(1, min(FIRST_BATCH, LARGE // graph.num_triples))
        self._seconds: dict[str, float] = {}
        """By method: the least time that a question took in a batch."""
        self._stopped: str | None = "interrupted"

    def run(self) -> None:
        """Try everything, as far as time allows; an interrupt leaves what is known by then."""
        self._begun = time.monotonic()
        with stop_when(lambda: self.left() <= 0):
            try:
                for number, hidden in enumerate(self.rounds):
                    self._try_round(number, hidden)
                self._stopped = None
            except Stopped:
                self._stopped = "time"
        if not self.tally.answered and self._stopped == "time":
            raise EvaluationError(
                f"{self.options.seconds:g} seconds were too few to try a single fact: "
                "give the check more time, or name a quicker method"
            )

    def left(self) -> float:
        """Seconds until time is up."""
        return self._begun + self.options.seconds - time.monotonic()

    def result(self) -> CheckResult:
        """What is known by now."""
        planned = sum(int(hidden.sum()) for hidden in self.rounds)
        methods = tuple(name for name in self.openers if name not in self.skipped)
        spent = time.monotonic() - self._begun
        return self.tally.result(methods, planned, self.options.seed, spent, self._stopped, self.skipped)

    def _try_round(self, number: int, hidden: NDArray[np.bool_]) -> None:
        dataset = hidden_dataset(self.graph, hidden)
        questions = in_turns(link_questions(dataset, "test"), self.options.seed + number)
        methods = {}
        for name in [name for name in self.openers if name not in self.skipped]:
            self._tell(f"preparing {name}")
            opened = self._opened(name, questions.graph)
            if opened is not None:
                methods[name] = opened
        kinds = len(np.unique(questions.table.slots[:, 1]))
        if self.spread is not None:
            self._answer_spread(questions, methods, kinds, self.spread)
            return
        start = 0
        while start < len(questions):
            size = max(1, min(self._size, BATCH_CELLS // max(1, self.graph.num_entities)))
            self._answer(questions.take(np.arange(start, min(start + size, len(questions)))), methods)
            start += size
            if self.tally.batches == TRIAL_BATCHES:
                self._drop_slow(methods, kinds)

    def _answer_spread(
        self, questions: Questions, methods: dict[str, Estimator], kinds: int, spread: SpreadCheck
    ) -> None:
        """All batches of a round by workers; methods that are too slow are left out of the batches that follow."""
        wanted = SPREAD_BATCH if self._size == FIRST_BATCH else self._size
        size = max(1, min(wanted, BATCH_CELLS // max(1, self.graph.num_entities)))
        handed_out: list[CheckPiece] = []

        def pieces() -> Iterator[CheckPiece]:
            for start in range(0, len(questions), size):
                patience = {name: self._patience(name, methods) for name in methods}
                handed_out.append(CheckPiece(start, min(start + size, len(questions)), patience))
                yield handed_out[-1]

        self._tell("asking")
        answers = spread.answers(questions, dict(methods), pieces(), self._begun + self.options.seconds)
        with closing(answers):  # type: ignore[type-var]
            for place, found in enumerate(answers):
                piece = handed_out[place]
                self._take(questions.take(np.arange(piece.start, piece.stop)), found, methods)
                if self.tally.batches == TRIAL_BATCHES:
                    self._drop_slow(methods, kinds // spread.workers)
        if self.left() <= 0:
            raise Stopped

    def _take(self, part: Questions, found: dict[str, Tried], methods: dict[str, Estimator]) -> None:
        """One batch that a worker has answered by every method."""
        for name, tried in found.items():
            if tried.answered is not None:
                self._seconds[name] = min(tried.seconds, self._seconds.get(name, tried.seconds))
            elif name in methods and len(methods) > 1 and self.left() > 0:
                self._leave_out(name, methods, tried.seconds)
        answers = {name: tried.answered for name, tried in found.items() if tried.answered is not None}
        if all(name in answers for name in methods):
            self.tally.add(part, answers)
        self._tell("asking")

    def _opened(self, name: str, graph: KnowledgeGraph) -> Estimator | None:
        """A method that is ready; one that refuses the graph is left out if there are others."""
        try:
            return self.openers[name](graph, self.left())
        except Stopped:
            raise
        except UnseenError as error:
            if len(self.openers) == len(self.skipped) + 1:
                raise
            self.skipped[name] = str(error)
            return None

    def _answer(self, part: Questions, methods: dict[str, Estimator]) -> None:
        """One batch by every method; it counts when all have answered."""
        begun, found = time.monotonic(), {}
        for name in list(methods):
            self._tell(f"asking {name}")
            answers = self._answered(name, part, methods)
            if answers is not None:
                found[name] = answers
        self.tally.add(part, found)
        if time.monotonic() - begun < QUICK * len(methods):
            self._size = min(2 * self._size, LARGEST_BATCH)

    def _answered(self, name: str, part: Questions, methods: dict[str, Estimator]) -> Answered | None:
        """One batch by one method; a method that does not come to the end of its first batch is left out."""
        begun = time.monotonic()
        if self.left() <= 0:
            raise Stopped
        patience = self._patience(name, methods)
        try:
            with stop_when(lambda: time.monotonic() > begun + patience):
                found = answered(methods[name], part)
        except Stopped:
            if self.left() <= 0 or len(methods) == 1:
                raise
            self._leave_out(name, methods, (time.monotonic() - begun) / len(part))
            return None
        seconds = (time.monotonic() - begun) / len(part)
        self._seconds[name] = min(seconds, self._seconds.get(name, seconds))
        return found

    def _patience(self, name: str, methods: Mapping[str, Estimator]) -> float:
        """Seconds that a method may take for a batch; less for its first one if there are others."""
        left = self.left()
        return left if name in self._seconds or len(methods) == 1 else PATIENCE * left

    def _drop_slow(self, methods: dict[str, Estimator], kinds: int) -> None:
        """Leave out methods that would need too long for one question of each relation and end."""
        for name in [name for name in methods if self._seconds[name] * kinds > PATIENCE * self.left()]:
            if len(methods) > 1:
                self._leave_out(name, methods, self._seconds[name])

    def _leave_out(self, name: str, methods: dict[str, Estimator], seconds: float) -> None:
        del methods[name]
        self.skipped[name] = (
            f"a question takes {seconds:.1f} s or more; "
            f"`--method {name}` tries it alone, with more `--seconds` beside the others"
        )

    def _tell(self, label: str) -> None:
        planned = 2 * sum(int(hidden.sum()) for hidden in self.rounds)
        self.progress(label, self.tally.answered, planned)


def answered(method: Estimator, part: Questions) -> Answered:
    """What a method makes of a batch: the ranks of wanted answers, and its first prediction for each question."""
    queries = [part.table.query(row) for row in range(len(part))]
    values = as_matrix(method.estimate(part.graph, queries).stacked(queries), len(queries), part.graph.num_entities)
    values = checked_probabilities(values)
    ranks = filtered_ranks(values, part.wanted, part.others, part.candidates)
    first, is_true = first_predictions(values, part, 1)
    return Answered(ranks, first[:, 0].astype(np.float64), is_true[:, 0])


def in_turns(questions: Questions, seed: int) -> Questions:
    """The same questions: one of each directed relation, then another of each, and so on."""
    directed = questions.table.slots[:, 1]
    order = np.random.default_rng(seed).permutation(len(questions))
    order = order[np.argsort(directed[order], kind="stable")]
    starts = np.searchsorted(directed[order], directed[order])
    turn = np.arange(len(order)) - starts
    return questions.take(order[np.argsort(turn, kind="stable")])
