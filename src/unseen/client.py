"""A client for an unseen server, with the same `ask`, `add` and `remove` as the library.

```python
with unseen.connect("http://127.0.0.1:7878") as graph:
    graph.add([("Atlantis", "borders", "France")])
    for answer in graph.ask("?x : borders(x, France)"):
        print(answer.entity, answer.known, answer.probability)
```

It needs only the standard library. Several threads may use one client; each has its own connection.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import local
from typing import TYPE_CHECKING, Any, Self, overload
from urllib.parse import urlencode, urlsplit

from unseen.asking.answers import Answer, Answers
from unseen.errors import QueryError, QueryRefused, QuerySyntaxError, ServerError, UnknownName
from unseen.probability.answer_counts import ExpectedNumber
from unseen.reasons.reason import Reason
from unseen.scoring.scores import Score, Scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Given = str | tuple[str, str, str]

_NOT_OURS = "the response has an unexpected form; is this a server of unseen?"
RESULTS = "application/sparql-results+json"


@dataclass(frozen=True)
class GraphCounts:
    """The size of the graph of a server."""

    num_entities: int
    num_relations: int
    num_triples: int


def connect(url: str = "http://127.0.0.1:7878", *, api_key: str | None = None, timeout: float = 60.0) -> Client:
    """A client of the server at `url`. It connects with the first request."""
    return Client(url, api_key=api_key, timeout=timeout)


class Client:
    """A client of one server; also a context manager."""

    def __init__(self, url: str, *, api_key: str | None = None, timeout: float = 60.0) -> None:
        self.url, self._timeout = url.rstrip("/"), timeout
        self._scheme, self._host, self._port, self._base = _parts(url)
        if api_key is not None and not api_key.isprintable():
            raise ServerError("a key is made of printable characters")
        self._headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}".encode()}
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

    def ask(  # noqa: PLR0913  # all but the first say how, not what
        self,
        question: str,
        *,
        top: int | None = None,
        explain: bool = False,
        predicted_only: bool = False,
        exact: bool = False,
        all_predictions: bool = False,
        kind: str | None = None,
        type_relation: str | None = None,
        new: bool = False,
        order_by: str | None = None,
        predict_values: bool = False,
    ) -> Answers:
        """The answers to a question (formula or SPARQL): known answers first, then predicted ones."""
        body = {"question": question, "top": top, "explain": explain, "predicted_only": predicted_only, "exact": exact}
        more = {"all_predictions": all_predictions, "kind": kind, "type_relation": type_relation, "new": new}
        more |= {"order_by": order_by, "predict_values": predict_values}
        said = {name: value for name, value in more.items() if value}
        found = self._json("POST", "/ask", {**body, **said}, text=question)
        with _of_our_shape():
            counts = GraphCounts(*(found["graph"][name] for name in ("entities", "relations", "triples")))
            answers = tuple(_answer(one) for one in found["answers"])
            warnings = tuple(found.get("warnings", ()))
            search = found.get("complete"), found.get("missed")
            variables = tuple(answers[0].values) if answers else ()
            expected = None if "expected" not in found else ExpectedNumber.from_json(found["expected"])
            told = found["query"], found["method"], counts, found["known"], answers, warnings, variables
            return Answers(*told, *search, expected=expected)

    @overload
    def score(
        self,
        statements: Given,
        *,
        explain: bool = ...,
        exact: bool = ...,
        type_relation: str | None = ...,
    ) -> Score: ...
    @overload
    def score(
        self,
        statements: list[Given],
        *,
        explain: bool = ...,
        exact: bool = ...,
        type_relation: str | None = ...,
    ) -> Scores: ...
    def score(
        self,
        statements: Given | list[Given],
        *,
        explain: bool = False,
        exact: bool = False,
        type_relation: str | None = None,
    ) -> Score | Scores:
        """How likely statements are: a formula, an ASK or a triple as a tuple, or a list of at most 1,000 of these."""
        is_one = isinstance(statements, str) or _is_triple(statements)
        sent = statements if isinstance(statements, str) else list(statements)
        body: dict[str, Any] = {"statement" if is_one else "statements": sent, "explain": explain, "exact": exact}
        body |= {"type_relation": type_relation} if type_relation else {}
        found = self._json("POST", "/score", body, text=sent if isinstance(sent, str) else "")
        with _of_our_shape():
            scores = [Score.from_json({"method": found["method"], **one}) for one in found["scores"]]
            return scores[0] if is_one else Scores.of(scores, found["method"], found.get("warnings") or ())

    def add(self, triples: Iterable[Sequence[str]]) -> int:
        """Add triples by name, all or none, and return how many are new. They are durable and count at once."""
        sent = [list(triple) for triple in triples]
        found = self._json("POST", "/triples", {"triples": sent}) if sent else {"added": 0}
        with _of_our_shape():
            return int(found["added"])

    def remove(self, triples: Iterable[Sequence[str]]) -> int:
        """Remove triples by name, all or none, and return how many existed."""
        sent = [list(triple) for triple in triples]
        found = self._json("DELETE", "/triples", {"triples": sent}) if sent else {"removed": 0}
        with _of_our_shape():
            return int(found["removed"])

    def query(self, sparql: str, *, infer: bool = False, top: int | None = None) -> list[dict[str, str]]:
        """The solutions of a SPARQL SELECT with values as plain text; exact unless `infer` is true."""
        parameters = {"query": sparql} | ({"infer": "true"} if infer else {}) | ({"k": str(top)} if top else {})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": RESULTS}
        found = _read(self._send("POST", "/query", urlencode(parameters).encode(), headers, sparql))
        with _of_our_shape():
            if "boolean" in found:
                return [{"boolean": str(found["boolean"]).lower()}]
            return [{name: term["value"] for name, term in row.items()} for row in found["results"]["bindings"]]

    def update(self, sparql: str) -> None:
        """Run a SPARQL update, all or nothing."""
        self._send("POST", "/update", sparql.encode(), {"Content-Type": "application/sparql-update"}, sparql)

    def overview(self) -> dict[str, Any]:
        """The contents of the graph: counts, relations with example facts, attributes, first questions."""
        found: dict[str, Any] = _read(self._send("GET", "/.json", None, {}))
        return found

    def entities(self, search: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """Entities whose name contains a text."""
        found: list[dict[str, Any]] = self._listed("entities", search, limit)
        return found

    def relations(self, search: str = "", limit: int = 1000) -> list[dict[str, Any]]:
        """Relations whose name contains a text, the most frequent first."""
        found: list[dict[str, Any]] = self._listed("relations", search, limit)
        return found

    def _listed(self, what: str, search: str, limit: int) -> Any:
        address = f"/{what}?{urlencode({'search': search, 'limit': limit})}"
        found = _read(self._send("GET", address, None, {}))
        with _of_our_shape():
            return found[what]

    def _json(self, method: str, address: str, body: dict[str, Any], text: str = "") -> Any:
        try:
            sent = json.dumps(body).encode()
        except TypeError:
            raise ServerError("names must be texts") from None
        return _read(self._send(method, address, sent, {"Content-Type": "application/json"}, text))

    def _send(self, method: str, address: str, body: bytes | None, headers: dict[str, str], text: str = "") -> bytes:
        """The body of a successful answer; otherwise an error.

        A connection that the server closed while nobody used it is made again, once; nothing else is sent twice, and
        an update, which may do more when it is done twice, has a new connection.
        """
        if address == "/update":
            self.close()
        try:
            response = self._response(method, address, body, headers)
            content = response.read()
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            raise ServerError(f"{self.url} does not answer: {error or type(error).__name__}") from None
        if response.status >= 400:
            raise _error(response.status, content, text, _seconds(response.getheader("Retry-After")))
        return content

    def _response(self, method: str, address: str, body: bytes | None, headers: dict[str, str]) -> HTTPResponse:
        is_used = getattr(self._local, "connection", None) is not None
        connection = self._connection()
        try:
            connection.request(method, self._base + address, body, {**self._headers, **headers})
            return connection.getresponse()
        except (ConnectionResetError, BrokenPipeError):  # RemoteDisconnected, not one byte of an answer, is the first
            self.close()
            if not is_used:
                raise
        return self._response(method, address, body, headers)

    def _connection(self) -> HTTPConnection:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            kind = HTTPSConnection if self._scheme == "https" else HTTPConnection
            connection = self._local.connection = kind(self._host, self._port, timeout=self._timeout)
        return connection


def _parts(url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path of the address of a server."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise ServerError(f"the address of a server looks like http://127.0.0.1:7878, not {url!r}")
    return parts.scheme, host, port, parts.path.rstrip("/")


def _read(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        raise ServerError(_NOT_OURS) from None


@contextmanager
def _of_our_shape() -> Iterator[None]:
    """Raise an error if the server's answer lacks required parts."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError):
        raise ServerError(_NOT_OURS) from None


