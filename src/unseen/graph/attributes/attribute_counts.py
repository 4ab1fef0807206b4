"""What attributes look like in numbers: how many values, of which kind, from where to where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.value_kinds import TEXTS, Kind

if TYPE_CHECKING:
    from unseen.graph.attributes.columns import Attributes

_WORDS = {
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "text",
    Kind.LANGUAGE: "text",
    Kind.DATETIME: "date",
    Kind.DATE: "date",
    Kind.MONTH: "date",
    Kind.YEAR: "date",
    Kind.TIME: "time",
    Kind.OTHER: "other",
}
LONGEST_TEXT = 24


@dataclass(frozen=True)
class AttributeCount:
    """One attribute: its values, the entities that have any, the most frequent kind, and the range of that."""

    attribute: str
    values: int
    entities: int
    kind: str
    smallest: str
    largest: str


def attribute_counts(attributes: Attributes, top: int) -> list[AttributeCount]:
    """The attributes with most values, the largest first."""
    sizes = np.diff(attributes.offsets)
    chosen = np.argsort(-sizes, kind="stable")[:top].tolist()
    return [_count(attributes, attribute) for attribute in chosen if sizes[attribute]]


def _count(attributes: Attributes, attribute: int) -> AttributeCount:
    entities, values = attributes.of_attribute(attribute)
    table = attributes.literals
    kinds = table.kinds[values]
    kind = Kind(int(np.bincount(kinds).argmax()))
    of_kind = np.unique(values[kinds == kind])
    rank = table.text_order[of_kind] if kind in (*TEXTS, Kind.OTHER) else table.numbers[of_kind]
    ends = (int(of_kind[np.nanargmin(rank)]), int(of_kind[np.nanargmax(rank)])) if not np.isnan(rank).all() else (0, 0)
    smallest, largest = (_shortened(table.text(place)) for place in ends)
    name = attributes.names.name(attribute)
    return AttributeCount(name, len(values), len(np.unique(entities)), _WORDS[kind], smallest, largest)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
