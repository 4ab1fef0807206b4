"""Values as tables write them: numbers, ISO dates, `true` and `false`; any other text is a string."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import GraphError, shorten
from unseen.graph.attributes.literal_table import LiteralTable
from unseen.graph.attributes.value_kinds import STRING, XSD, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from unseen.graph.attributes.columns import ValueRows

FORMS: tuple[tuple[str, str], ...] = (
    ("integer", r"^[+-]?\d+$"),
    ("decimal", r"^[+-]?(?:\d+\.\d*|\.\d+)$"),
    ("double", r"^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+|[+-]?INF|NaN)$"),
    ("date", r"^-?\d{4,}-\d\d-\d\d$"),
    ("dateTime", r"^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$"),
    ("gYearMonth", r"^\d{4}-\d\d$"),
    ("boolean", r"^(?:true|false)$"),
)
"""The forms of values that are no strings, by the names of their types in XML Schema."""


def literals_of_texts(texts: pa.Array) -> LiteralTable:
    """Distinct texts as literals, each of the type that its form shows."""
    tags = [STRING, *(Tag(XSD + name) for name, _ in FORMS)]
    numbers = np.zeros(len(texts), np.int32)
    for place, (_, form) in enumerate(FORMS, start=1):
        numbers[_matches(texts, form)] = place
    return LiteralTable.of(texts, numbers, tags)


def _matches(texts: pa.Array, form: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.match_substring_regex(texts, form).to_numpy(zero_copy_only=False)
    return found


def literal_of(value: object) -> tuple[str, Tag]:
    """A Python value (or a text as a table writes it) as a literal."""
    if isinstance(value, bool):
        return str(value).lower(), Tag(f"{XSD}boolean")
    if isinstance(value, int | np.integer):
        return str(int(value)), Tag(f"{XSD}integer")
    if isinstance(value, float | np.floating):
        return repr(float(value)).replace("inf", "INF").replace("nan", "NaN"), Tag(f"{XSD}double")
    if isinstance(value, datetime):
        return value.isoformat(), Tag(f"{XSD}dateTime")
    if isinstance(value, date):
        return value.isoformat(), Tag(f"{XSD}date")
    if not isinstance(value, str):
        raise GraphError(f"a value is a number, a date, a boolean or a text, not {shorten(repr(value))}")
    table = literals_of_texts(pa.array([value], pa.large_string()))
    return value, table.tag(0)


def named_rows(values: Iterable[tuple[str, str, object]]) -> ValueRows:
    """Values by name of the entity and of the attribute."""
    from unseen.graph.attributes.collecting import rows_of

    return rows_of((_name(entity), _name(attribute), *literal_of(value)) for entity, attribute, value in values)


def _name(given: object) -> str:
    if not isinstance(given, str) or not given:
        raise GraphError(f"a name must be a non-empty text, not {shorten(repr(given))}")
    return given
