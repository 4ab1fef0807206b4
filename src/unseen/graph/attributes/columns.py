"""The values of a graph in columns: which entity has which value of which attribute.

Rows are sorted by attribute, then entity, then value; an entity may have many values of one attribute. Equal values are
stored once (`literals`). Cost: 12 bytes a row, and the distinct literals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.arrow_arrays import text_array
from unseen.graph.attributes.literal_table import EMPTY_TABLE, LiteralTable
from unseen.graph.names import Names

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from unseen.graph.prefixes import Prefixes

    Ids = NDArray[np.int32]


@dataclass(frozen=True)
class ValueRows:
    """Values by names, as a file holds them: the ids are places in `subjects`, `attributes` and `literals`."""

    subjects: pa.Array
    attributes: pa.Array
    literals: LiteralTable
    subject_ids: Ids
    attribute_ids: Ids
    literal_ids: Ids

    def __len__(self) -> int:
        return len(self.subject_ids)


class Attributes:
    """Values of entities; immutable. `entities`, `attributes` and `values` are columns of ids.

    `names` are those of the attributes; a value is a place in `literals`. The rows of attribute a are those from
    `offsets[a]` to before `offsets[a + 1]`.
    """

    def __init__(self, names: Names, entities: Ids, attributes: Ids, values: Ids, literals: LiteralTable) -> None:
        order = np.lexsort((values, entities, attributes))
        columns = [np.asarray(column, np.int32)[order] for column in (entities, attributes, values)]
        if len(order):
            kept = np.ones(len(order), bool)
            kept[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
            columns = [column[kept] for column in columns]
        for column in columns:
            column.flags.writeable = False
        self.names, self.literals = names, literals
        self.entities, self.attributes, self.values = columns
        self.offsets = np.searchsorted(self.attributes, np.arange(len(names) + 1))

    def __len__(self) -> int:
        return len(self.entities)

    def rows_of(self, attribute: int) -> slice:
        """The rows of an attribute."""
        return slice(int(self.offsets[attribute]), int(self.offsets[attribute + 1]))

    def of_attribute(self, attribute: int) -> tuple[Ids, Ids]:
        """Entities and values of an attribute, sorted by entity, then value."""
        rows = self.rows_of(attribute)
        return self.entities[rows], self.values[rows]

    @cached_property
    def valued_entities(self) -> Ids:
        """Sorted ids of the entities that have any value."""
        return np.unique(self.entities)

    def joined_with(self, rows: ValueRows, names: Names, entity_ids: Ids, attribute_ids: Ids) -> Attributes:
        """These values and more; `names` are the old ones and the new, the ids those of subjects and attributes."""
        literals, literal_ids = self.literals.joined(rows.literals)
        return Attributes(
            names,
            np.concatenate([self.entities, entity_ids[rows.subject_ids]]),
            np.concatenate([self.attributes, attribute_ids[rows.attribute_ids]]),
            np.concatenate([self.values, literal_ids[rows.literal_ids]]),
            literals,
        )

    def renamed(self, prefixes: Prefixes) -> Attributes:
        """The same values with other prefixes for the names of attributes."""
        if not len(self.names):
            return self
        names = Names(self.names.kind, self.names.keys, self.names.labels, prefixes)
        return Attributes(names, self.entities, self.attributes, self.values, self.literals)

    def without(self, rows: ValueRows, entity_ids: Ids) -> Attributes:
        """These values without some; those that are not there change nothing. `entity_ids` may have -1."""
        if not len(rows) or not len(self):
            return self
        attribute_ids = self.names.find_keys(rows.attributes)
        found = [self.literals.find(rows.literals.text(i), rows.literals.tag(i)) for i in range(len(rows.literals))]
        gone = {
            (int(entity_ids[s]), int(attribute_ids[a]), found[v])
            for s, a, v in zip(rows.subject_ids, rows.attribute_ids, rows.literal_ids, strict=True)
        }
        suspects = np.flatnonzero(np.isin(self.entities, entity_ids))
        kept = np.ones(len(self), bool)
        columns = (self.entities[suspects], self.attributes[suspects], self.values[suspects])
        kept[suspects] = [row not in gone for row in zip(*(column.tolist() for column in columns), strict=True)]
        if kept.all():
            return self
        return Attributes(self.names, self.entities[kept], self.attributes[kept], self.values[kept], self.literals)


_NOTHING = np.empty(0, np.int32)
NO_ATTRIBUTES = Attributes(Names("attribute", text_array([])), _NOTHING, _NOTHING, _NOTHING, EMPTY_TABLE)
