"""Tables of values: head, attribute and value a row, in any format that triples come in.

Numbers, ISO dates, `true` and `false` are read as such, all other values as text. In a Parquet file the column of
values may hold numbers, dates or booleans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import GraphError
from unseen.graph.arrow_arrays import id_array
from unseen.graph.attributes.columns import ValueRows
from unseen.graph.attributes.plain_values import literals_of_texts
from unseen.graph.files.formats import RDF

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph.files.parts import Part
    from unseen.graph.knowledge_graph import KnowledgeGraph

    Ids = NDArray[np.int32]


def is_table(file_format: str) -> bool:
    """Whether a file of values is a table; RDF is read like any other RDF."""
    return file_format not in RDF


def rows_of_table(part: Part) -> ValueRows:
    """The rows of a table, read as triples, as values."""
    subjects, subject_ids = np.unique(part.heads, return_inverse=True)
    values, literal_ids = np.unique(part.tails, return_inverse=True)
    return ValueRows(
        part.entities.take(id_array(subjects)),
        part.relations,
        literals_of_texts(part.entities.take(id_array(values))),
        subject_ids.astype(np.int32),
        part.relation_ids,
        literal_ids.astype(np.int32),
    )


def with_table(graph: KnowledgeGraph, part: Part, path: Path) -> KnowledgeGraph:
    """The graph with the values of a table; one that speaks of nothing in the graph is an error."""
    rows = rows_of_table(part)
    subjects = rows.subjects.to_pylist()
    if graph.num_entities and subjects and (graph.vocabulary.entities.find_all(subjects) < 0).all():
        shown = ", ".join(map(repr, subjects[:3]))
        reason = f"none of its {len(subjects):,} entities is in the graph ({shown}, ...)"
        raise GraphError(f"{reason}; its first column must use the names of the graph", path=path)
    return graph.with_values(rows)
