"""What `/openapi.json` says of the routes that the page gets its data from."""

from __future__ import annotations

from typing import Any

Description = dict[str, Any]

_QUESTION = {
    "name": "question",
    "in": "query",
    "required": True,
    "description": "A formula, or a SPARQL SELECT.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 20_000},
    "example": "?x : borders(France, x)",
}
_TOP = {
    "name": "top",
    "in": "query",
    "description": "How many answers.",
    "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
}


_CHOICE = [
    {
        "name": "show",
        "in": "query",
        "description": "Which answers; new ones are predicted and in no way related yet to what the question names.",
        "schema": {"enum": ["all", "known", "predicted", "new"], "default": "all"},
    },
    {
        "name": "kind",
        "in": "query",
        "description": "Keep answers of one of the listed kinds.",
        "schema": {"type": "string"},
    },
    {
        "name": "order",
        "in": "query",
        "description": "In which order.",
        "schema": {"enum": ["rank", "name", "unlikely"], "default": "rank"},
    },
]


def _flag(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "boolean"}}


def _text(name: str, description: str, *, required: bool = False) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1} if required else {"type": "string"}
    return {"name": name, "in": "query", "required": required, "description": description, "schema": schema}


_WISHES = [
    _text("type_relation", "The relation of `x a Kind`; rdf:type if not given."),
    _text("answers_like", "A relation: answers are only what it leads to somewhere; with ^ what it comes from."),
    _text("order_by", "An attribute, `name` or `probability`, with ` desc` for the largest first."),
    _flag("predict_values", "Whether to predict comparisons of values that are not recorded."),
]
_FLAGS = [
    _flag("explain", "Whether to say why."),
    _flag("predicted_only", "Whether to leave out what the graph says itself."),
    _flag("exact", "Whether to leave out predictions."),
    _flag("all_predictions", "Whether to give predictions also where they are no better than chance."),
]
_REASONS = {
    400: "The request cannot be answered as written; the error says what and where.",
    401: "A key is needed, or the key is not known.",
    403: "The request comes from a foreign web page.",
    422: "The question would take longer than the time limit.",
    431: "The address is too long: POST the question to /ask.",
    503: "Too many requests are waiting; Retry-After says when to come back.",
    504: "The time limit has passed.",
}
_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
_PROBLEMS = {str(status): {"description": reason, "content": _ERROR} for status, reason in _REASONS.items()}


def _view(summary: str, description: str, *parameters: dict[str, Any], required: tuple[str, ...]) -> Description:
    """A view as JSON; one that takes a question can be refused for what the question costs."""
    content = {"application/json": {"schema": {"type": "object", "required": list(required)}}}
    is_asked = any(parameter["name"] == "question" for parameter in parameters)
    problems = {status: problem for status, problem in _PROBLEMS.items() if is_asked or status != "422"}
    return {
        "tags": ["Page"],
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": {"description": description, "content": content}, **problems},
    }


def _file(summary: str, media_type: str) -> Description:
    sent = {"200": {"description": "The file.", "content": {media_type: {}}}}
    return {
        "tags": ["Page"],
        "summary": summary,
        "parameters": [_QUESTION, _TOP, *_FLAGS, *_CHOICE, *_WISHES],
        "responses": {**sent, **_PROBLEMS},
    }


OVERVIEW = _view(
    "What is in the graph",
    "Counts, relations, questions.",
    required=("graph", "model", "version", "relations", "attributes", "best_connected", "questions"),
)
QUALITY = _view(
    "How well relations can be predicted",
    "By relation: the share of hidden facts that came back among the first ten answers, and that of any order. A check "
    "runs in the background; `state` is unknown (nothing predicts), running, done or failed; `is_cut` says that its "
    "time was too short for all tries.",
    required=("state", "answered", "planned", "relations"),
)
ASK_JSON = _view(
    "Ask a question by address",
    "The answers, as /ask gives them, each with `kinds` and `related`; with known answers alone, `predicted_in` says "
    "how many seconds predicted ones will take. A statement, which has no answer variable, has a `score` instead. "
    "Without a question: questions to begin with.",
    {**_QUESTION, "required": False, "schema": {"type": "string", "maxLength": 20_000}},
    _TOP,
    *_FLAGS,
    *_CHOICE,
    *_WISHES,
    required=(),
)
ASK_CSV = _file("Ask a question, answers as CSV", "text/csv")
ASK_PARQUET = _file("Ask a question, answers as Parquet", "application/vnd.apache.parquet")
WHY = _view(
    "Why something is an answer",
    "The question as a drawing, one answer explained, with the likeliest values of inner variables, and the sets on "
    "the way.",
    _QUESTION,
    *_WISHES,
    _text("answer", "The name of the answer to explain; the first one if not given."),
    _flag("plain", "Only the drawing and the steps, at once: no answers, no sets."),
    required=("query", "answers", "nodes", "edges", "steps", "answer"),
)
ENTITY_VIEW = _view(
    "An entity",
    "Its facts by relation.",
    _text("name", "The name or IRI of an entity; without one, the best-connected entities are listed."),
    {
        "name": "predict",
        "in": "query",
        "description": "How many predictions for each relation; none if not given.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 20},
    },
    required=(),
)
CHANGE = _view(
    "A fact and a question",
    "Whether the graph has the fact, and the answers as they are now.",
    _text("head", "The head of the fact."),
    _text("relation", "Its relation."),
    _text("tail", "Its tail."),
    {**_QUESTION, "required": False, "schema": {"type": "string", "maxLength": 20_000}},
    _TOP,
    required=("fact", "is_there", "answers", "unknown"),
)
