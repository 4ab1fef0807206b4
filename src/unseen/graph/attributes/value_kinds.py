"""What kind of value a literal is, and the number by which it compares.

Numbers compare as numbers, whatever their type. Dates and times become seconds since 1970 in UTC, with the start of a
year or month for those; one without a time zone is taken as UTC. Whole numbers above 2^53 compare by their nearest
double. A literal whose text does not fit its type, or whose type is not listed here, is `OTHER`: it only equals itself.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

XSD = "http://www.w3.org/2001/XMLSchema#"
LANGUAGE_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
STRING_TYPE = f"{XSD}string"


class Kind(IntEnum):
    """What a value can be compared with: others of the same kind."""

    NUMBER = 0
    BOOLEAN = 1
    STRING = 2
    LANGUAGE = 3
    """A text in some language."""
    DATETIME = 4
    DATE = 5
    MONTH = 6
    YEAR = 7
    TIME = 8
    OTHER = 9
    ENTITY = 10
    """No value at all."""


IN_TIME = (Kind.DATETIME, Kind.DATE, Kind.MONTH, Kind.YEAR)
TEXTS = (Kind.STRING, Kind.LANGUAGE)

WHOLE_TYPES = frozenset(
    XSD + name
    for name in [
        "integer",
        "long",
        "int",
        "short",
        "byte",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
    ]
)
_KINDS = {
    **dict.fromkeys((*WHOLE_TYPES, f"{XSD}decimal", f"{XSD}double", f"{XSD}float"), Kind.NUMBER),
    f"{XSD}boolean": Kind.BOOLEAN,
    STRING_TYPE: Kind.STRING,
    LANGUAGE_TYPE: Kind.LANGUAGE,
    f"{XSD}dateTime": Kind.DATETIME,
    f"{XSD}dateTimeStamp": Kind.DATETIME,
    f"{XSD}date": Kind.DATE,
    f"{XSD}gYearMonth": Kind.MONTH,
    f"{XSD}gYear": Kind.YEAR,
    f"{XSD}time": Kind.TIME,
}
_WHOLE = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_DOUBLE = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|INF)|NaN")
_ZONE = r"(?P<zone>Z|[+-]\d\d:\d\d)?"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d(?:\.\d+)?)"
_YEAR = r"(?P<year>-?\d{4,})"
_FORMS = {
    Kind.YEAR: re.compile(rf"{_YEAR}{_ZONE}"),
    Kind.MONTH: re.compile(rf"{_YEAR}-(?P<month>\d\d){_ZONE}"),
    Kind.DATE: re.compile(rf"{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d){_ZONE}"),
    Kind.DATETIME: re.compile(rf"{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)T{_CLOCK}{_ZONE}"),
    Kind.TIME: re.compile(rf"{_CLOCK}{_ZONE}"),
}
_LONGEST_YEAR = 9
"""Signs of a year that counts to the second."""
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Tag(NamedTuple):
    """The type of a literal, and its language."""

    datatype: str
    language: str = ""


STRING = Tag(STRING_TYPE)


def kind_of(text: str, tag: Tag) -> tuple[Kind, float]:
    """The kind of a literal, and the number by which it compares; NaN where it compares as a text."""
    kind = _KINDS.get(tag.datatype, Kind.OTHER)
    number = _number(text.strip(), kind, tag.datatype) if kind not in (*TEXTS, Kind.OTHER) else float("nan")
    return (Kind.OTHER, float("nan")) if number is None else (kind, number)


def _number(text: str, kind: Kind, datatype: str) -> float | None:
    """The number that a text stands for; None if it does not fit."""
    if kind is Kind.NUMBER:
        form = _WHOLE if datatype in WHOLE_TYPES else _DECIMAL if datatype == f"{XSD}decimal" else _DOUBLE
        return float(text) if form.fullmatch(text) else None
    if kind is Kind.BOOLEAN:
        return {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}.get(text)
    found = _FORMS[kind].fullmatch(text)
    return None if found is None else _seconds(found.groupdict())


def _seconds(parts: dict[str, str | None]) -> float | None:
    """Seconds since 1970 of the parts of a date or time; None if there is no such day or hour."""
    month, day = int(parts.get("month") or 1), int(parts.get("day") or 1)
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return None
    year = parts.get("year") or ""
    if len(year) > _LONGEST_YEAR:  # a float is exact enough, and no integer of a million digits is made
        return float(year) * 365.2425 * 86_400
    days = days_since_1970(int(year), month, day) if year else 0
    hour, minute, second = (float(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if hour > 24 or minute > 59 or second >= 60 or (hour == 24 and (minute or second)):
        return None
    return days * 86_400 + hour * 3600 + minute * 60 + second - _offset(parts.get("zone"))


def days_since_1970(year: int, month: int = 1, day: int = 1) -> int:
    """Days from 1970-01-01 to a day of the proleptic Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _offset(zone: str | None) -> int:
    if zone in (None, "Z", ""):
        return 0
    sign = -1 if zone.startswith("-") else 1
    return sign * (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60)
