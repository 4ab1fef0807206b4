"""Files into a database: read, written as N-Triples, ingested, and joined to the graph that is there.

What comes out is the same whether a file was loaded or its triples were added one by one. Named graphs of a file become
part of the default graph. Cost of 1 M triples: about 3 s to read and write, 5 s to ingest, 1 s for the snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from unseen.errors import GraphError
from unseen.graph import KnowledgeGraph
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.graph.files.readers import ReadReport, read_graph
from unseen.graph.files.writers import write_graph
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from unseen.database.triples import Triples

    Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Prepared:
    """Files ready to be ingested: an N-Triples file with everything, and the graph that models read."""

    file: Path
    graph: KnowledgeGraph
    has_blank_nodes: bool
    report: ReadReport


def prepare(  # all but the first two say how
    paths: Sequence[Path],
    file: Path,
    *,
    literals: bool,
    skip_errors: bool,
    progress: Progress | None,
    values: Sequence[Path] = (),
) -> Prepared:
    """Read files; every statement, literals included, goes into `file`."""
    whole = read_graph(*paths, literals=True, skip_errors=skip_errors, progress=progress, values=values)
    write_graph(whole.graph, file)
    keys = whole.graph.vocabulary.entities.keys
    graph = whole.graph
    has_literals = bool(pc.any(pc.starts_with(keys, '"')).as_py())
    if has_literals and not literals:
        graph = without_literals(file, graph)
    elif literals and len(graph.attributes):
        graph = _with_prefixes(graph_of(file, literals=True), graph)
    return Prepared(file, graph, bool(pc.any(pc.starts_with(keys, "_:")).as_py()), whole.report)


def without_literals(file: Path, known: KnowledgeGraph) -> KnowledgeGraph:
    """The graph of an N-Triples file without its literals, with the prefixes that are known already."""
    return _with_prefixes(graph_of(file, literals=False), known)


def graph_of(file: Path, *, literals: bool) -> KnowledgeGraph:
    """The graph of an N-Triples file, which may have no edge at all; statements that cannot be edges are left out."""
    try:
        return read_graph(file, literals=literals, skip_errors=True).graph
    except GraphError as error:
        if not error.problem.startswith(("no triples found", "the file is empty")):
            raise
        return KnowledgeGraph.from_triples([])


def rescanned(triples: Triples, file: Path, known: KnowledgeGraph, *, literals: bool) -> KnowledgeGraph:
    """The graph of everything that is in the default graph now; `file` is used in between."""
    try:
        triples.dump(file, pyoxigraph_module().RdfFormat.N_TRIPLES)
        return _with_prefixes(graph_of(file, literals=literals), known)
    finally:
        file.unlink(missing_ok=True)


def _with_prefixes(graph: KnowledgeGraph, known: KnowledgeGraph) -> KnowledgeGraph:
    """The graph with the prefixes of another one; its own only for other namespaces."""
    namespaces = dict(_namespaces(known))
    for prefix, namespace in _namespaces(graph).items():
        if namespace not in namespaces.values() and prefix not in namespaces:
            namespaces[prefix] = namespace
    prefixes = Prefixes(namespaces)
    old = graph.vocabulary
    names = [Names(names.kind, names.keys, names.labels, prefixes) for names in (old.entities, old.relations)]
    return KnowledgeGraph(
        graph.heads, graph.relations, graph.tails, Vocabulary(*names), graph.attributes.renamed(prefixes)
    )


def _namespaces(graph: KnowledgeGraph) -> dict[str, str]:
    return graph.vocabulary.relations.prefixes.namespaces | graph.vocabulary.entities.prefixes.namespaces
