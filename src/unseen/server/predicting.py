"""The one place that chooses and calls what predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from unseen.answers import Answers, Question
from unseen.api import Method, ask_all, check_memory, lookup_for, open_method, parse, prepare
from unseen.errors import UnseenError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.database import Database
    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup
    from unseen.logic.algebra import Query

Result = TypeVar("Result")
MOST_ANSWERS = 1000
"""Most answers to one question, whatever it asks for."""


@dataclass(frozen=True)
class Asked:
    """A question as it came: formula or SPARQL, and what is wanted of its answers."""

    text: str
    top: int | None = None
    explain: bool = False
    predicted_only: bool = False
    exact: bool = False


class Predictor:
    """A method, opened once, on whatever a database holds at the moment of asking."""

    def __init__(self, database: Database, model: str) -> None:
        self.database, self.name = database, model
        self.method: Method | None = None if model == "exact" else open_method(model)
        if self.method is not None:
            check_memory(self.method, database.graph)

    def answer_all(self, asked: Sequence[Asked]) -> Sequence[Answers | Exception]:
        """Answers or an error for each question, by one call of the method; equal questions are answered once."""
        distinct = list(dict.fromkeys(asked))
        results = dict(zip(distinct, self._answer_distinct(distinct), strict=True))
        return [results[one] for one in asked]

    def _answer_distinct(self, asked: Sequence[Asked]) -> Sequence[Answers | Exception]:
        graph = self.database.graph
        prepared = _prepared(graph, asked)
        results: dict[int, Answers | Exception] = {}
        results |= {place: one for place, one in enumerate(prepared) if isinstance(one, Exception)}
        for exact in (False, True):
            chosen = {p: q for p, q in enumerate(prepared) if isinstance(q, Question) and asked[p].exact == exact}
            results |= dict(zip(chosen, self._answered(graph, list(chosen.values()), exact), strict=True))
        return [results[place] for place in range(len(asked))]

    def _answered(self, graph: KnowledgeGraph, questions: list[Question], exact: bool) -> list[Answers | Exception]:
        """All in one call; if the method refuses one of them, each alone, so that the others are answered."""
        method, name = (None, "exact") if exact else (self.method, self.name)
        if not questions:
            return []
        try:
            return list(ask_all(graph, questions, method, name))
        except UnseenError as error:
            if len(questions) == 1:
                return [error]
            return [answer for question in questions for answer in self._answered(graph, [question], exact)]


def _prepared(graph: KnowledgeGraph, asked: Sequence[Asked]) -> list[Question | UnseenError]:
    """Each question with ids, or what is wrong with it; all names are looked up together."""
    parsed = [_attempt(partial(parse, one.text, graph)) for one in asked]
    lookup = lookup_for(graph, [found[0] for found in parsed if not isinstance(found, UnseenError)])
    return [
        found if isinstance(found, UnseenError) else _attempt(partial(_bound, graph, one, found, lookup))
        for one, found in zip(asked, parsed, strict=True)
    ]


def _bound(graph: KnowledgeGraph, asked: Asked, parsed: tuple[Query, int | None], lookup: Lookup) -> Question:
    query, limit = parsed
    wanted = [count for count in (limit, asked.top) if count is not None]
    top = min([*wanted, MOST_ANSWERS]) if wanted else None
    bound = prepare(graph, query, top=top, explain=asked.explain, predicted_only=asked.predicted_only, lookup=lookup)
    return replace(bound, text=asked.text)


def _attempt(action: Callable[[], Result]) -> Result | UnseenError:
    try:
        return action()
    except UnseenError as error:
        return error
