"""The JSON that goes in and comes out, as JSON Schema: `/openapi.json` shows it, request bodies are checked by it."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer"}
_TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}
_OPTIONAL_NAME: Schema = {"type": ["string", "null"], "minLength": 1, "maxLength": 65_536}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 65_536}
TRIPLE: Schema = {"type": "array", "items": NAME, "minItems": 3, "maxItems": 3}


def _object(description: str, properties: Schema, *, optional: tuple[str, ...] = (), **more: Any) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "description": description, "properties": properties, "required": required, **more}


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": reference(name)}


def reference(name: str) -> Schema:
    """The schema of that name among COMPONENTS."""
    return {"$ref": f"#/components/schemas/{name}"}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "default": False, "description": description}


ASK_REQUEST = _object(
    "A question.",
    {
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100_000,
            "description": "A formula, or a SPARQL SELECT.",
        },
        "top": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 1000,
            "description": "How many answers: 10, or what a SPARQL LIMIT says.",
        },
        "explain": _flag("Whether to say why: proofs, and rules with the facts behind them."),
        "predicted_only": _flag("Whether to leave out what the graph says itself."),
        "exact": _flag("Whether to leave out predictions."),
        "all_predictions": _flag("Whether to give predictions also where they are no better than chance."),
        "kind": {
            **_OPTIONAL_NAME,
            "description": "Only entities that this relation leads to (`^` before it: comes from); `question` means "
            "the relations of the question itself.",
        },
        "type_relation": {**_OPTIONAL_NAME, "description": "The relation of `x a Kind`; rdf:type if not given."},
        "new": _flag("Whether to leave out what is already related to an entity that the question names."),
        "order_by": {
            **_OPTIONAL_NAME,
            "description": "An attribute, `name` or `probability`, with ` desc` for the largest first.",
        },
        "predict_values": _flag("Whether to predict comparisons of values that are not recorded."),
    },
    optional=(
        "top",
        "explain",
        "predicted_only",
        "exact",
        "all_predictions",
        "kind",
        "type_relation",
        "new",
        "order_by",
        "predict_values",
    ),
    additionalProperties=False,
)
_STATEMENT_TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 100_000}
_STATEMENT: Schema = {**_STATEMENT_TEXT, "type": ["string", "array"], "items": NAME, "minItems": 3, "maxItems": 3}
SCORE_REQUEST = _object(
    "One statement, or several.",
    {
        "statement": {
            **_STATEMENT,
            "description": "A formula without an answer variable, a SPARQL ASK, or a triple: head, relation, tail.",
        },
        "statements": {
            "type": "array",
            "items": _STATEMENT,
            "minItems": 1,
            "maxItems": 1000,
            "description": "Several of them; what is wrong with one is said in its place.",
        },
        "explain": _flag("Whether to say why: proofs, and rules with the facts behind them."),
        "exact": _flag("Whether to look at the graph alone: the probability is 0 or 1."),
        "type_relation": {**_OPTIONAL_NAME, "description": "The relation of `x a Kind`; rdf:type if not given."},
    },
    optional=("statement", "statements", "explain", "exact", "type_relation"),
    additionalProperties=False,
)
TRIPLES_REQUEST = _object(
    "Triples by name: head, relation, tail.",
    {"triples": {"type": "array", "items": TRIPLE, "minItems": 1}},
    additionalProperties=False,
)

COMPONENTS: dict[str, Schema] = {
    "Answer": _object(
        "One answer.",
        {
            "rank": COUNT,
            "entity": {"type": "string", "description": "The readable name."},
            "key": {"type": ["string", "null"], "description": "The unique name: the IRI, or the name in the file."},
            "known": {"type": "boolean", "description": "Whether the graph says so itself."},
            "probability": {"type": "number"},
            "bindings": {"type": "object", "additionalProperties": TEXT},
            "values": {**_TEXTS, "description": "By answer variable the name, where a question has several."},
            "keys": {**_TEXTS, "description": "By answer variable the key, where a question has several."},
            "edges": {"type": ["array", "null"], "items": TRIPLE},
            "reasons": _list_of("Reason"),
        },
        optional=("values", "keys", "edges", "reasons"),
    ),
    "Score": _object(
        "How likely one statement is.",
        {
            "statement": TEXT,
            "probability": {"type": ["number", "null"], "description": "Null where `error` says why there is none."},
            "known": {"type": "boolean", "description": "Whether the graph says so itself."},
            "bindings": {**_TEXTS, "description": "The likeliest values of variables."},
            "edges": {"type": "array", "items": TRIPLE},
            "reasons": _list_of("Reason"),
            "warnings": {"type": "array", "items": TEXT},
            "error": TEXT,
        },
        optional=("bindings", "edges", "reasons", "warnings", "error"),
    ),
    "Scores": _object(
        "How likely statements are, in their order.",
        {"method": TEXT, "scores": _list_of("Score"), "warnings": {"type": "array", "items": TEXT}},
        optional=("warnings",),
    ),
    "Reason": _object(
        "Why a link of an answer is believed.",
        {
            "kind": {"enum": ["rule", "network", "known", "absent"]},
            "text": {"type": "string", "description": "The reason in words, plain text."},
            "head": {**TRIPLE, "description": "The link that it speaks for."},
            "body": {"type": "array", "items": TRIPLE, "description": "Edges of the graph."},
            "rule": {"type": "string", "description": "The rule in general."},
            "confidence": {"type": "number", "description": "Of the rule, smoothed: no probability of the answer."},
            "support": {"type": "number", "description": "For how many the rule holds."},
            "pairs": {"type": "number", "description": "For how many its body holds."},
            "probability": {"type": "number", "description": "What the model gives the link without any rules."},
            "share": {"type": "number", "description": "That, as a part of what the whole method gives."},
            "effects": _list_of("Effect"),
        },
        optional=("head", "body", "rule", "confidence", "support", "pairs", "probability", "share", "effects"),
    ),
    "Effect": _object(
        "The model's probability of a link without one fact.", {"edge": TRIPLE, "without": {"type": "number"}}
    ),
    "ExpectedNumber": _object(
        "How many answers there are in all by expectation, shown or not, known ones included.",
        {
            "mean": {"type": "number"},
            "median": {"type": "integer", "description": "The number that the true one exceeds as often as not."},
            "low": COUNT,
            "high": COUNT,
            "share": {"type": "number", "description": "How often the number should lie from `low` to `high`."},
        },
    ),
    "Counts": _object("How large the graph is.", {"entities": COUNT, "relations": COUNT, "triples": COUNT}),
    "Answers": _object(
        "The answers to a question, known ones first.",
        {
            "query": TEXT,
            "method": TEXT,
            "graph": reference("Counts"),
            "known": {"type": "integer", "description": "How many answers the graph itself gives, shown or not."},
            "answers": _list_of("Answer"),
            "expected": reference("ExpectedNumber"),
            "warnings": {
                "type": ["array", "null"],
                "items": TEXT,
                "description": "What cannot be predicted, or why there can hardly be an answer; absent if none.",
            },
            "complete": {
                "type": "boolean",
                "description": "For several answer variables or cycles: whether no better answer can be missing.",
            },
            "missed": {"type": "number", "description": "No missing answer is more probable than this."},
        },
        optional=("expected", "warnings", "complete", "missed"),
    ),
    "Added": _object("What adding did.", {"added": COUNT, "unchanged": COUNT}),
    "Removed": _object("What removing did.", {"removed": COUNT, "unchanged": COUNT}),
    "Entity": _object(
        "An entity: its readable name, its IRI, and how many edges it has.", {"name": TEXT, "iri": TEXT, "edges": COUNT}
    ),
    "Entities": _object("Entities found.", {"entities": _list_of("Entity")}),
    "Relation": _object(
        "A relation: its readable name, its IRI, and how many triples it has.",
        {"name": TEXT, "iri": TEXT, "triples": COUNT},
    ),
    "Relations": _object("Relations found.", {"relations": _list_of("Relation")}),
    "Health": _object(
        "That the server answers, and with what.",
        {
            "status": TEXT,
            "version": TEXT,
            "model": TEXT,
            "ready": {"type": "boolean", "description": "Whether the model has been made ready for the graph."},
        },
    ),
    "ErrorDetails": _object(
        "What was wrong.",
        {
            "code": TEXT,
            "message": TEXT,
            "closest": {
                "type": ["array", "null"],
                "items": TEXT,
                "description": "For an unknown name: the names most like it.",
            },
            "position": {
                "type": ["integer", "null"],
                "description": "For a text: where it goes wrong, counted from 0.",
            },
            "suggestion": {
                "type": ["string", "null"],
                "description": "For a question: the nearest one that works, if there is one.",
            },
        },
        optional=("closest", "position", "suggestion"),
        additionalProperties=True,
    ),
    "Error": _object("Every error has this shape.", {"error": reference("ErrorDetails")}),
}
