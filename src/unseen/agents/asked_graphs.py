"""Where the tools of an agent find their graph: in this process, or behind a server of unseen.

A server's own `/mcp` asks its graph in its own way (`server/agent_graph.py`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from unseen import api
from unseen.asking.preparing import prefixes_of
from unseen.errors import UnseenError
from unseen.graph.attributes.attribute_counts import attribute_counts
from unseen.graph.catalogue import entities_like, relations_like
from unseen.graph.prefixes import key_of
from unseen.scoring.statement_scores import score as scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from unseen.asking.answers import Answers, Counted
    from unseen.client import Client
    from unseen.database import Database
    from unseen.graph import KnowledgeGraph
    from unseen.scoring.scores import Score

    Fact = tuple[str, str, str]


MOST_ATTRIBUTES = 30
"""Attributes that are described."""


class AskOptions(TypedDict, total=False):
    """What a question means beyond its text, as for `api.ask`."""

    predicted_only: bool
    kind: str | None
    type_relation: str | None
    new: bool
    order_by: str | None
    predict_values: bool


class AskedGraph(Protocol):
    """What the tools need of a graph."""

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes that SPARQL about it need not declare, as far as they are known here."""

    def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        exact: bool = False,
        **wishes: Unpack[AskOptions],
    ) -> Answers:
        """The answers to a formula or to SPARQL."""

    def score(self, statement: str, *, explain: bool = False, type_relation: str | None = None) -> Score:
        """How likely a statement is."""

    def entities(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Entities whose name contains a text, each with `name`."""

    def relations(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Relations whose name contains a text, each with `name`, `iri` and `triples`, the most frequent first."""

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes of which values are recorded, those with most values first."""

    def counts(self) -> Counted:
        """How large the graph is."""

    def fact_of(self, relation: dict[str, Any]) -> Fact | None:
        """One fact of a relation that `relations` has listed."""

    def add(self, facts: Sequence[Fact]) -> int:
        """Add facts, all or none; how many of them are new."""


class GraphHere:
    """A graph in this process; questions are answered one after the other."""

    def __init__(self, graph: KnowledgeGraph, method: str | None = None, database: Database | None = None) -> None:
        self._graph, self._method, self._database = graph, method, database
        self._asking, self._adding = Lock(), Lock()

    @property
    def graph(self) -> KnowledgeGraph:
        """The current graph."""
        return self._graph if self._database is None else self._database.graph

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of its names."""
        return prefixes_of(self.graph)

    def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        exact: bool = False,
        **wishes: Unpack[AskOptions],
    ) -> Answers:
        """The answers by the method that was chosen, or known ones only."""
        with self._asking:
            method = "exact" if exact else self._method
            return api.ask(self.graph, question, method=method, top=top, explain=explain, **wishes)

    def score(self, statement: str, *, explain: bool = False, type_relation: str | None = None) -> Score:
        """How likely a statement is by the method that was chosen."""
        with self._asking:
            return scored(self.graph, statement, method=self._method, explain=explain, type_relation=type_relation)

    def entities(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Entities whose name contains a text, the nearest first."""
        return entities_like(self.graph, search, limit)

    def relations(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Relations whose name contains a text, the most frequent first."""
        return relations_like(self.graph, search, limit)

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes with their numbers of values, and the smallest and largest one."""
        return described_attributes(self.graph)

    def counts(self) -> Counted:
        """The graph itself."""
        return self.graph

    def fact_of(self, relation: dict[str, Any]) -> Fact | None:
        """The first fact of a relation, by its head's id."""
        return first_fact(self.graph, relation)

    def add(self, facts: Sequence[Fact]) -> int:
        """Add facts to the database, where they last, or to the graph in memory."""
        if self._database is not None:
            return self._database.add(facts)
        with self._adding:
            before, self._graph = self._graph.num_triples, self._graph.extended_with(facts)
            return self._graph.num_triples - before


class GraphOfServer:
    """The graph of a server; its model, its keys and its limits are the server's."""

    prefixes: dict[str, str] = {}  # noqa: RUF012  # the server knows them; here they only serve hints

    def __init__(self, client: Client) -> None:
        self._client = client

    def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        exact: bool = False,
        **wishes: Unpack[AskOptions],
    ) -> Answers:
        """The answers of the server."""
        return self._client.ask(question, top=top, explain=explain, exact=exact, **wishes)

    def score(self, statement: str, *, explain: bool = False, type_relation: str | None = None) -> Score:
        """How likely a statement is by the server's model."""
        return self._client.score(statement, explain=explain, type_relation=type_relation)

    def entities(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Entities whose name contains a text, the nearest first."""
        return self._client.entities(search, limit)

    def relations(self, search: str, limit: int) -> list[dict[str, Any]]:
        """Relations whose name contains a text, the most frequent first."""
        return self._client.relations(search, limit)

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes as the server's overview describes them."""
        found: list[dict[str, Any]] = self._client.overview().get("attributes", [])
        return found[:MOST_ATTRIBUTES]

    def counts(self) -> Counted:
        """The counts that come with every answer."""
        from unseen.logic.text_writer import quoted

        first = next(iter(self.entities("", 1)), None)
        if first is None:
            raise UnseenError("the graph of the server is empty: add facts first")
        return self.ask(f"?x : x = {quoted(first['name'], {'x'})}", top=1, exact=True).graph

    def fact_of(self, relation: dict[str, Any]) -> Fact | None:
        """Any fact of a relation; its ends as full IRIs, or as plain names where they are none."""
        rows = self._client.query(f"SELECT ?head ?tail WHERE {{ ?head <{relation['iri']}> ?tail }} LIMIT 1")
        return next(((_named(row["head"]), relation["name"], _named(row["tail"])) for row in rows), None)

    def add(self, facts: Sequence[Fact]) -> int:
        """Add facts to the graph of the server."""
        return self._client.add(facts)


def described_attributes(graph: KnowledgeGraph) -> list[dict[str, Any]]:
    """The attributes of a graph with most values."""
    return [asdict(one) for one in attribute_counts(graph.attributes, MOST_ATTRIBUTES)]


def first_fact(graph: KnowledgeGraph, relation: dict[str, Any]) -> Fact | None:
    """The first fact of a listed relation, by its head's id."""
    heads, tails = graph.edges_from(graph.vocabulary.relation_id(f"<{relation['iri']}>"))
    if not len(heads):
        return None
    name = graph.vocabulary.entity_name
    return name(int(heads[0])), relation["name"], name(int(tails[0]))


def _named(iri: str) -> str:
    key = key_of(iri)
    return key if key != iri else f"<{iri}>"


@contextmanager
def opened_graph(
    source: str,
    *,
    method: str | None = None,
    is_written: bool = False,
    api_key: str | None = None,
    read: Callable[[str], KnowledgeGraph] = api.load,
) -> Iterator[AskedGraph]:
    """The graph of a file, an embedded graph, a database or the address of a server.

    A database that is only read is not kept open, so that others may open it; facts that they add later do not appear.
    """
    if source.startswith(("http://", "https://")):
        if method is not None:
            raise UnseenError("a server answers with its own model: leave out --model, or give it to `unseen serve`")
        from unseen.client import connect

        with connect(source, api_key=api_key) as client:
            yield GraphOfServer(client)
    elif is_written and api.is_database(path := api.find_source(source)):
        with _written_database(path) as database:
            yield GraphHere(database.graph, method, database)
    else:
        yield GraphHere(read(source), method)


@contextmanager
def _written_database(path: Path) -> Iterator[Database]:
    from unseen.database import Database  # pyoxigraph is optional

    with Database(path) as database:
        api.came_from(database.graph, path)
        yield database
