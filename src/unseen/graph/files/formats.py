"""File formats, recognized by the end of a file's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIXES = {
    ".tsv": "tsv",
    ".txt": "txt",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".nt": "n-triples",
    ".ntriples": "n-triples",
    ".nq": "n-quads",
    ".nquads": "n-quads",
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".trig": "trig",
    ".rdf": "rdf/xml",
    ".owl": "rdf/xml",
    ".xml": "rdf/xml",
    ".jsonld": "json-ld",
    ".zip": "ogb",
}
TABLES = ("tsv", "txt", "csv")
RDF = ("n-triples", "n-quads", "turtle", "trig", "rdf/xml", "json-ld")
READABLE = (*TABLES, "parquet", *RDF, "ogb")
WRITABLE = (*TABLES, "parquet", "n-triples")


def is_compressed(path: Path) -> bool:
    """Whether the name says gzip."""
    return path.suffix.lower() == ".gz"


def format_of(path: Path, allowed: Iterable[str] = READABLE) -> str:
    """The format a name ends in, before any `.gz`; one that is not `allowed` is an error that lists those that are."""
    bare = path.with_suffix("") if is_compressed(path) else path
    found = SUFFIXES.get(bare.suffix.lower())
    if found is None or found not in allowed:
        known = " ".join(suffix for suffix, name in SUFFIXES.items() if name in allowed)
        raise GraphError(f"unknown kind of file; its name must end in one of {known} (each also .gz)", path=path)
    return found
