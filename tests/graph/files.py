"""Small files for the tests of readers and writers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from unseen.graph.files.readers import ReadResult, read_graph

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph import KnowledgeGraph

Triples = list[tuple[str, str, str]]


def file_of(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with that content, compressed if its name says so."""
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def keyed_triples(graph: KnowledgeGraph) -> Triples:
    """The edges by key, in order."""
    entities, relations = graph.vocabulary.entities.keys.to_pylist(), graph.vocabulary.relations.keys.to_pylist()
    columns = zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True)
    return [(entities[head], relations[relation], entities[tail]) for head, relation, tail in columns]


def read(
    folder: Path, name: str, content: str | bytes, *, literals: bool = False, skip_errors: bool = False
) -> ReadResult:
    """What comes of a file with that name and content."""
    return read_graph(file_of(folder, name, content), literals=literals, skip_errors=skip_errors)


def triples_in(folder: Path, name: str, content: str | bytes) -> Triples:
    """The triples read from a file with that name and content."""
    return keyed_triples(read(folder, name, content).graph)


def by_first_appearance(triples: Triples) -> tuple[list[str], list[str]]:
    """Entities and relations in the order in which ids must follow: head before tail."""
    entities = dict.fromkeys(name for head, _, tail in triples for name in (head, tail))
    relations = dict.fromkeys(relation for _, relation, _ in triples)
    return list(entities), list(relations)
