"""Media types of query results and of graphs, and which of them someone would rather have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.graph.files.oxigraph import pyoxigraph_module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOLUTIONS = {
    "application/sparql-results+json": "JSON",
    "application/sparql-results+xml": "XML",
    "text/csv": "CSV",
    "text/tab-separated-values": "TSV",
    "application/json": "JSON",
    "application/xml": "XML",
    "text/xml": "XML",
}
"""Formats of SELECT and ASK by media type, the most welcome first; the last three are other names for the first two."""

GRAPHS = {
    "text/turtle": "TURTLE",
    "application/n-triples": "N_TRIPLES",
    "application/rdf+xml": "RDF_XML",
    "application/ld+json": "JSON_LD",
    "application/x-turtle": "TURTLE",
    "text/plain": "N_TRIPLES",
}
"""Formats of CONSTRUCT, DESCRIBE and whole graphs by media type, the most welcome first."""

READABLE_GRAPHS = {**GRAPHS, "application/n-quads": "N_QUADS", "application/trig": "TRIG"}


def chosen(accept: str, offered: Sequence[str]) -> str | None:
    """The offered media type that an Accept header likes best; of equals the first offered. None if it likes none."""
    ranges = [_range(part) for part in accept.split(",") if part.strip()] or [("*/*", 1.0)]
    liked = [(_quality(media_type, ranges), -place, media_type) for place, media_type in enumerate(offered)]
    quality, _, best = max(liked)
    return best if quality > 0 else None


def results_format(media_type: str) -> Any:
    """The format of pyoxigraph for query results of a media type."""
    return getattr(pyoxigraph_module().QueryResultsFormat, SOLUTIONS[media_type])


def rdf_format(media_type: str, table: Mapping[str, str] = READABLE_GRAPHS) -> Any:
    """The format of pyoxigraph for graphs of a media type."""
    return getattr(pyoxigraph_module().RdfFormat, table[media_type])


def _range(part: str) -> tuple[str, float]:
    media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                quality = float(value)
            except ValueError:
                quality = 0.0
    return media_range, quality


def _quality(media_type: str, ranges: list[tuple[str, float]]) -> float:
    """How welcome a media type is: what the most specific range that matches it says."""
    kind = media_type.split("/", maxsplit=1)[0]
    for pattern in (media_type, f"{kind}/*", "*/*"):
        matching = [quality for media_range, quality in ranges if media_range == pattern]
        if matching:
            return max(matching)
    return 0.0
