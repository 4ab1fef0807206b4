"""A file of questions, answered into a table: in batches, and again from where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from unseen import api
from unseen.asking.answers import Answers
from unseen.asking.preparing import prepare, prepare_exactly
from unseen.asking.repairs import repairing
from unseen.bulk.answer_table import AnswerParts, Row, answer_rows
from unseen.bulk.question_files import AskedQuestion
from unseen.errors import Stopped, UnseenError

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.asking.answers import Question
    from unseen.client import Client
    from unseen.graph import KnowledgeGraph
    from unseen.logic.method import Method

MOST_TOGETHER = 64
"""Questions that are answered together, and kept together."""
MOST_CELLS = 1 << 24
"""Memberships of one batch, each question counted once."""

Results = list[Answers | UnseenError]
Batch = Sequence[AskedQuestion]
"""Questions that are asked together."""
SpreadAnswers = Callable[[Sequence[Batch]], Iterable[tuple[int, list[Row]]]]
"""Gives the place and the rows of each of some batches, in any order."""


class Asker(Protocol):
    """Something that answers the questions of a batch, each with its answers or its error."""

    @property
    def identity(self) -> dict[str, Any]:
        """What graph is asked, and how: answers to another one are never mixed with these."""

    @property
    def batch(self) -> int:
        """How many questions to ask together."""

    def ask(self, questions: Sequence[AskedQuestion]) -> Results:
        """The answers to some questions."""


class GraphAsker:
    """Questions to a graph in memory, a batch by one call of the method."""

    def __init__(self, graph: KnowledgeGraph, method: str | None = None, **options: Any) -> None:
        self.graph, self.name = graph, method or api.default_method()
        self.options_given = dict(options)
        self.all_predictions = bool(options.pop("all_predictions", False))
        self.options = options
        self.method: Method | None = None if self.name == "exact" else api.open_method(self.name)
        if self.method is not None:
            api.check_memory(self.method, graph)

    @property
    def identity(self) -> dict[str, Any]:
        """The edges by their numbers, the method and the options."""
        edges = hashlib.sha256()
        for column in (self.graph.heads, self.graph.relations, self.graph.tails):
            edges.update(column.tobytes())
        how = {**self.options, "all_predictions": self.all_predictions}
        return {"graph": edges.hexdigest(), "method": self.name, **{name: how[name] for name in sorted(how)}}

    @property
    def batch(self) -> int:
        """Fewer on large graphs."""
        return max(1, min(MOST_TOGETHER, MOST_CELLS // max(1, self.graph.num_entities)))

    def ask(self, questions: Sequence[AskedQuestion]) -> Results:
        """The answers by one call of the method; a question that cannot be asked has its own error."""
        prepared = [self._prepared(question) for question in questions]
        bound = [one for one in prepared if not isinstance(one, UnseenError)]
        answers = iter(self._answered(bound))
        return [one if isinstance(one, UnseenError) else next(answers) for one in prepared]

    def _prepared(self, question: AskedQuestion) -> Question | UnseenError:
        if question.problem:
            return UnseenError(question.problem)
        options = self.options | ({} if question.top is None else {"top": question.top})
        try:
            with repairing(self.graph, question.text, options.get("type_relation")):
                return (prepare_exactly if self.method is None else prepare)(self.graph, question.text, **options)
        except UnseenError as error:
            return error

    def _answered(self, questions: Sequence[Question]) -> Results:
        """Answers of one call; if the method refuses one question, of a call for each."""
        if not questions:
            return []
        try:
            found = api.ask_all(self.graph, questions, self.method, self.name)
        except Stopped:
            raise
        except UnseenError as error:
            if len(questions) == 1:
                return [error]
            return [result for question in questions for result in self._answered([question])]
        return [self._cautioned(*pair) for pair in zip(questions, found, strict=True)]

    def _cautioned(self, question: Question, answers: Answers) -> Answers:
        if self.method is None or self.all_predictions:
            return answers
        from unseen.asking.cautions import cautions_for

        return cautions_for(self.graph, self.method, self.name).applied(answers, question.query, self.graph)


class ServerAsker:
    """Questions to a server, one after the other."""

    batch = MOST_TOGETHER

    def __init__(self, client: Client, **options: Any) -> None:
        self.client, self.options = client, options

    @property
    def identity(self) -> dict[str, Any]:
        """The address; the graph behind it may change."""
        return {"server": self.client.url, **{name: self.options[name] for name in sorted(self.options)}}

    def ask(self, questions: Sequence[AskedQuestion]) -> Results:
        """The answers of the server; what it refuses is the error of that question, unless it does not answer."""
        return [self._asked(question) for question in questions]

    def _asked(self, question: AskedQuestion) -> Answers | UnseenError:
        from unseen.errors import ServerError

        if question.problem:
            return UnseenError(question.problem)
        options = self.options | ({} if question.top is None else {"top": question.top})
        try:
            return self.client.ask(question.text, **options)
        except ServerError as error:
            if error.status is None or error.status in (401, 403, 429) or error.status >= 500:
                raise
            return error
        except UnseenError as error:
            return error


def answer_file(
    questions: Sequence[AskedQuestion],
    asker: Asker,
    output: Path,
    *,
    restart: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    spread: SpreadAnswers | None = None,
) -> int:
    """Answer questions into a Parquet table, and return how many were answered by an earlier, interrupted call.

    `spread` answers batches elsewhere, in place of the asker; the table is the same.
    """
    parts = AnswerParts(output, asker.identity | {"questions": _digest(questions)}, restart=restart)
    batches = [questions[start : start + asker.batch] for start in range(0, len(questions), asker.batch)]
    left = [number for number in range(len(batches)) if not parts.has(number)]
    done = kept = len(questions) - sum(len(batches[number]) for number in left)
    progress(done, len(questions))
    for place, rows in (spread or _in_order(asker))([batches[number] for number in left]):
        parts.write(left[place], rows)
        done += len(batches[left[place]])
        progress(done, len(questions))
    parts.finish(len(batches))
    return kept


def _in_order(asker: Asker) -> SpreadAnswers:
    """Batches answered one after the other, here."""

    def answered(batches: Sequence[Batch]) -> Iterator[tuple[int, list[Row]]]:
        for place, batch in enumerate(batches):
            yield place, list(answer_rows(batch, asker.ask(batch)))

    return answered


def _digest(questions: Sequence[AskedQuestion]) -> str:
    """A number that tells files of questions apart."""
    return hashlib.sha256(repr([(one.text, one.name, one.top) for one in questions]).encode()).hexdigest()
