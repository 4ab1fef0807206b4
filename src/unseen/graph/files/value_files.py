"""Files of values for a graph that is there already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unseen.graph.deltas import joined
from unseen.graph.files.readers import read_graph, read_part
from unseen.graph.files.sources import sources_of
from unseen.graph.files.value_tables import is_table, with_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph.knowledge_graph import KnowledgeGraph


def read_values(graph: KnowledgeGraph, paths: Sequence[str | Path], *, skip_errors: bool = False) -> KnowledgeGraph:
    """The graph with the values of files: tables (entity, attribute, value) or RDF, whose edges count too."""
    for source in sources_of([Path(path) for path in paths], None):
        if is_table(source.format):
            part = read_part(source, literals=False, skip_errors=skip_errors, typed_values=True)
            graph = with_table(graph, part, source.path)
        else:
            graph = joined(graph, read_graph(source.path, skip_errors=skip_errors).graph)
    return graph
