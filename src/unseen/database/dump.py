"""A database as one file: RDF with everything, or a table of the edges that models read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from unseen.errors import GraphError
from unseen.graph.files import atomic_file
from unseen.graph.files.formats import RDF, READABLE, format_of, is_compressed
from unseen.graph.files.oxigraph import FORMAT_NAMES
from unseen.graph.files.writers import write_graph

if TYPE_CHECKING:
    from unseen.database.database import Database

_WITH_GRAPHS = ("n-quads", "trig")


def dump(database: Database, target: str | Path) -> None:
    """Write the format that the file's name ends in, completely or not at all."""
    path = Path(target)
    file_format = format_of(path, READABLE)
    if file_format not in RDF:
        write_graph(database.graph, path)
        return
    with atomic_file.replacing(path) as raw:
        if is_compressed(path):
            with gzip.GzipFile("", "wb", 3, raw, mtime=0) as stream:
                _write(database, file_format, stream)  # type: ignore[arg-type]
        else:
            _write(database, file_format, raw)


def _write(database: Database, file_format: str, stream: BinaryIO) -> None:
    triples = database.triples
    rdf_format = getattr(triples.rdf.RdfFormat, FORMAT_NAMES[file_format])
    try:
        triples.dump(stream, rdf_format, everything=file_format in _WITH_GRAPHS)
    except OSError as error:
        raise GraphError(f"could not be written: {error.strerror or error}") from error
