"""Answers with names: what the graph says, then what it implies, for all questions of a batch together.

What every question would do alone is done once for all: one traversal, which computes equal sub-questions once; one
ranking of all rows; one look-up of all names. Cost a question: its known answers, and a few passes over all entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from unseen.logic.choose import Ranked, largest_in_rows, largest_of
from unseen.logic.stopping import check_stop
from unseen.logic.traverse import Traversal

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.choose import Ids, Values
    from unseen.logic.execute import Execution

    Explanation = tuple[dict[str, str], tuple[tuple[str, str, str], ...]]

DEFAULT_TOP = 10
MOST_CELLS = 1 << 24
"""Memberships that are ranked together."""


@dataclass(frozen=True)
class Answer:
    """One answer: an entity, whether the graph says so itself, and how likely it is."""

    rank: int
    entity: str
    known: bool
    probability: float
    bindings: dict[str, str] = field(default_factory=dict)
    """With `explain`: for each inner variable its value in a proof (known) or its likeliest value (predicted)."""
    edges: tuple[tuple[str, str, str], ...] = ()
    """With `explain`, for known answers: the edges that prove it."""
    key: str = field(default="", compare=False, repr=False)
    """The unique key of the entity: its full IRI, or its name in the file."""


@dataclass(frozen=True)
class Answers(Sequence[Answer]):
    """The answers to one question, best first; known ones before predicted ones."""

    query: str
    method: str
    graph: Counted
    """What was asked; from a server, only its counts."""
    known: int
    """How many answers the graph itself gives, shown or not."""
    answers: tuple[Answer, ...]
    warnings: tuple[str, ...] = ()
    """What to know about the predictions, such as relations that cannot be predicted."""

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Answer, ...]: ...
    def __getitem__(self, index: int | slice) -> Answer | tuple[Answer, ...]:
        return self.answers[index]

    def __len__(self) -> int:
        return len(self.answers)

    def as_json(self) -> dict[str, Any]:
        """The answers as plain data, the form of `unseen ask --json`."""
        graph = self.graph
        counts = {"entities": graph.num_entities, "relations": graph.num_relations, "triples": graph.num_triples}
        answers = [_answer_json(answer) for answer in self.answers]
        plain = {"query": self.query, "method": self.method, "graph": counts, "known": self.known, "answers": answers}
        return plain | ({"warnings": list(self.warnings)} if self.warnings else {})


class Counted(Protocol):
    """Whatever says how many entities, relations and triples it has."""

    @property
    def num_entities(self) -> int: ...  # noqa: D102
    @property
    def num_relations(self) -> int: ...  # noqa: D102
    @property
    def num_triples(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Question:
    """A question bound to one graph, and what is wanted of its answers."""

    text: str
    query: Query
    """With the ids of the graph."""
    top: int = DEFAULT_TOP
    explain: bool = False
    predicted_only: bool = False


def answers_of(
    graph: KnowledgeGraph, questions: Sequence[Question], execution: Execution | None, method_name: str
) -> list[Answers]:
    """The answers to questions whose execution is done; without one, known answers only."""
    return _Asking(graph, questions, execution).answers(method_name)


class _Asking:
    """Questions on one graph; without an execution, only what the graph says."""

    def __init__(self, graph: KnowledgeGraph, questions: Sequence[Question], execution: Execution | None) -> None:
        self.graph, self.questions, self.execution = graph, questions, execution
        self.traversal = Traversal(graph) if execution is None else execution.traversal
        self.is_candidate = np.zeros(graph.num_entities, bool)
        self.is_candidate[graph.connected_entities] = True
        self.known = [self._known(question) for question in questions]

    def answers(self, method: str) -> list[Answers]:
        """All answers, with names that are looked up together."""
        size = max(1, MOST_CELLS // max(1, self.graph.num_entities))
        starts = range(0, len(self.questions), size)
        ranked = [one for start in starts for one in self._ranked(slice(start, start + size))]
        shown = [entity for known, predicted in ranked for entity, _ in (*known, *predicted)]
        names = dict(zip(shown, self.graph.vocabulary.entities.named(shown), strict=True))
        return [
            Answers(question.text, method, self.graph, len(found), self._answers(question, *one, names))
            for question, found, one in zip(self.questions, self.known, ranked, strict=True)
        ]

    def _known(self, question: Question) -> Ids:
        members = self.traversal.members(question.query)
        return members[self.is_candidate[members]]

    def _ranked(self, part: slice) -> list[tuple[Ranked, Ranked]]:
        """For some questions the known answers and the predicted ones, each the most probable first.

        Known answers have a probability too: negation makes them less than certain.
        """
        check_stop()
        questions, found = self.questions[part], self.known[part]
        if self.execution is None:
            certain = [np.ones(len(members), np.float32) for members in found]
            return [(known, []) for known in self._ranked_known(questions, found, certain)]
        values = self.execution.stacked([question.query for question in questions]).float().cpu().numpy()
        probable = [row[members] for row, members in zip(values, found, strict=True)]
        known = self._ranked_known(questions, found, probable)
        others = values * self.is_candidate
        for row, members in zip(others, found, strict=True):
            row[members] = 0
        counts = [question.top - len(one) for question, one in zip(questions, known, strict=True)]
        return list(zip(known, largest_in_rows(others, counts), strict=True))

    def _ranked_known(
        self, questions: Sequence[Question], found: Sequence[Ids], values: Sequence[Values]
    ) -> list[Ranked]:
        return [
            [] if question.predicted_only else largest_of(members, probable, question.top)
            for question, members, probable in zip(questions, found, values, strict=True)
        ]

    def _answers(
        self, question: Question, known: Ranked, predicted: Ranked, names: dict[int, tuple[str, str]]
    ) -> tuple[Answer, ...]:
        ranked = [(*pair, True) for pair in known] + [(*pair, False) for pair in predicted]
        explained = self._explained if question.explain else _unexplained
        return tuple(
            Answer(
                rank,
                names[entity][0],
                is_known,
                probability,
                *explained(question.query, entity, is_known),
                names[entity][1],
            )
            for rank, (entity, probability, is_known) in enumerate(ranked, start=1)
        )

    def _explained(self, query: Query, entity: int, known: bool) -> Explanation:
        """Values of the inner variables and, for what is known, the edges that prove it."""
        check_stop()
        name, relation_name = self.graph.vocabulary.entity_name, self.graph.vocabulary.relations.name
        if known:
            witness = self.traversal.witness(query, entity)
            edges = tuple((name(head), relation_name(relation), name(tail)) for head, relation, tail in witness.edges)
            return {variable: name(value) for variable, value in witness.bindings.items()}, edges
        assert self.execution is not None  # noqa: S101 - only an execution predicts
        best = self.execution.best_bindings(query, entity)
        return {variable: name(value) for variable, (value, _) in best.items()}, ()


def _unexplained(*_: object) -> Explanation:
    return {}, ()


def _answer_json(answer: Answer) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "rank": answer.rank,
        "entity": answer.entity,
        "known": answer.known,
        "probability": round(answer.probability, 6),
        "bindings": answer.bindings,
    }
    if answer.edges:
        plain["edges"] = [list(edge) for edge in answer.edges]
    return plain
