"""The description of every route: parameters, bodies, examples, and possible statuses."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from unseen.database.format_versions import GRAPHS, READABLE_GRAPHS, SOLUTIONS
from unseen.server.schemas import ASK_REQUEST, COMPONENTS, SCORE_REQUEST, TRIPLES_REQUEST, reference
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unseen.server.route_table import Route

Description = dict[str, Any]

_REASONS = {
    400: "The request cannot be answered as written; the error says what and where.",
    401: "A key is needed, or the key is not known.",
    403: "The key may not do this, or the request comes from a foreign web page.",
    404: "There is no such graph.",
    406: "None of the accepted media types can be given.",
    408: "The body took too long to arrive.",
    413: "The request is too large.",
    415: "The body has another type than those allowed.",
    422: "The question would take longer than the time limit; to send it again does not help.",
    503: "Too many requests are waiting; Retry-After says when to come back.",
    504: "The time limit has passed.",
    507: "The disk is full; nothing was changed.",
}
_RETRY_AFTER = {
    "Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer", "minimum": 1}}
}
_READING = (400, 401, 403, 503, 504)
_WRITING = (400, 401, 403, 408, 413, 415, 503, 507)
_EXAMPLE = "SELECT ?x WHERE { :France :borders ?x }"
_PREDICTED = "SELECT ?x ?score ?known WHERE { :France :borders ?x }"


def _json(name: str, description: str) -> dict[str, Any]:
    """An answer in JSON, of a schema with a name."""
    return {"description": description, "content": {"application/json": {"schema": reference(name)}}}


def _errors(*statuses: int) -> dict[str, dict[str, Any]]:
    return {str(status): _error(status) for status in sorted(set(statuses))}


def _error(status: int) -> dict[str, Any]:
    described = _json("Error", _REASONS[status])
    return described | {"headers": _RETRY_AFTER} if status == 503 else described


def _parameter(name: str, description: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema, **more}


def _content(media_types: list[str]) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string"}} for media_type in media_types}


def _results() -> dict[str, Any]:
    content: dict[str, Any] = {media_type: {} for media_type in (*SOLUTIONS, *GRAPHS)}
    return {"description": "The results, in the media type that Accept asks for.", "content": content}


def _json_body(schema: dict[str, Any], examples: dict[str, Any]) -> dict[str, Any]:
    named = {name: {"value": value} for name, value in examples.items()}
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": named}}}


_INFER = [
    _parameter(
        "infer", "Whether to predict answers too; only SELECT and ASK of supported shapes.", {"type": "boolean"}
    ),
    _parameter("k", "How many predicted answers.", {"type": "integer", "minimum": 1, "maximum": 1000}, example=10),
]
_GRAPH_URIS = [
    _parameter(name, "See the SPARQL 1.1 Protocol.", {"type": "array", "items": {"type": "string", "format": "uri"}})
    for name in ("default-graph-uri", "named-graph-uri")
]
_QUERY = _parameter("query", "SPARQL.", {"type": "string", "minLength": 1}, required=True, example=_EXAMPLE)
_GRAPH = [
    _parameter("default", "The default graph, which models read.", {"type": "string"}, allowEmptyValue=True),
    _parameter("graph", "The IRI of a named graph.", {"type": "string", "format": "uri"}),
]


def _form(name: str, example: str) -> dict[str, Any]:
    fields: dict[str, Any] = {name: {"type": "string", "minLength": 1}}
    if name == "query":
        fields |= {"infer": {"type": "boolean"}, "k": {"type": "integer", "minimum": 1, "maximum": 1000}}
    schema = {"type": "object", "required": [name], "properties": fields}
    return {
        "required": True,
        "content": {
            f"application/sparql-{name}": {"schema": {"type": "string", "minLength": 1}, "example": example},
            "application/x-www-form-urlencoded": {"schema": schema, "example": {name: example}},
        },
    }


def _graph_body() -> dict[str, Any]:
    content = _content(list(READABLE_GRAPHS))
    content["text/turtle"]["example"] = "<urn:unseen:Atlantis> <urn:unseen:borders> <urn:unseen:France> ."
    return {"required": True, "content": content}


_NOTHING = {"204": {"description": "Done, and on disk."}}

QUERY_GET: Description = {
    "tags": ["SPARQL"],
    "summary": "Query, by address",
    "responses": {"200": _results(), **_errors(*_READING, 406, 422)},
    "parameters": [_QUERY, *_INFER, *_GRAPH_URIS],
}
QUERY_POST: Description = {
    "tags": ["SPARQL"],
    "summary": "Query, by body",
    "responses": {"200": _results(), **_errors(*_READING, 406, 408, 413, 415, 422)},
    "parameters": [*_INFER, *_GRAPH_URIS],
    "requestBody": _form("query", _PREDICTED),
}
UPDATE: Description = {
    "tags": ["SPARQL"],
    "summary": "Update",
    "responses": {**_NOTHING, **_errors(*_WRITING)},
    "requestBody": _form("update", "INSERT DATA { :Atlantis :borders :France }"),
}
STORE_GET: Description = {
    "tags": ["Graph store"],
    "summary": "Read a graph",
    "responses": {
        "200": {"description": "The graph.", "content": {media_type: {} for media_type in GRAPHS}},
        **_errors(*_READING, 404, 406),
    },
    "parameters": _GRAPH,
}
STORE_PUT: Description = {
    "tags": ["Graph store"],
    "summary": "Replace a graph",
    "responses": {"201": {"description": "Made a new graph."}, **_NOTHING, **_errors(*_WRITING)},
    "parameters": _GRAPH,
    "requestBody": _graph_body(),
}
STORE_POST: Description = {**STORE_PUT, "summary": "Add to a graph"}
STORE_DELETE: Description = {
    "tags": ["Graph store"],
    "summary": "Remove a graph",
    "responses": {**_NOTHING, **_errors(400, 401, 403, 404, 503, 507)},
    "parameters": _GRAPH,
}
ASK: Description = {
    "tags": ["Questions"],
    "summary": "Ask a question",
    "responses": {
        "200": _json("Answers", "The answers."),
        **_errors(*_READING, 408, 413, 415, 422),
    },
    "requestBody": _json_body(
        ASK_REQUEST,
        {
            "formula": {"question": "?x : borders(France, x) & !speaks(x, German)", "top": 5, "explain": True},
            "SPARQL": {"question": _EXAMPLE},
        },
    ),
}
SCORE: Description = {
    "tags": ["Questions"],
    "summary": "How likely is this?",
    "responses": {"200": _json("Scores", "The scores."), **_errors(*_READING, 408, 413, 415, 422)},
    "requestBody": _json_body(
        SCORE_REQUEST,
        {
            "a formula": {"statement": "borders(France, Austria) & !speaks(Austria, French)", "explain": True},
            "triples": {"statements": [["France", "borders", "Austria"], ["France", "borders", "Chile"]]},
        },
    ),
}
_TRIPLES_BODY = _json_body(
    TRIPLES_REQUEST,
    {"a new country": {"triples": [["Atlantis", "borders", "France"], ["Atlantis", "speaks", "French"]]}},
)
TRIPLES_POST: Description = {
    "tags": ["Facts"],
    "summary": "Add triples",
    "responses": {"200": _json("Added", "Done, and on disk."), **_errors(*_WRITING)},
    "requestBody": _TRIPLES_BODY,
}
TRIPLES_DELETE: Description = {
    "tags": ["Facts"],
    "summary": "Remove triples",
    "responses": {"200": _json("Removed", "Done, and on disk."), **_errors(*_WRITING)},
    "requestBody": _TRIPLES_BODY,
}
_SEARCH = [
    _parameter("search", "A part of the name.", {"type": "string"}, example="fra"),
    _parameter("limit", "How many.", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}),
]
ENTITIES: Description = {
    "tags": ["Names"],
    "summary": "Find entities",
    "responses": {"200": _json("Entities", "Entities."), **_errors(*_READING)},
    "parameters": _SEARCH,
}
RELATIONS: Description = {
    "tags": ["Names"],
    "summary": "List relations",
    "responses": {"200": _json("Relations", "Relations."), **_errors(*_READING)},
    "parameters": _SEARCH,
}
HEALTH: Description = {
    "tags": ["Operation"],
    "summary": "Whether the server is well",
    "responses": {"200": _json("Health", "It is."), **_errors(503)},
}
METRICS: Description = {
    "tags": ["Operation"],
    "summary": "Numbers for Prometheus",
    "responses": {
        "200": {"description": "Text.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **_errors(401, 403, 503),
    },
}


def document(routes: Iterable[Route], *, has_keys: bool) -> dict[str, Any]:
    """The description of a server: what `/openapi.json` says."""
    paths: dict[str, Any] = {}
    for route in routes:
        if route.description is not None:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, has_keys=has_keys)
    components: dict[str, Any] = {"schemas": COMPONENTS}
    if has_keys:
        components["securitySchemes"] = _KEYS
    about = "A graph that lives: exact SPARQL, predicted answers, facts that count at once."
    information = {"title": "unseen", "version": __version__, "description": about}
    return {"openapi": "3.1.0", "info": information, "paths": paths, "components": components}


_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def _operation(route: Route, *, has_keys: bool) -> dict[str, Any]:
    """What is said of one route: its description, the docstring of its function, and whether it needs a key."""
    name = f"{route.method.lower()}_{route.path.strip('/').replace('.', '_')}"
    needed: list[dict[str, list[str]]] = [{"bearer": []}, {"header": []}] if has_keys and route.right != "open" else []
    security = {"security": needed} if has_keys else {}
    return {"operationId": name, "description": inspect.getdoc(route.answer), **(route.description or {}), **security}
