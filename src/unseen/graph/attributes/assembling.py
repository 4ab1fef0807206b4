"""Values of several files, put together: subjects become entities, attributes get one set of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.arrow_arrays import id_array, text_array
from unseen.graph.attributes.columns import Attributes
from unseen.graph.attributes.literal_table import EMPTY_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph.attributes.columns import ValueRows
    from unseen.graph.names import Names

    Ids = NDArray[np.int32]


def with_subjects(entity_keys: pa.Array, rows: Sequence[ValueRows]) -> pa.Array:
    """The keys of entities followed by those that have values only, in order of appearance."""
    if not rows:
        return entity_keys
    subjects = _distinct([one.subjects for one in rows])
    new = subjects.filter(pc.invert(pc.is_in(subjects, value_set=entity_keys)))
    return pa.concat_arrays([entity_keys, new]) if len(new) else entity_keys


def attribute_keys(rows: Sequence[ValueRows]) -> pa.Array:
    """The keys of all attributes, in order of appearance."""
    return _distinct([one.attributes for one in rows])


def attributes_of_parts(rows: Sequence[ValueRows], names: Names, entity_keys: pa.Array) -> Attributes:
    """The values of all files over one set of names."""
    literals = EMPTY_TABLE
    columns: list[tuple[Ids, Ids, Ids]] = []
    for one in rows:
        literals, literal_ids = literals.joined(one.literals)
        subjects = _places(one.subjects, entity_keys)
        attributes = names.find_keys(one.attributes)
        columns.append((subjects[one.subject_ids], attributes[one.attribute_ids], literal_ids[one.literal_ids]))
    entities, attribute_ids, values = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Attributes(names, entities, attribute_ids, values, literals)


def _distinct(columns: Sequence[pa.Array]) -> pa.Array:
    return pa.concat_arrays([text_array([]), *columns]).dictionary_encode().dictionary


def _places(wanted: pa.Array, keys: pa.Array) -> Ids:
    """Where each text stands among the keys, which have all of them; the hash table is of the texts."""
    hits = np.flatnonzero(pc.is_in(keys, value_set=wanted).to_numpy(zero_copy_only=False))
    found = pc.index_in(wanted, value_set=keys.take(id_array(hits))).to_numpy(zero_copy_only=False)
    places: Ids = hits[found].astype(np.int32)
    return places
