"""Whether a request body is as its schema says; the first thing that is not is named with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.server.problems import bad_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.server.schemas import Schema

_TYPES = {
    "object": (dict, "a valid object"),
    "array": (list, "a valid list"),
    "string": (str, "a valid string"),
    "integer": (int, "a valid integer"),
    "boolean": (bool, "a valid boolean"),
    "null": (type(None), "null"),
}


def checked(schema: Schema, body: dict[str, Any]) -> dict[str, Any]:
    """The body, completed with defaults; an error if it does not match its schema."""
    _check(schema, body, ())
    defaults = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
    return defaults | body


def _check(schema: Schema, value: Any, place: tuple[str | int, ...]) -> None:
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next((name for name in allowed if _is(value, name)), None)
    if kind is None:
        raise _wrong(place, f"Input should be {_TYPES[allowed[0]][1]}")
    if check := _CHECKS.get(kind):
        check(schema, value, place)


def _is(value: Any, kind: str) -> bool:
    """Whether a value of JSON has a type; true and false are no numbers."""
    return isinstance(value, _TYPES[kind][0]) and (kind == "boolean" or not isinstance(value, bool))


def _check_object(schema: Schema, value: dict[str, Any], place: tuple[str | int, ...]) -> None:
    properties = schema["properties"]
    for name in schema["required"]:
        if name not in value:
            raise _wrong((*place, name), "Field required")
    for name, part in value.items():
        if name not in properties:
            raise _wrong((*place, name[:100]), "Extra inputs are not permitted")
        _check(properties[name], part, (*place, name))


def _check_array(schema: Schema, value: list[Any], place: tuple[str | int, ...]) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least or (most is not None and len(value) > most):
        wanted = f"{least} items" if least == most else f"at least {least} item"
        raise _wrong(place, f"List should have {wanted}, not {len(value)}")
    for index, part in enumerate(value):
        _check(schema["items"], part, (*place, index))


def _check_string(schema: Schema, value: str, place: tuple[str | int, ...]) -> None:
    if len(value) < schema.get("minLength", 0):
        raise _wrong(place, f"String should have at least {schema['minLength']} character")
    if len(value) > schema.get("maxLength", len(value)):
        raise _wrong(place, f"String should have at most {schema['maxLength']:,} characters")


def _check_integer(schema: Schema, value: int, place: tuple[str | int, ...]) -> None:
    if value < schema.get("minimum", value):
        raise _wrong(place, f"Input should be greater than or equal to {schema['minimum']}")
    if value > schema.get("maximum", value):
        raise _wrong(place, f"Input should be less than or equal to {schema['maximum']}")


_CHECKS: dict[str, Callable[..., None]] = {
    "object": _check_object,
    "array": _check_array,
    "string": _check_string,
    "integer": _check_integer,
}


def _wrong(place: tuple[str | int, ...], message: str) -> Exception:
    where = ".".join(map(str, place))
    return bad_request(f"{where or 'the body'}: {message}", "bad_json")
