"""What one file holds: names in the order in which they first appear, and edges over their positions."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import GraphError, MalformedLine
from unseen.graph.arrow_arrays import numbers_of, text_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph.attributes import ValueRows

    Ids = NDArray[np.int32]

LONGEST_NAME = 1 << 16
"""Characters; what is longer is a broken file, not a name."""


class Problems:
    """The lines left out of a file: how many, and what was wrong with the first."""

    def __init__(self) -> None:
        self.number = 0
        self.first: MalformedLine | None = None

    def add(self, problem: MalformedLine) -> None:
        """Count one line more."""
        self.first = self.first or problem
        self.number += 1


class Label(NamedTuple):
    """A readable text for something, and how welcome it is: the smallest rank wins."""

    rank: int
    text: str


@dataclass(frozen=True)
class Part:
    """The triples of one file: `heads` and `tails` are positions in `entities`, `relation_ids` in `relations`."""

    entities: pa.Array
    relations: pa.Array
    heads: Ids
    relation_ids: Ids
    tails: Ids
    labels: Mapping[str, Label] = field(default_factory=dict)
    values: ValueRows | None = None
    """Literals as values of their subjects, if there are any."""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    has_blank_nodes: bool = False
    num_literals: int = 0
    num_labels: int = 0
    problems: Problems = field(default_factory=Problems)

    @property
    def num_triples(self) -> int:
        """Edges, repeated ones included."""
        return len(self.heads)

    def checked(self, path: Path | None = None) -> Part:
        """The same part, unless it has a name that cannot be one."""
        if has_bad_name(self.entities) or has_bad_name(self.relations):
            problem = f"a name is empty, not UTF-8, longer than {LONGEST_NAME:,} characters, or holds a NUL byte"
            raise GraphError(problem, path=path)
        return self

    def renamed(self, renames: Mapping[str, str]) -> Part:
        """The same triples with other names; names that become equal become one."""
        if not renames:
            return self
        entities, entity_ids = _replaced(self.entities, renames)
        relations, relation_ids = _replaced(self.relations, renames)
        return replace(
            self,
            entities=entities,
            relations=relations,
            heads=entity_ids[self.heads],
            relation_ids=relation_ids[self.relation_ids],
            tails=entity_ids[self.tails],
            labels={renames.get(name, name): label for name, label in self.labels.items()},
            values=None if self.values is None else _renamed_values(self.values, renames),
        )


class PartBuilder:
    """Triples one at a time, numbered as they come: the way of the formats that columns cannot hold."""

    def __init__(self) -> None:
        self.entities: defaultdict[str, int] = defaultdict(count().__next__)
        self.relations: defaultdict[str, int] = defaultdict(count().__next__)
        self._columns = (array("i"), array("i"), array("i"))

    def add_all(self, triples: Iterable[tuple[str, str, str]]) -> None:
        """Take in triples."""
        entities, relations = self.entities, self.relations
        add_head, add_relation, add_tail = (column.append for column in self._columns)
        for head, relation, tail in triples:
            add_head(entities[head])
            add_relation(relations[relation])
            add_tail(entities[tail])

    def part(self, problems: Problems) -> Part:
        """Everything taken in."""
        heads, relation_ids, tails = (np.array(column, np.int32) for column in self._columns)
        names = (text_array(list(self.entities)), text_array(list(self.relations)))
        return Part(*names, heads, relation_ids, tails, problems=problems)


def _replaced(names: pa.Array, renames: Mapping[str, str]) -> tuple[pa.Array, Ids]:
    """The distinct names after renaming, and where each old one is among them."""
    encoded = text_array([renames.get(name, name) for name in names.to_pylist()]).dictionary_encode()
    return encoded.dictionary, numbers_of(encoded.indices)


def _renamed_values(values: ValueRows, renames: Mapping[str, str]) -> ValueRows:
    subjects, subject_ids = _replaced(values.subjects, renames)
    attributes, attribute_ids = _replaced(values.attributes, renames)
    return replace(
        values,
        subjects=subjects,
        attributes=attributes,
        subject_ids=subject_ids[values.subject_ids],
        attribute_ids=attribute_ids[values.attribute_ids],
    )


def has_bad_name(names: pa.Array) -> bool:
    """Whether some name (of type `TEXT`) is empty, overlong, not UTF-8, or holds a NUL byte."""
    if len(names) == 0:
        return False
    try:
        names.validate(full=True)
    except pa.ArrowInvalid:
        return True
    _, offsets, data = names.buffers()
    bounds = np.frombuffer(offsets, np.int64)[names.offset : names.offset + len(names) + 1]
    sizes = np.diff(bounds)
    if sizes.min() == 0 or 0 in np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]:
        return True
    return bool(sizes.max() > LONGEST_NAME and pc.max(pc.utf8_length(names)).as_py() > LONGEST_NAME)
