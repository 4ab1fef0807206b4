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
    "Counts": _object("How large the graph is.", {"entities": COUNT, "relations": COUNT, "triples": COUNT}),
    "Answers": _object(
        "The answers to a question, known ones first.",
        {
            "query": TEXT,
            "method": TEXT,
            "graph": reference("Counts"),
            "known": {"type": "integer", "description": "How many answers the graph itself gives, shown or not."},
            "answers": _list_of("Answer"),
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
        optional=("warnings", "complete", "missed"),
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
    "Health": _object("That the server answers, and with what.", {"status": TEXT, "version": TEXT, "model": TEXT}),
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
        },
        optional=("closest", "position"),
        additionalProperties=True,
    ),
    "Error": _object("Every error has this shape.", {"error": reference("ErrorDetails")}),
}
