"""Zip archives of the Open Graph Benchmark that hold a knowledge graph, as ogbl-wikikg2 does.

| file in the archive, below one folder | what |
| --- | --- |
| `raw/edge.csv.gz` | head and tail of every edge, as numbers |
| `raw/edge_reltype.csv.gz` | its relation, as a number, line by line |
| `mapping/nodeidx2entityid.csv.gz`, `mapping/reltype2relid.csv.gz` | number and name, below a line of titles |

These are the edges that OGB trains on; its validation and test edges lie in pickles beside them, which are not read.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from unseen.errors import GraphError, shorten
from unseen.graph.files.parts import Part
from unseen.graph.files.unpacking import bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph.files.sources import Source
    from unseen.graph.files.unpacking import Allowance

EDGES, RELATIONS = "raw/edge.csv.gz", "raw/edge_reltype.csv.gz"
ENTITY_NAMES, RELATION_NAMES = "mapping/nodeidx2entityid.csv.gz", "mapping/reltype2relid.csv.gz"


def read_ogb(source: Source) -> Part:
    """The edges of an archive, with the names that it gives to their numbers."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            return _part(source, archive).checked(source.path)
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, pa.ArrowException, RuntimeError) as error:
        problem = shorten(str(error).partition("\n")[0], 200)
        raise GraphError(f"is not an archive of OGB that can be read: {problem}", path=source.path) from error


def _part(source: Source, archive: zipfile.ZipFile) -> Part:
    members = _Members(source, archive, source.allowance())
    edges, relations = _table(members, EDGES, 2), _table(members, RELATIONS, 1)
    entity_names, relation_names = (_names(members, name) for name in (ENTITY_NAMES, RELATION_NAMES))
    heads, tails = (_numbers(source, edges.column(place), len(entity_names), EDGES) for place in range(2))
    kinds = _numbers(source, relations.column(0), len(relation_names), RELATIONS)
    if len(kinds) != len(heads):
        raise GraphError(f"has {len(heads):,} edges and {len(kinds):,} relations of edges", path=source.path)
    return Part(entity_names, relation_names, heads, kinds, tails)


class _Members(NamedTuple):
    """The files of an archive, and how much may come out of all of them together."""

    source: Source
    archive: zipfile.ZipFile
    allowance: Allowance


def _table(members: _Members, name: str, columns: int, skip: int = 0) -> pa.Table:
    """A table of the archive, without titles."""
    from pyarrow import csv  # slow to import, and few graphs come this way

    source, archive, allowance = members
    inside = [path for path in archive.namelist() if path.endswith("/" + name) or path == name]
    if not inside:
        raise GraphError(
            f"has no {name}: of zip archives, only those of OGB are read; unpack it first", path=source.path
        )
    with archive.open(inside[0]) as packed, gzip.open(packed) as stream:
        read = csv.ReadOptions(autogenerate_column_names=True, skip_rows=skip)
        table = csv.read_csv(bounded(stream, allowance), read)  # type: ignore[arg-type]
    if table.num_columns != columns:
        raise GraphError(f"{name} has {table.num_columns} columns in place of {columns}", path=source.path)
    return table


def _names(members: _Members, name: str) -> pa.Array:
    """The names of numbers 0, 1, 2, ..."""
    table, source = _table(members, name, 2, skip=1), members.source
    if any(column.null_count for column in table.columns):
        raise GraphError(f"{name} has a line that lacks a number or a name", path=source.path)
    order = np.argsort(table.column(0).to_numpy(), kind="stable")
    if not np.array_equal(table.column(0).to_numpy()[order], np.arange(table.num_rows)):
        raise GraphError(f"{name} does not name every number from 0 on once", path=source.path)
    return table.column(1).cast(pa.large_string()).combine_chunks().take(pa.array(order))


def _numbers(source: Source, column: pa.ChunkedArray, limit: int, name: str) -> NDArray[np.int32]:
    """Numbers below a limit."""
    if column.null_count or not pa.types.is_integer(column.type):
        raise GraphError(f"{name} holds {column.type}, not whole numbers", path=source.path)
    numbers = column.to_numpy()
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < limit:
        raise GraphError(f"{name} has a number that nothing is named by", path=source.path)
    found: NDArray[np.int32] = numbers.astype(np.int32)
    return found
