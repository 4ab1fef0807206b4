"""The values of a graph in a snapshot: which entity has which value of which attribute, and the distinct values.

`values.npy` has three rows of int32 (entity, attribute, value); `attributes.arrow` the names of attributes;
`literals.arrow` the text of each value and the place of its type in `snapshot.json`. Without values there are no files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.graph.arrow_arrays import TEXT, id_array
from unseen.graph.attributes import Attributes
from unseen.graph.attributes.literal_table import LiteralTable
from unseen.graph.attributes.value_kinds import Tag
from unseen.graph.names import Names

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph.prefixes import Prefixes

_NAMES = pa.schema([("key", TEXT), ("label", TEXT)])
_LITERALS = pa.schema([("text", TEXT), ("tag", pa.int32())])


def write_values(attributes: Attributes, folder: Path) -> dict[str, Any]:
    """Write the values into a folder, and return what has to be known to read them."""
    if not len(attributes):
        return {}
    np.save(folder / "values.npy", np.stack([attributes.entities, attributes.attributes, attributes.values]))
    names, literals = attributes.names, attributes.literals
    labels = names.labels if names.labels is not None else pa.nulls(len(names), TEXT)
    _write(folder / "attributes.arrow", [names.keys, labels], _NAMES)
    _write(folder / "literals.arrow", [literals.texts, id_array(literals.tag_numbers)], _LITERALS)
    return {"count": len(attributes), "tags": [list(tag) for tag in literals.tags]}


def read_values(folder: Path, described: dict[str, Any], prefixes: Prefixes) -> Attributes:
    """The values of a folder."""
    keys, labels = _read(folder / "attributes.arrow")
    texts, tag_numbers = _read(folder / "literals.arrow")
    entities, attributes, values = np.load(folder / "values.npy", allow_pickle=False)
    tags = [Tag(datatype, language) for datatype, language in described["tags"]]
    literals = LiteralTable.of(texts, tag_numbers.to_numpy(zero_copy_only=False), tags)
    return Attributes(Names("attribute", keys, labels, prefixes), entities, attributes, values, literals)


def _write(path: Path, columns: list[pa.Array], schema: pa.Schema) -> None:
    with pa.OSFile(os.fsencode(path), "wb") as stream, pa.ipc.new_file(stream, schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))


def _read(path: Path) -> tuple[pa.Array, pa.Array]:
    batch = pa.ipc.open_file(pa.memory_map(os.fsencode(path))).get_batch(0)
    return batch.column(0), batch.column(1)