def _answer(plain: dict[str, Any]) -> Answer:
    edges = tuple((head, relation, tail) for head, relation, tail in plain.get("edges") or ())
    reasons = tuple(Reason.from_json(one) for one in plain.get("reasons") or ())
    status = plain["known"], plain["probability"], plain["bindings"]
    several: dict[str, Any] = {"values": plain.get("values") or {}, "keys": plain.get("keys") or {}}
    several["attributes"] = plain.get("attributes") or {}
    return Answer(plain["rank"], plain["entity"], *status, edges, reasons, key=plain.get("key") or "", **several)


def _is_triple(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 3 and all(isinstance(part, str) for part in given)


def _seconds(retry_after: str | None) -> int | None:
    """The seconds of a Retry-After header; None for a date, which our server never sends."""
    text = (retry_after or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _error(status: int, content: bytes, text: str, retry_after: int | None) -> Exception:
    """The error that the library would raise for the same question, if there is one."""
    try:
        found = json.loads(content)["error"]
        code, message = str(found["code"]), str(found["message"])
    except (ValueError, LookupError, TypeError):
        return ServerError(f"the server answered with status {status}", status=status, retry_after=retry_after)
    error: QueryError | None = None
    position = found.get("position")
    if code in ("unknown_entity", "unknown_relation") and "name" in found:
        error = UnknownName(code.removeprefix("unknown_"), found["name"], found.get("closest", ()))
    elif code == "syntax_error" and "problem" in found:
        error = QuerySyntaxError(found["problem"], text=text, position=min(found["position"], len(text)))
    elif code == "refused" and "reason" in found:
        error = QueryRefused(found["reason"], text=text if position is not None else None, position=position)
    if error is not None:
        error.show(text, position if isinstance(error, UnknownName) else None, found.get("suggestion") or "")
        return error
    return ServerError(message, status=status, code=code, details=found, retry_after=retry_after)
