"""Answers with names: known ones first, then predicted ones, for all questions of a batch together.

A batch has one traversal, which computes equal sub-questions once, one ranking of all rows, and one look-up of all
names. A question costs its known answers and a few passes over all entities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from unseen.displays import bar, block, heading, note, table
from unseen.logic.choose import MANY, Ranked, largest_in_rows, largest_of
from unseen.logic.ordering import order_of_rows
from unseen.logic.stopping import check_stop
from unseen.logic.traverse import Traversal
from unseen.logic.values.shown import recorded_texts
from unseen.probability.answer_counts import expected_number
from unseen.reasons.drawing import drawn
from unseen.reasons.explaining import NOTHING, Explainer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.choose import Ids, Values
    from unseen.logic.execute import Execution
    from unseen.logic.joins.bound_pattern import BoundPattern
    from unseen.logic.ordering import Ordering
    from unseen.logic.outer_form import OuterForm
    from unseen.logic.protocols import Estimator
    from unseen.probability.answer_counts import ExpectedNumber
    from unseen.reasons.drawing import Picture
    from unseen.reasons.explaining import Explanation
    from unseen.reasons.reason import Reason

DEFAULT_TOP = 10
MOST_CELLS = 1 << 24
"""Number of memberships that are ranked together."""


@dataclass(frozen=True)
class Answer:
    """One answer: an entity, whether it is known or predicted, and its probability."""

    rank: int
    entity: str
    known: bool
    probability: float
    bindings: dict[str, str] = field(default_factory=dict)
    """With `explain`: the value of each inner variable, in a proof (known) or the likeliest one (predicted)."""
    edges: tuple[tuple[str, str, str], ...] = ()
    """With `explain`, for known answers: the edges that prove it."""
    reasons: tuple[Reason, ...] = ()
    """With `explain`: why it is an answer, link by link in the order of the question, the best reason first."""
    key: str = field(default="", compare=False, repr=False)
    """The unique key of the entity: its full IRI, or its name in the file."""
    values: dict[str, str] = field(default_factory=dict)
    """By answer variable the readable name, where a question has several; `entity` names all of them."""
    keys: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """By answer variable the unique key, where a question has several."""
    attributes: dict[str, str] = field(default_factory=dict)
    """Values of the answer, by attribute, for the attributes that the question compares or is ordered by."""

    def draw(self) -> Picture:
        """The explanation as a picture: known links solid, predicted ones dashed; it needs `ask(..., explain=True)`."""
        return drawn(self.entity, self.bindings, self.edges, self.reasons, self.values or None)


@dataclass(frozen=True)
class Answers(Sequence[Answer]):
    """The answers to one question, best first; known ones before predicted ones."""

    query: str
    method: str
    graph: Counted
    """The graph that was asked; from a server, only its counts."""
    known: int
    """The number of known answers, shown or not."""
    answers: tuple[Answer, ...]
    warnings: tuple[str, ...] = ()
    """Warnings about the predictions, such as relations that cannot be predicted."""
    variables: tuple[str, ...] = ()
    """The answer variables of a question that has several."""
    complete: bool | None = None
    """For a question with several answer variables or cycles: whether no better answer can have been missed."""
    missed: float | None = None
    """For such a question: no answer that is missing is more probable than this."""
    expected: ExpectedNumber | None = None
    """How many answers there are in all by expectation, with an interval; None where nothing is predicted."""

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
        plain |= {} if self.expected is None else {"expected": self.expected.as_json()}
        plain |= {"warnings": list(self.warnings)} if self.warnings else {}
        if self.complete is not None:
            plain |= {"complete": self.complete, "missed": round(self.missed or 0.0, 6)}
        return plain

    def to_arrow(self) -> pa.Table:
        """The answers as an Arrow table: rank, entity, key (null if not known), known, probability.

        Several answer variables have two more columns each: `x` for the name and `x_key`. Counts and other values have
        one, with numbers where all are numbers. Values that the question compares have a column by attribute.
        """
        from unseen.asking.answer_columns import answer_table

        return answer_table(self)

    def to_pandas(self) -> pd.DataFrame:
        """The table of `to_arrow` as a pandas data frame."""
        from unseen.graph.conversions import pandas_of

        return pandas_of(self.to_arrow())

    def _repr_html_(self) -> str:
        attributes = list(dict.fromkeys(name for one in self.answers for name in one.attributes))
        names = self.variables or ("entity",)
        rows = [
            (
                one.rank,
                *([one.values.get(name, "") for name in self.variables] or [one.entity]),
                *(one.attributes.get(name, "") for name in attributes),
                "known" if one.known else "predicted",
                bar(one.probability, is_known=one.known),
            )
            for one in self.answers
        ]
        counts = f"{self.known:,} known, {len(self):,} shown; method: {self.method}"
        counts += "" if self.expected is None else f"; {self.expected}"
        counts += (
            "" if self.complete is not False else f"; what is missing has a probability of at most {self.missed:.2g}"
        )
        parts = [table(("rank", *names, *attributes, "", "probability"), rows), note(counts), *map(note, self.warnings)]
        return block(heading(self.query), *parts)


class Counted(Protocol):
    """Anything with counts of entities, relations and triples."""

    @property
    def num_entities(self) -> int: ...  # noqa: D102
    @property
    def num_relations(self) -> int: ...  # noqa: D102
    @property
    def num_triples(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Question:
    """A question bound to one graph, and which answers to return."""

    text: str
    query: Query
    """With the ids of the graph; for a pattern all its relations, each from anything."""
    top: int = DEFAULT_TOP
    explain: bool = False
    predicted_only: bool = False
    candidates: Ids | None = field(default=None, compare=False)
    """Sorted ids of the only entities that may be answers; None if all may."""
    warnings: tuple[str, ...] = ()
    """What is known to be wrong with the question before it is asked."""
    pattern: BoundPattern | None = field(default=None, compare=False)
    """What is asked, where that is not a tree."""
    variable: str = "x"
    """What the question calls its answer, if there is one answer variable."""
    order: tuple[Ordering, ...] = ()
    """In which order the answers come; by default the most probable first."""
    attributes: tuple[tuple[str, int], ...] = ()
    """Attributes, by name and id, whose values are shown beside the answers."""
    predict_values: bool = False
    """Whether values that are not recorded are predicted."""
    table: OuterForm | None = field(default=None, compare=False)
    """What is computed around what is predicted, where the answers are a table."""


def answers_of(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    execution: Execution | None,
    method_name: str,
    method: Estimator | None = None,
    answered: Callable[[], None] = lambda: None,
) -> list[Answers]:
    """The answers to questions after their execution; only known answers without an execution.

    Explanations of predictions may ask the method again. `answered` is called before the first explanation is made.
    """
    return _Asking(graph, questions, execution, method, method_name).answers(answered)


class _Asking:
    """Questions on one graph; without an execution, only what the graph says."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        questions: Sequence[Question],
        execution: Execution | None,
        method: Estimator | None,
        method_name: str,
    ) -> None:
        self.graph, self.questions, self.execution = graph, questions, execution
        self.method_name = method_name
        self.traversal = Traversal(graph) if execution is None else execution.traversal
        self.explainer = Explainer(graph, self.traversal, execution, method, method_name)
        self.is_candidate = np.zeros(graph.num_entities, bool)
        self.is_candidate[graph.candidates] = True
        self.known = [self._known(question) for question in questions]
        self.expected: list[ExpectedNumber | None] = []
        """Of each question that has been ranked."""

    def answers(self, answered: Callable[[], None]) -> list[Answers]:
        """All answers, with names that are looked up together."""
        size = max(1, MOST_CELLS // max(1, self.graph.num_entities))
        starts = range(0, len(self.questions), size)
        ranked = [one for start in starts for one in self._ranked(slice(start, start + size))]
        shown = [entity for known, predicted in ranked for entity, _ in (*known, *predicted)]
        names = dict(zip(shown, self.graph.vocabulary.entities.named(shown), strict=True))
        answered()
        return [
            Answers(
                question.text,
                self.method_name,
                self.graph,
                len(found),
                self._answers(question, *one, names),
                question.warnings,
                expected=expected,
            )
            for question, found, one, expected in zip(self.questions, self.known, ranked, self.expected, strict=True)
        ]

    def _known(self, question: Question) -> Ids:
        members = self.traversal.members(question.query)
        return members[self._may_be(question)[members]]

    def _may_be(self, question: Question) -> NDArray[np.bool_]:
        """For each entity, whether it may be an answer."""
        if question.candidates is None:
            return self.is_candidate
        allowed = np.zeros(self.graph.num_entities, bool)
        allowed[question.candidates] = True
        return allowed & self.is_candidate

    def _ranked(self, part: slice) -> list[tuple[Ranked, Ranked]]:
        """For some questions the known answers and the predicted ones, each the most probable first.

        Known answers have a probability too: negation makes them less than certain.
        """
        check_stop()
        questions, found = self.questions[part], self.known[part]
        if self.execution is None:
            self.expected += [None] * len(questions)
            certain = [np.ones(len(members), np.float32) for members in found]
            return [(known, []) for known in self._ranked_known(questions, found, certain)]
        if self.graph.num_entities > MANY:
            own = map(self.execution.memberships, (question.query for question in questions))
            return [self._ranked_alone(*one) for one in zip(questions, found, own, strict=True)]
        values = self.execution.stacked([question.query for question in questions]).float().cpu().numpy()
        probable = [row[members] for row, members in zip(values, found, strict=True)]
        known = self._ranked_known(questions, found, probable)
        others = values.copy()
        for row, question, members in zip(others, questions, found, strict=True):
            row[~self._may_be(question)] = 0
            self.expected.append(self._expected(question, row, slice(None)))
            row[members] = 0
        counts = [question.top - len(one) for question, one in zip(questions, known, strict=True)]
        found_others = largest_in_rows(others, counts)
        predicted = [self._in_order(question, row) for question, row in zip(questions, found_others, strict=True)]
        return list(zip(known, predicted, strict=True))

    def _ranked_alone(self, question: Question, members: Ids, memberships: Tensor) -> tuple[Ranked, Ranked]:
        """The same for one question to a large graph: most probabilities are zero, and are looked at once."""
        values = memberships.float().cpu().numpy()
        known = self._ranked_known([question], [members], [values[members]])[0]
        likely = np.flatnonzero(values > 0).astype(np.int32)
        likely = likely[self._may_be(question)[likely]]
        self.expected.append(self._expected(question, values[likely], likely))
        others = np.setdiff1d(likely, members, assume_unique=True)
        predicted = largest_of(others, values[others], question.top - len(known))
        return known, self._in_order(question, predicted)

    def _in_order(self, question: Question, ranked: Ranked) -> Ranked:
        """Answers in the order that a question asks for."""
        if not question.order or not ranked:
            return ranked
        entities, values = (np.array(column) for column in zip(*ranked, strict=True))
        order = order_of_rows(self.graph, {question.variable: entities}, values, question.order)
        return [ranked[place] for place in order.tolist()]

    def _expected(self, question: Question, probabilities: Values, places: Ids | slice) -> ExpectedNumber:
        """How many answers there are, by the probabilities of those entities who may be one."""
        carried = None if self.execution is None else self.execution.carried(question.query)
        return expected_number(probabilities, None if carried is None else carried.float().cpu().numpy()[places])

    def _ranked_known(
        self, questions: Sequence[Question], found: Sequence[Ids], values: Sequence[Values]
    ) -> list[Ranked]:
        return [
            []
            if question.predicted_only
            else self._in_order(question, largest_of(members, probable, len(members)))[: question.top]
            if question.order
            else largest_of(members, probable, question.top)
            for question, members, probable in zip(questions, found, values, strict=True)
        ]

    def _answers(
        self, question: Question, known: Ranked, predicted: Ranked, names: dict[int, tuple[str, str]]
    ) -> tuple[Answer, ...]:
        ranked = [(*pair, True) for pair in known] + [(*pair, False) for pair in predicted]
        explained = self._explained(question.query, known, predicted) if question.explain else [NOTHING] * len(ranked)
        return tuple(
            Answer(rank, names[entity][0], is_known, probability, *why, key=names[entity][1], attributes=values)
            for rank, ((entity, probability, is_known), why, values) in enumerate(
                zip(ranked, explained, self._values(question, [row[0] for row in ranked]), strict=True), start=1
            )
        )

    def _values(self, question: Question, entities: list[int]) -> list[dict[str, str]]:
        """For each entity the recorded values of the attributes that a question is about."""
        columns = {name: recorded_texts(self.graph, attribute, entities) for name, attribute in question.attributes}
        if question.predict_values and self.execution is not None:
            from unseen.logic.value_prediction.interval_texts import filled

            for name, attribute in question.attributes:
                columns[name] = filled(self.graph, attribute, entities, columns[name])
        return [{name: texts[place] for name, texts in columns.items()} for place in range(len(entities))]

    def _explained(self, query: Query, known: Ranked, predicted: Ranked) -> list[Explanation]:
        """Why each of the ranked entities is an answer."""
        proofs = [self.explainer.known(query, entity) for entity, _ in known]
        return [*proofs, *self.explainer.predicted(query, predicted)]


def _answer_json(answer: Answer) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "rank": answer.rank,
        "entity": answer.entity,
        "key": answer.key or None,
        "known": answer.known,
        "probability": round(answer.probability, 6),
        "bindings": answer.bindings,
    }
    if answer.values:
        plain |= {"values": answer.values, "keys": answer.keys}
    if answer.attributes:
        plain["attributes"] = answer.attributes
    if answer.edges:
        plain["edges"] = [list(edge) for edge in answer.edges]
    if answer.reasons:
        plain["reasons"] = [reason.as_json() for reason in answer.reasons]
    return plain
