"""The one place that chooses and calls what predicts, and says beforehand what that will cost."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from unseen.api import DEFAULT_EFFORT, ask_all, check_memory, open_method
from unseen.asking.answers import Answers, Question
from unseen.asking.cautions import Cautions
from unseen.asking.preparing import is_sparql, lookup_for, parsed_sparql, prepare
from unseen.asking.solution_tables.solving import MOST_KNOWN
from unseen.errors import QueryRefused, Stopped, UnseenError
from unseen.graph.vocabulary import directed_relation
from unseen.logic.algebra import Anchor, Project, Query, Repeat
from unseen.logic.counting_text import parse_counted
from unseen.logic.outer_form import OuterForm
from unseen.logic.pattern import Pattern
from unseen.logic.resolving import PREDICTED_STEPS
from unseen.logic.stopping import also_checked_by, enough_after, search_time_left
from unseen.logic.text import LONGEST_REMEMBERED, parse_question
from unseen.logic.value_prediction.predictor import learned_attributes
from unseen.server.admission import Bounds, Cost
from unseen.server.learning_values import LearningValues
from unseen.server.measured import MeasuredPaces
from unseen.server.pace import GUESS, Pace, units_of
from unseen.server.problems import busy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.asking.solution_tables.wanted import Predicted
    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup
    from unseen.logic.method import Method
    from unseen.logic.ordering import Ordering
    from unseen.server.measured import Content

MOST_ANSWERS = 1000
"""The largest number of answers to one question."""
MOST_PARTS = 8192
"""Most parts (names, relation steps, operators) of one question, counted along every way through it."""
MOST_TRIED = 20
"""Relations that are tried to find one that the model knows."""
MEASURING = 4
"""Relation steps that measuring costs, with all that comes before the first one."""
PREPARING = 1
"""Relation steps that a graph costs which the method has not met: a network sorts its edges anew."""
EXPLAINING = 1
"""Relation steps as which the reasons for the answers to one question count, at a pace of their own."""
RESTRICTIONS = ("kind", "type_relation", "new", "predict_values")
"""What says who may be an answer, and whether values are predicted."""
TRIED_TOGETHER = 8
"""Relation steps as which a link counts of a question that is not a tree: several of its values are tried."""
SEARCHING, MOST_SEARCHING = 1 / 4, 1 / 2
"""Shares of the time limit: such a question gets what was found until the first one, and is refused at the second."""
MOST_OF_REST, SEARCH_RETRY = 0.8, 10
"""The share of the time until its deadline that it may take; when it may come again if it had waited too long."""
BOTH = (False, True)
EXACT_GUESS = 1e-8
"""Seconds for a unit of an exact answer before anything is measured."""


@dataclass(frozen=True)
class Asked:
    """A question as it came: formula or SPARQL, and what is wanted of its answers."""

    text: str
    top: int | None = None
    explain: bool = False
    predicted_only: bool = False
    exact: bool = False
    all_predictions: bool = False
    """Also by relations that cannot be predicted."""
    sparql: bool = False
    """Whether it can only be SPARQL."""
    kind: str | None = None
    type_relation: str | None = None
    new: bool = False
    """Who may be an answer: as for `api.ask`."""
    order_by: str | None = None
    predict_values: bool = False
    core: Predicted | None = None
    """The part of the question that is meant, where its answers are a table."""

    @cached_property
    def is_sparql(self) -> bool:
        """Whether it is SPARQL; else it is a formula."""
        return self.sparql or is_sparql(self.text)

    @property
    def is_short(self) -> bool:
        """Whether to parse it is less work than to hand it to a thread."""
        return len(self.text) <= LONGEST_REMEMBERED and not self.is_sparql and self.core is None


@dataclass(frozen=True)
class Planned:
    """A question that is parsed, and the number of relation steps that it takes."""

    asked: Asked
    query: Query | Pattern | OuterForm
    """With names; a pattern if it is not a tree, a form if its answers are a table."""
    limit: int | None
    steps: int
    variables: tuple[str, ...] = ()
    """What SPARQL calls the answers."""
    order: tuple[Ordering, ...] = ()
    """What SPARQL orders them by."""


@dataclass(frozen=True)
class _Bound:
    """A planned question with the ids of a graph."""

    question: Question
    steps: int

    @property
    def is_tree(self) -> bool:
        """Whether it is answered together with others."""
        return self.question.pattern is None


class Predictor:
    """A method, opened once, that answers on the current content of a database."""

    def __init__(
        self, database: Content, model: str, seconds: float = Bounds.seconds, effort: str = DEFAULT_EFFORT
    ) -> None:
        """`seconds` is the longest time for one question."""
        self.database, self.name = database, model
        self._searching, self._most_searching = SEARCHING * seconds, MOST_SEARCHING * seconds
        self.method: Method | None = None if model == "exact" else open_method(model, effort=effort)
        self._cautions = Cautions(self.method, model)
        self._graph, self._version = database.graph, -1
        """What was asked last: `cost_of` must not wait for a new graph."""
        self._paces = {(exact, tree): Pace(EXACT_GUESS if exact else GUESS) for exact in BOTH for tree in BOTH}
        """By whether only exact answers are wanted, and whether the question is a tree."""
        self._explaining, self._values = Pace(), LearningValues()
        self._timed = 0.0
        """Seconds of all calls so far; a call inside of a call counts once."""
        if self.method is not None:
            check_memory(self.method, self._graph)

    def pace(self, *, exact: bool) -> Pace:
        """How long predicted or exact answers take."""
        return self._paces[exact or self.method is None, True]

    def guesses(self, graph: KnowledgeGraph, needed: Sequence[int]) -> tuple[str, ...]:
        """Warnings about directed relations that cannot be predicted."""
        return () if self.method is None else self._cautions.guesses(graph, needed)

    def plan(self, asked: Asked) -> Planned:
        """A question, parsed; one that is too large is an error."""
        limit: int | None = None
        variables: tuple[str, ...] = ()
        order: tuple[Ordering, ...] = ()
        if asked.is_short:
            query, steps = _short(asked.text)
        else:
            query, limit, variables, order = _parsed(asked, self.database.graph)
            steps = steps_of(query)
        most = Bounds.batch_cells // max(1, self._graph.num_entities)
        if steps > most:
            entities = self._graph.num_entities
            raise QueryRefused(f"it takes {steps:,} relation steps; on {entities:,} entities one may take {most:,}")
        return Planned(asked, query, limit, steps, variables, order)

    def cost_of(self, planned: Planned) -> Cost:
        """What a question will take, by what others have taken."""
        steps = planned.steps + PREPARING * (self._version != self.database.version)
        is_tree = isinstance(planned.query, Query)
        seconds = self._units(self._graph, steps) * self._paces[self._is_exact(planned), is_tree].seconds
        learning = self._values.seconds(self._graph, planned)
        if not is_tree:  # nothing is gained by answering it together with others
            return Cost(min(seconds, self._most_searching) + learning, Bounds.batch_cells)
        if planned.asked.explain and not self._is_exact(planned):
            seconds += self._units(self._graph, EXPLAINING) * self._explaining.seconds
        return Cost(seconds + learning, planned.steps * self._graph.num_entities)

    def measure(self) -> None:
        """Find out how long a relation step takes; the first one also compiles and prepares, and does not count."""
        version, graph = self.database.version, self.database.graph
        for question in _single_steps(graph):
            with suppress(QueryRefused):  # a relation that the model does not know
                for exact in dict.fromkeys((True, self.method is None)):
                    ask_all(graph, [question], *self._asked_of(exact=exact))
                    self._graph, self._version = graph, version
                    self._measured(graph, [_Bound(question, 1)], exact=exact)
                return

    def measuring(self) -> float:
        """How many seconds `measure` will take, by estimate."""
        return self._units(self._graph, MEASURING) * self._paces[self.method is None, True].seconds

    @property
    def measured(self) -> MeasuredPaces:
        """The measured speeds of this process."""
        return MeasuredPaces(self._paces, self._explaining, self._values, learned_attributes(self.database.graph))

    def learn_from(self, measured: MeasuredPaces, graph: KnowledgeGraph, version: int) -> None:
        """Take over what another process has measured, which has answered on a graph."""
        self._paces, self._explaining, self._values = measured.paces, measured.explaining, measured.values
        self._values.note_learned(graph, measured.learned)
        self._graph, self._version = graph, version

    def answer_all(self, planned: Sequence[Planned]) -> Sequence[Answers | Exception]:
        """Answers or an error for each question, by one call of the method; equal questions are answered once."""
        distinct = {one.asked: one for one in planned}
        results = dict(zip(distinct, self._answer_distinct(list(distinct.values())), strict=True))
        return [results[one.asked] for one in planned]

    def _attempted(self, graph: KnowledgeGraph, planned: Planned, lookup: Lookup) -> _Bound | UnseenError:
        """A question with ids, or what is wrong with it; the values that it wants predicted are learned here."""
        try:
            with self._values.measured(graph, planned):
                return _bound(graph, planned, lookup)
        except Stopped:
            raise
        except UnseenError as error:
            return error

    def _units(self, graph: KnowledgeGraph, steps: int) -> int:
        near = getattr(self.method, "near", None)
        return units_of(graph, steps, in_parts=near is not None and near(graph) is not None)

    def _asked_of(self, *, exact: bool) -> tuple[Method | None, str]:
        """The method that answers, and its name."""
        return (None, "exact") if exact else (self.method, self.name)

    def _is_exact(self, planned: Planned) -> bool:
        return planned.asked.exact or self.method is None

    def _answer_distinct(self, planned: Sequence[Planned]) -> Sequence[Answers | Exception]:
        version, graph = self.database.version, self.database.graph
        lookup = lookup_for(graph, [one.query for one in planned], suggest=False)
        prepared = [self._attempted(graph, one, lookup) for one in planned]
        results: dict[int, Answers | Exception] = {}
        results |= {place: one for place, one in enumerate(prepared) if isinstance(one, Exception)}
        bound = {place: one for place, one in enumerate(prepared) if isinstance(one, _Bound)}
        for exact in (False, True):
            chosen = {place: one for place, one in bound.items() if self._is_exact(planned[place]) == exact}
            trees = {place: one for place, one in chosen.items() if one.is_tree}
            results |= dict(zip(trees, self._answered(graph, list(trees.values()), exact=exact), strict=True))
            for place in chosen.keys() - trees.keys():
                results[place] = self._searched(graph, chosen[place], exact=exact)
        self._graph, self._version = graph, version
        return [
            self._cautioned(graph, planned[place], prepared[place], results[place]) for place in range(len(planned))
        ]

    def _cautioned(
        self, graph: KnowledgeGraph, planned: Planned, bound: _Bound | UnseenError, result: Answers | Exception
    ) -> Answers | Exception:
        """Answers with warnings about relations that cannot be predicted, unless all predictions are wanted."""
        is_judged = not (planned.asked.all_predictions or self._is_exact(planned))
        if not is_judged or not isinstance(bound, _Bound) or not isinstance(result, Answers):
            return result
        return self._cautions.applied(result, bound.question.query, graph)

    def _answered(self, graph: KnowledgeGraph, questions: list[_Bound], *, exact: bool) -> list[Answers | Exception]:
        """All in one call; if the method refuses one of them, each alone, so that the others are answered."""
        if not questions:
            return []
        try:
            return list(self._measured(graph, questions, exact=exact))
        except Stopped:
            raise
        except UnseenError as error:
            if len(questions) == 1:
                return [error]
            return [answer for question in questions for answer in self._answered(graph, [question], exact=exact)]

    def _searched(self, graph: KnowledgeGraph, question: _Bound, *, exact: bool) -> Answers | Exception:
        """The answers to a question that is not a tree: those that are found in its time."""
        left = MOST_OF_REST * search_time_left()
        until = time.monotonic() + min(self._most_searching, left)

        def check() -> None:
            if time.monotonic() > until:
                raise busy(SEARCH_RETRY) if left < self._most_searching else self._too_long()

        with also_checked_by(check), enough_after(min(self._searching, left / 2)):
            return self._answered(graph, [question], exact=exact)[0]

    def _too_long(self) -> QueryRefused:
        reason = f"finding its answers takes longer than {self._most_searching:g} seconds"
        return QueryRefused(f"{reason}: name an entity, or say more about its variables")

    def _measured(self, graph: KnowledgeGraph, questions: list[_Bound], *, exact: bool) -> list[Answers]:
        """The answers of one call; the time that it takes, and that of its reasons, are noted apart."""
        method, name = self._asked_of(exact=exact)
        steps = sum(one.steps for one in questions) + PREPARING * (graph is not self._graph)
        is_tree = questions[0].is_tree
        explained = 0 if exact else EXPLAINING * sum(one.question.explain for one in questions)
        began, before = time.perf_counter(), self._timed
        pace, units = self._paces[exact, is_tree], self._units(graph, steps)
        note = pace.note_unfinished

        def seconds() -> float:
            nonlocal began, before
            taken = time.perf_counter() - began - (self._timed - before)
            self._timed += taken
            began, before = time.perf_counter(), self._timed
            return taken

        def answered() -> None:
            nonlocal pace, units, note
            if not is_tree:  # its reasons are part of the search
                return
            pace.note(units, seconds())
            pace, units = self._explaining, self._units(graph, explained)
            note = pace.note_unfinished

        try:
            answers = ask_all(graph, [one.question for one in questions], method, name, answered)
            note = pace.note
            return answers
        finally:
            taken = seconds()
            if units:
                note(units, taken)


def _parsed(
    asked: Asked, graph: KnowledgeGraph
) -> tuple[Query | Pattern | OuterForm, int | None, tuple[str, ...], tuple[Ordering, ...]]:
    """A question as a query, the number of answers that it asks for, what it calls them, and their order."""
    if asked.is_sparql:
        found, limit, variables, order = parsed_sparql(asked.text, graph)
    else:
        found, limit, variables, order = _formula(asked.text), None, (), ()
    if asked.core is not None and isinstance(found, OuterForm):
        return found.core.question(asked.core.answers, dict(asked.core.values)), None, asked.core.answers, ()
    return found, limit, variables, order


def _formula(text: str) -> Query | Pattern | OuterForm:
    return parse_counted(text) or parse_question(text)


@lru_cache(maxsize=2048)
def _short(text: str) -> tuple[Query | Pattern | OuterForm, int]:
    """A short formula and its relation steps; found again as long as not too many others come between."""
    query = _formula(text)
    return query, steps_of(query)


def steps_of(query: Query | Pattern | OuterForm) -> int:
    """Relation steps of a query; a sub-query that stands in several places is taken once. Giant ones are an error.

    A table is planned as its core is; what it asks beyond that is asked, and waits, like other questions.
    """
    if isinstance(query, OuterForm):
        return steps_of(query.core.question(query.needed, {}))
    if isinstance(query, Pattern):
        return TRIED_TOGETHER * max(1, query.links)
    if query.size > MOST_PARTS:
        raise QueryRefused(f"it has more than {MOST_PARTS:,} parts, counted along every way through it")
    seen: set[int] = set()

    def steps(node: Query) -> int:
        if id(node) in seen:
            return 0
        seen.add(id(node))
        own = isinstance(node, Project) + PREDICTED_STEPS * isinstance(node, Repeat)
        return own + sum(map(steps, node.children))

    return steps(query)


def _single_steps(graph: KnowledgeGraph) -> Iterator[Question]:
    """A question of one step by each of some relations, the most frequent first."""
    counts = np.bincount(graph.relations, minlength=graph.num_relations)
    for relation in np.argsort(-counts, kind="stable")[:MOST_TRIED].tolist():
        directed = directed_relation(relation)
        heads, _ = graph.edges_from(directed)
        if len(heads):
            yield Question("", Project(directed, Anchor(int(heads[0]))))


def _bound(graph: KnowledgeGraph, planned: Planned, lookup: Lookup) -> _Bound:
    asked = planned.asked
    wanted = [count for count in (planned.limit, asked.top) if count is not None]
    most = MOST_ANSWERS if asked.core is None else MOST_KNOWN
    top = min([*wanted, most]) if wanted else None
    wishes = {name: getattr(asked, name) for name in ("explain", "predicted_only", *RESTRICTIONS)}
    question = prepare(graph, planned.query, top=top, lookup=lookup, order_by=order_of(planned), **wishes)
    return _Bound(replace(question, text=asked.text), planned.steps)


def order_of(planned: Planned) -> str | tuple[Ordering, ...] | None:
    """The order of the answers to a question."""
    return planned.asked.order_by or planned.order or None
