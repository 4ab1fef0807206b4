"""Values one at a time: what readers of RDF and callers in Python hand over."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.arrow_arrays import text_array
from unseen.graph.attributes.columns import ValueRows
from unseen.graph.attributes.literal_table import LiteralTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unseen.graph.attributes.value_kinds import Tag


class ValueCollector:
    """Subjects, attributes and literals, numbered as they come; each name is kept once."""

    def __init__(self) -> None:
        self.subjects: defaultdict[str, int] = defaultdict(count().__next__)
        self._attributes: defaultdict[str, int] = defaultdict(count().__next__)
        self._literals: defaultdict[tuple[str, Tag], int] = defaultdict(count().__next__)
        self._columns = (array("i"), array("i"), array("i"))

    def __len__(self) -> int:
        return len(self._columns[0])

    def add(self, subject: str, attribute: str, text: str, tag: Tag) -> None:
        """Take in one value."""
        subjects, attributes, literals = self._columns
        subjects.append(self.subjects[subject])
        attributes.append(self._attributes[attribute])
        literals.append(self._literals[text, tag])

    def rows(self) -> ValueRows:
        """Everything taken in."""
        subject_ids, attribute_ids, literal_ids = (np.array(column, np.int32) for column in self._columns)
        names = (text_array(list(self.subjects)), text_array(list(self._attributes)))
        literals = LiteralTable.of_pairs(list(self._literals))
        return ValueRows(*names, literals, subject_ids, attribute_ids, literal_ids)


def rows_of(values: Iterable[tuple[str, str, str, Tag]]) -> ValueRows:
    """Values by key of the subject, key of the attribute, text and tag."""
    collector = ValueCollector()
    for subject, attribute, text, tag in values:
        collector.add(subject, attribute, text, tag)
    return collector.rows()
