"""A server from Python, with the same `ask`, `add` and `remove` as at home.

```python
with unseen.connect("http://127.0.0.1:7878") as graph:
    graph.add([("Atlantis", "borders", "France")])
    for answer in graph.ask("?x : borders(x, France)"):
        print(answer.entity, answer.known, answer.probability)
```

It needs nothing but Python's own HTTP. A client may be used by many threads; each has a connection of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import local
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

from unseen.api import Answer, Answers
from unseen.errors import QueryRefused, QuerySyntaxError, ServerError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = "application/sparql-results+json"


@dataclass(frozen=True)
class GraphCounts:
    """How large the graph of a server is."""

    num_entities: int
    num_relations: int
    num_triples: int


def connect(url: str = "http://127.0.0.1:7878", *, api_key: str | None = None, timeout: float = 60.0) -> Client:
    """A client of the server at an address; the connection is made with the first request."""
    return Client(url, api_key=api_key, timeout=timeout)


class Client:
    """One server."""

    def __init__(self, url: str, *, api_key: str | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServerError(f"the address of a server looks like http://127.0.0.1:7878, not {url!r}")
        self.url, self._timeout = url.rstrip("/"), timeout
        self._scheme, self._host, self._port, self._base = (
            parts.scheme,
            parts.hostname,
            parts.port,
            parts.path.rstrip("/"),
        )
        self._headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._local = local()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def close(self) -> None:
        """Close the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        predicted_only: bool = False,
        exact: bool = False,
    ) -> Answers:
        """The answers to a question (formula or SPARQL): what the graph says, then what it implies."""
        body = {"question": question, "top": top, "explain": explain}
        found = self._json("POST", "/ask", {**body, "predicted_only": predicted_only, "exact": exact}, text=question)
        counts = GraphCounts(*(found["graph"][name] for name in ("entities", "relations", "triples")))
        answers = tuple(_answer(one) for one in found["answers"])
        return Answers(found["query"], found["method"], counts, found["known"], answers)

    def add(self, triples: Iterable[Sequence[str]]) -> int:
        """Add triples by name, all or none; how many of them are new. They count from now on, and last."""
        sent = [list(triple) for triple in triples]
        return int(self._json("POST", "/triples", {"triples": sent})["added"]) if sent else 0

    def remove(self, triples: Iterable[Sequence[str]]) -> int:
        """Remove triples by name, all or none; how many of them were there."""
        sent = [list(triple) for triple in triples]
        return int(self._json("DELETE", "/triples", {"triples": sent})["removed"]) if sent else 0

    def query(self, sparql: str, *, infer: bool = False, top: int | None = None) -> list[dict[str, str]]:
        """The solutions of a SPARQL SELECT, exact unless `infer`; values as plain texts."""
        parameters = {"query": sparql} | ({"infer": "true"} if infer else {}) | ({"k": str(top)} if top else {})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": RESULTS}
        found = json.loads(self._send("POST", "/query", urlencode(parameters).encode(), headers, sparql))
        if "boolean" in found:
            return [{"boolean": str(found["boolean"]).lower()}]
        return [{name: term["value"] for name, term in row.items()} for row in found["results"]["bindings"]]

    def update(self, sparql: str) -> None:
        """Run a SPARQL update, all or nothing."""
        self._send("POST", "/update", sparql.encode(), {"Content-Type": "application/sparql-update"}, sparql)

    def entities(self, search: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """Entities whose name holds a text."""
        found: list[dict[str, Any]] = self._listed("entities", search, limit)
        return found

    def relations(self, search: str = "", limit: int = 1000) -> list[dict[str, Any]]:
        """Relations whose name holds a text, the most frequent first."""
        found: list[dict[str, Any]] = self._listed("relations", search, limit)
        return found

    def _listed(self, what: str, search: str, limit: int) -> Any:
        address = f"/{what}?{urlencode({'search': search, 'limit': limit})}"
        return json.loads(self._send("GET", address, None, {}))[what]

    def _json(self, method: str, address: str, body: dict[str, Any], text: str = "") -> Any:
        try:
            sent = json.dumps(body).encode()
        except TypeError:
            raise ServerError("names must be texts") from None
        return json.loads(self._send(method, address, sent, {"Content-Type": "application/json"}, text))

    def _send(self, method: str, address: str, body: bytes | None, headers: dict[str, str], text: str = "") -> bytes:
        """The body of a good answer; any other is an error. Every request may be repeated without harm."""
        for is_last in (False, True):
            fresh = getattr(self._local, "connection", None) is None
            connection = self._connection()
            try:
                connection.request(method, self._base + address, body, {**self._headers, **headers})
                response = connection.getresponse()
                content = response.read()
            except (OSError, HTTPException) as error:
                self.close()
                if is_last or fresh:
                    raise ServerError(f"{self.url} does not answer: {error or type(error).__name__}") from None
                continue
            if response.status >= 400:
                raise _error(response.status, content, text)
            return content
        raise AssertionError("unreachable")

    def _connection(self) -> HTTPConnection:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            kind = HTTPSConnection if self._scheme == "https" else HTTPConnection
            connection = self._local.connection = kind(self._host, self._port, timeout=self._timeout)
        return connection


def _answer(plain: dict[str, Any]) -> Answer:
    edges = tuple((head, relation, tail) for head, relation, tail in plain.get("edges") or ())
    return Answer(plain["rank"], plain["entity"], plain["known"], plain["probability"], plain["bindings"], edges)


def _error(status: int, content: bytes, text: str) -> Exception:
    """The error that the same question would raise at home, where there is one."""
    try:
        found = json.loads(content)["error"]
        code, message = str(found["code"]), str(found["message"])
    except (ValueError, LookupError, TypeError):
        return ServerError(f"the server answered with status {status}", status=status)
    if code in ("unknown_entity", "unknown_relation") and "name" in found:
        return UnknownName(code.removeprefix("unknown_"), found["name"], found.get("closest", ()))
    if code == "syntax_error" and "problem" in found:
        return QuerySyntaxError(found["problem"], text=text, position=min(found["position"], len(text)))
    if code == "refused" and "reason" in found:
        position = found.get("position")
        return QueryRefused(found["reason"], text=text if position is not None else None, position=position)
    return ServerError(message, status=status, code=code, details=found)
