"""From a statement as written to one with the ids of a graph: a formula, a SPARQL ASK, or a triple."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unseen.asking.preparing import is_sparql, prefixes_of
from unseen.logic.algebra import And, Not, Or, Query, rebuild
from unseen.logic.closed import Some, bound_statement, fact, is_positive, relations_of, statement_of, with_parts
from unseen.logic.events import At
from unseen.logic.resolving import KindNames, resolved, type_relation_of
from unseen.logic.variables import with_variables
from unseen.scoring.scores import shown_triple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup
    from unseen.logic.formula import Formula
    from unseen.logic.statement_chances import StatementChance
    from unseen.logic.traverse import Traversal

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class ParsedStatement:
    """A statement with names."""

    text: str
    query: Query
    is_positive: bool
    """Whether it says what is, not only what is not."""


@dataclass(frozen=True)
class Statement:
    """A statement bound to one graph."""

    text: str
    query: Query
    """With the ids of the graph."""
    is_positive: bool

    def is_known(self, traversal: Traversal) -> bool:
        """Whether the graph itself says so."""
        return self.is_positive and holds(self.query, traversal, candidates_of(traversal.graph))

    @cached_property
    def chance(self) -> StatementChance:
        """What its probability follows from."""
        from unseen.logic.statement_chances import StatementChance  # torch only where something is predicted

        return StatementChance(self.query)

    @property
    def relations(self) -> list[int]:
        """The directed relations that it needs outside of negation."""
        return relations_of(self.query)


def prepare_statement(
    graph: KnowledgeGraph,
    given: str | Triple | ParsedStatement,
    *,
    type_relation: str | None = None,
    lookup: Lookup | None = None,
) -> Statement:
    """The statement with the ids of a graph; an error if it does not parse or has unknown names.

    `lookup` holds names that were looked up before, see `lookup_for`.
    """
    parsed = given if isinstance(given, ParsedStatement) else parse_statement(given, graph)
    types = type_relation_of(graph, type_relation)
    names = KindNames(lookup or graph.vocabulary, types)
    named = with_parts(parsed.query, lambda part: with_variables(part, answer=""))
    query = bound_statement(named, names.entity_id, names.relation_id)
    return Statement(parsed.text, _resolved(query, graph, types), parsed.is_positive)


_ASKS = re.compile(r"\s*(?:(?:#[^\n]*\n|(?:PREFIX|BASE)\b[^>]*>)\s*)*ASK\b", re.IGNORECASE)
_DECLARES = re.compile(r"\s*(?:\?|(?:count\s+)?\w+\s*(?:,\s*\w+\s*)*:\s)")


def is_statement(text: str) -> bool:
    """Whether a text states something, rather than ask for answers: a formula without an answer variable, or ASK."""
    return _ASKS.match(text) is not None if is_sparql(text) else _DECLARES.match(text) is None


def parse_statement(given: str | Triple, graph: KnowledgeGraph) -> ParsedStatement:
    """What is stated, with names."""
    if not isinstance(given, str):
        return ParsedStatement(shown_triple(*given), fact(*given), True)
    formula = _formula(given, graph)
    return ParsedStatement(given, statement_of(formula, given), is_positive(formula))


def holds(statement: Query, traversal: Traversal, candidates: NDArray[np.bool_]) -> bool:
    """Whether a statement is true of the graph as it is; only candidates are values of variables."""
    match statement:
        case At(entity=int(entity)):
            return traversal.contains(statement.event, entity)
        case Some():
            return bool(candidates[traversal.members(statement.part)].any())
        case And():
            return all(holds(part, traversal, candidates) for part in statement.parts)
        case Or():
            return any(holds(part, traversal, candidates) for part in statement.parts)
        case Not():
            return not holds(statement.part, traversal, candidates)
    raise TypeError(f"not a statement: {statement!r}")


def candidates_of(graph: KnowledgeGraph) -> NDArray[np.bool_]:
    """For each entity, whether it may be the value of a variable."""
    found = np.zeros(graph.num_entities, bool)
    found[graph.connected_entities] = True
    return found


def _formula(text: str, graph: KnowledgeGraph) -> Formula:
    if is_sparql(text):
        from unseen.logic.sparql.asking import parse_ask  # rdflib is optional

        return parse_ask(text, prefixes_of(graph))
    from unseen.logic.text import parse_closed

    return parse_closed(text)


def _resolved(statement: Query, graph: KnowledgeGraph, types: int | None) -> Query:
    """The statement with given sets for recorded kinds of variables, and for variables of which nothing is said.

    What is said of a named entity stays a fact, which can be predicted, also if it is its kind.
    """
    match statement:
        case At():
            return statement
        case Some():
            return Some(resolved(statement.part, graph, types), statement.variable)
    return rebuild(statement, tuple(_resolved(child, graph, types) for child in statement.children))
