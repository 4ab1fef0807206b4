"""Statements to be scored: parsed, with what that will cost, and their scores by the same thread as all predictions."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from unseen.asking.preparing import is_sparql, lookup_for
from unseen.errors import QueryRefused, Stopped, UnseenError
from unseen.graph.conversions import triple_table
from unseen.logic.algebra import Project, walk
from unseen.logic.text import LONGEST_REMEMBERED
from unseen.scoring.bound_statements import ParsedStatement, Statement, parse_statement, prepare_statement
from unseen.scoring.scores import Score, Scores, shown_triple
from unseen.scoring.statement_scores import scores_of
from unseen.scoring.triple_scores import scored_table
from unseen.server.admission import Bounds, Cost
from unseen.server.pace import units_of
from unseen.server.predicting import EXPLAINING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup
    from unseen.server.predicting import Predictor

    Given = str | tuple[str, str, str]
    Prepared = Statement | UnseenError

MOST_CELLS = 1 << 24
"""Memberships that scoring holds at a time."""


@dataclass(frozen=True)
class Stated:
    """Statements as they came, and what is wanted of them."""

    given: tuple[Given, ...]
    explain: bool = False
    exact: bool = False
    type_relation: str | None = None
    is_single: bool = False
    """Whether an error is that of the request; else each statement has its own."""

    @cached_property
    def text(self) -> str:
        """All that has to be parsed."""
        return "\n".join(one for one in self.given if isinstance(one, str))

    @cached_property
    def is_sparql(self) -> bool:
        """Whether there is SPARQL among them, which takes longer to parse."""
        return any(isinstance(one, str) and is_sparql(one) for one in self.given)

    @property
    def is_short(self) -> bool:
        """Whether to parse them is less work than to hand them to a thread."""
        return len(self.text) <= LONGEST_REMEMBERED and not self.is_sparql


@dataclass(frozen=True)
class PlannedScores:
    """Statements that are parsed, each or its error, and the relation steps that they take."""

    stated: Stated
    parsed: tuple[ParsedStatement | UnseenError, ...]
    steps: int


class ScoreWork:
    """Scores by the method of a server."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def plan(self, stated: Stated) -> PlannedScores:
        """The statements, parsed; those that are too large together are an error."""
        graph = self._predictor.database.graph
        parsed = tuple(_attempted(one, graph) for one in stated.given)
        if stated.is_single and isinstance(parsed[0], UnseenError):
            raise parsed[0]
        steps = _steps_of(parsed)
        most = Bounds.batch_cells // max(1, min(graph.num_entities, MOST_CELLS))
        if steps > max(most, len(parsed)):
            raise QueryRefused(f"it takes {steps:,} relation steps; on this graph one request may take {most:,}")
        return PlannedScores(stated, parsed, steps)

    def cost_of(self, planned: PlannedScores) -> Cost:
        """What scoring will take, by what questions have taken."""
        graph, exact = self._predictor.database.graph, planned.stated.exact
        steps = planned.steps + (EXPLAINING * len(planned.parsed) if planned.stated.explain else 0)
        seconds = units_of(graph, steps) * self._predictor.pace(exact=exact).seconds
        return Cost(seconds, min(planned.steps * graph.num_entities, max(MOST_CELLS, graph.num_entities)))

    def answer(self, planned: PlannedScores) -> Scores:
        """The scores, and how long they took noted."""
        graph, began = self._predictor.database.graph, time.perf_counter()
        pace = self._predictor.pace(exact=planned.stated.exact)
        found = self._scored(graph, planned)
        if not planned.stated.explain:
            pace.note(units_of(graph, max(1, planned.steps)), time.perf_counter() - began)
        return found

    def _scored(self, graph: KnowledgeGraph, planned: PlannedScores) -> Scores:
        stated = planned.stated
        method, name = self._predictor.method, self._predictor.name
        if stated.exact or method is None:
            method, name = None, "exact"
        triples = [one for one in stated.given if isinstance(one, tuple)]
        if len(triples) == len(stated.given) and not stated.explain and not stated.is_single:
            return scored_table(graph, triple_table(triples), method, name, self._predictor.guesses)
        queries = [one.query for one in planned.parsed if isinstance(one, ParsedStatement)]
        lookup = lookup_for(graph, queries, suggest=False)
        prepared = [_prepared(graph, one, stated.type_relation, lookup) for one in planned.parsed]
        if stated.is_single and isinstance(prepared[0], UnseenError):
            raise prepared[0]
        bound = [one for one in prepared if isinstance(one, Statement)]
        scores = iter(scores_of(graph, bound, method, name, explain=stated.explain))
        results = [
            Score(_text(given), None, error=str(one))
            if isinstance(one, UnseenError)
            else self._warned(graph, one, next(scores))
            for given, one in zip(stated.given, prepared, strict=True)
        ]
        return Scores.of(results, name)

    def _warned(self, graph: KnowledgeGraph, statement: Statement, found: Score) -> Score:
        if found.known or found.method == "exact":
            return found
        return replace(found, warnings=self._predictor.guesses(graph, statement.relations))


def _attempted(given: Given, graph: KnowledgeGraph) -> ParsedStatement | UnseenError:
    try:
        return parse_statement(given, graph)
    except Stopped:
        raise
    except UnseenError as error:
        return error


def _prepared(
    graph: KnowledgeGraph, parsed: ParsedStatement | UnseenError, type_relation: str | None, lookup: Lookup
) -> Prepared:
    if isinstance(parsed, UnseenError):
        return parsed
    try:
        return prepare_statement(graph, parsed, type_relation=type_relation, lookup=lookup)
    except Stopped:
        raise
    except UnseenError as error:
        return error


def _steps_of(parsed: Sequence[ParsedStatement | UnseenError]) -> int:
    """The distinct relation steps of some statements."""
    queries = [one.query for one in parsed if isinstance(one, ParsedStatement)]
    return len({node for query in queries for node in walk(query) if isinstance(node, Project)})


def _text(given: Given) -> str:
    return given if isinstance(given, str) else shown_triple(*given)
