"""RDF documents as N-Triples: what a client sends to a graph, read by the engine's parsers."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.engine.operations import statement_of
from unseen.errors import GraphError, shorten
from unseen.graph.files.xml_limits import check_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "urn:unseen-document:/"
DEEPEST = 100
"""Statements about statements about statements ...; as in `graph.files.nesting`, which reads files."""
_PLACE = re.compile(r"^Parser error (?:at|between) line [^:]*: ")


def statements_in(data: bytes, media_type: str) -> Iterator[tuple[str, str, str]]:
    """The statements of a document; named graphs are refused, blank nodes get labels that nobody has."""
    rdf_format = pyoxigraph.RdfFormat.from_media_type(media_type)
    try:
        if rdf_format == pyoxigraph.RdfFormat.RDF_XML:
            check_xml(BytesIO(data))
        quads: Any = pyoxigraph.parse(
            BytesIO(data), rdf_format, base_iri=BASE, without_named_graphs=True, rename_blank_nodes=True
        )
        for quad in quads:
            yield _shallow(quad)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        problem = shorten(" ".join(_PLACE.sub("", error.msg).split()), 200)
        raise GraphError(f"the document is not valid: {where}{problem}") from None
    except (GraphError, ValueError) as error:
        raise GraphError(f"the document is not valid: {error}") from None


def _shallow(quad: Any) -> tuple[str, str, str]:
    """The statement of a quad, unless it is nested deeper than any that people make."""
    depth, term = 0, quad.object
    while isinstance(term, pyoxigraph.Triple):
        depth, term = depth + 1, term.object
    if depth > DEEPEST:
        raise GraphError(f"it is nested more than {DEEPEST} levels deep")
    return statement_of(quad)
