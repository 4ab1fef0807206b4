"""Graphs made of objects of other libraries, and the other way round: Arrow, pandas, networkx, PyKEEN.

No library is imported to find out what was given: tables are known by the Arrow interface (pandas, polars and Arrow
have it), networkx graphs and PyKEEN's triples by their attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import GraphError, MissingExtra, shorten
from unseen.graph.arrow_arrays import id_array, text_array
from unseen.graph.files.assembly import assembled
from unseen.graph.files.dialect import ROLES, roles_of
from unseen.graph.files.numbering import part_of_batches
from unseen.graph.files.writers import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    import pandas as pd

    from unseen.graph.files.writers import Spelling
    from unseen.graph.knowledge_graph import KnowledgeGraph

RELATION_ATTRIBUTES = ("relation", "predicate", "label", "type")
"""Attributes of a networkx edge that may name its relation, in this order; else its key does."""


def graph_of(source: object) -> KnowledgeGraph:
    """The graph of a table, a networkx graph, PyKEEN's triples, or any triples of names."""
    table = triple_table(source)
    if table.num_rows == 0:
        raise GraphError("no triples found in what was given")
    part = part_of_batches(table.cast(pa.schema([(role, pa.string()) for role in ROLES])).to_batches())
    return assembled([part.checked()])[0]


def arrow_of(graph: KnowledgeGraph, names: Spelling = "readable") -> pa.Table:
    """The triples of a graph as a table with the columns head, relation, tail."""
    entities, relations = spelled(graph.vocabulary.entities, names), spelled(graph.vocabulary.relations, names)
    columns = ((entities, graph.heads), (relations, graph.relations), (entities, graph.tails))
    return pa.table([texts.take(id_array(ids)) for texts, ids in columns], list(ROLES))


def pandas_of(table: pa.Table) -> pd.DataFrame:
    """An Arrow table as a pandas data frame."""
    try:
        import pandas  # noqa: F401, ICN001  # only to say what is missing
    except ImportError:
        raise MissingExtra("a data frame", "notebook", "pandas") from None
    return table.to_pandas()


def networkx_of(graph: KnowledgeGraph) -> nx.MultiDiGraph:
    """A networkx graph with the relation as key and as attribute of each edge; entities without edges are nodes too."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtra("a networkx graph", "notebook", "networkx") from None
    made = nx.MultiDiGraph()
    made.add_nodes_from(spelled(graph.vocabulary.entities, "readable").to_pylist())
    columns = (column.to_pylist() for column in arrow_of(graph).columns)
    made.add_edges_from((head, tail, name, {"relation": name}) for head, name, tail in zip(*columns, strict=True))
    return made


def triple_table(source: Any) -> pa.Table:
    """What was given as a table with the columns head, relation and tail, of text."""
    if hasattr(source, "__arrow_c_stream__"):
        return _triple_columns(source)
    if hasattr(source, "mapped_triples") and hasattr(source, "entity_to_id"):
        return _factory_columns(source)
    if hasattr(source, "is_multigraph") and hasattr(source, "edges"):
        return _table_of_rows(_network_rows(source))
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping):
        return _table_of_rows(source)
    problem = f"cannot make a graph of {type(source).__name__}"
    raise GraphError(f"{problem}; give files, a table, a networkx graph, a TriplesFactory, or a list of triples")


def _triple_columns(source: Any) -> pa.Table:
    """The columns of heads, relations and tails of a table."""
    try:
        table = pa.table(source)
    except (pa.ArrowException, TypeError) as error:
        problem = shorten(str(error).partition("\n")[0], 200)
        raise GraphError(f"the table cannot be read: {problem}; make its columns text") from error
    places = _places(table.column_names)
    columns = [_as_text(table.column(place), table.column_names[place]) for place in places]
    return pa.table(columns, list(ROLES))


def _factory_columns(factory: Any) -> pa.Table:
    """The triples of PyKEEN's `TriplesFactory` by their labels."""
    entities, relations = _labels(factory.entity_to_id), _labels(factory.relation_to_id)
    ids = np.asarray(factory.mapped_triples, np.int64).reshape(-1, len(ROLES))
    columns = zip((entities, relations, entities), ids.T, strict=True)
    return pa.table([labels.take(pa.array(column)) for labels, column in columns], list(ROLES))


def _labels(ids: Mapping[object, int]) -> pa.Array:
    """Labels at the places that their ids say."""
    labels = [""] * (max(ids.values(), default=-1) + 1)
    for label, place in ids.items():
        labels[place] = str(label)
    return text_array(labels)


def _places(names: Sequence[str]) -> Sequence[int]:
    """Where head, relation and tail stand: by name, or the first three if no column has such a name."""
    roles = roles_of(names)
    has = f"the table has {shorten(', '.join(names), 200) or 'no columns'}"
    if not any(roles):
        if len(names) < len(ROLES):
            raise GraphError(f"a table of triples needs three columns (head, relation, tail); {has}")
        return range(len(ROLES))
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise GraphError(f"no column {' and no column '.join(missing)}; {has}; rename or add what is missing")
    twice = [role for role in ROLES if roles.count(role) > 1]
    if twice:
        raise GraphError(f"several columns could be {' and '.join(twice)}; {has}; keep one of each")
    return [roles.index(role) for role in ROLES]


def _as_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column as text; whole numbers become their digits."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_integer)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise GraphError(
            f"column {shorten(name)!r} has no name in row {row} (counted from 0); every triple needs all three"
        )
    if not any(is_text(kind) for is_text in texts):
        raise GraphError(f"column {shorten(name)!r} holds {shorten(str(kind))}, not text; convert it first")
    return column.cast(kind).cast(pa.large_string())


def _table_of_rows(rows: Iterable[Any]) -> pa.Table:
    """Triples one by one as three columns."""
    triples = [_triple(row, place) for place, row in enumerate(rows)]
    columns = [list(column) for column in zip(*triples, strict=True)] or [[], [], []]
    return pa.table([text_array(column) for column in columns], list(ROLES))


def _triple(row: Any, place: int) -> tuple[str, str, str]:
    parts = () if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable) else tuple(row)
    if len(parts) != len(ROLES):
        raise GraphError(f"triple {place} (counted from 0) is {_shown(row)}; a triple is (head, relation, tail)")
    return _name(parts[0], row), _name(parts[1], row), _name(parts[2], row)


def _name(given: object, row: object) -> str:
    """A name; whole numbers become their digits."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise GraphError(f"a name must be text, not {type(given).__name__}, in {_shown(row)}")
    return str(given)


def _network_rows(network: Any) -> Iterator[tuple[object, object, object]]:
    """The edges of a networkx graph as triples."""
    if not network.is_directed():
        raise GraphError("the networkx graph is undirected; its edges need a direction: give a MultiDiGraph")
    if network.is_multigraph():
        for head, tail, key, attributes in network.edges(keys=True, data=True):
            yield head, _relation(head, tail, attributes, key), tail
    else:
        for head, tail, attributes in network.edges(data=True):
            yield head, _relation(head, tail, attributes), tail


def _relation(head: object, tail: object, attributes: Mapping[str, object], key: object = None) -> object:
    """What an edge of a networkx graph is called."""
    named = (attributes[name] for name in RELATION_ATTRIBUTES if name in attributes)
    found = next(named, key if isinstance(key, str) else None)
    if found is None:
        raise GraphError(
            f"the edge from {_shown(head)} to {_shown(tail)} has no relation; set its attribute 'relation'"
        )
    return found


def _shown(value: object) -> str:
    return shorten(repr(value))
