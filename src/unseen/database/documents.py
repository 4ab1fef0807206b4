"""RDF documents as N-Triples: what a client sends to a graph, read by the engine's parsers."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.engine.operations import statement_of
from unseen.errors import GraphError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "urn:unseen-document:/"
LONGEST_ENTITY = 500
DEEPEST = 1000
"""Statements about statements about statements ..."""
_ENTITY = re.compile(rb"<!ENTITY\s+(%?\s*[^\s'\"]+)([^>]*)")
_PLACE = re.compile(r"^Parser error (?:at|between) line [^:]*: ")


def statements_in(data: bytes, media_type: str) -> Iterator[tuple[str, str, str]]:
    """The statements of a document; named graphs are refused, blank nodes get labels that nobody has."""
    rdf_format = pyoxigraph.RdfFormat.from_media_type(media_type)
    if rdf_format == pyoxigraph.RdfFormat.RDF_XML:
        _check_entities(data)
    try:
        quads: Any = pyoxigraph.parse(
            BytesIO(data), rdf_format, base_iri=BASE, without_named_graphs=True, rename_blank_nodes=True
        )
        for quad in quads:
            yield _shallow(quad)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        problem = shorten(" ".join(_PLACE.sub("", error.msg).split()), 200)
        raise GraphError(f"the document is not valid: {where}{problem}") from None
    except ValueError as error:
        raise GraphError(f"the document is not valid: {error}") from None


def _shallow(quad: Any) -> tuple[str, str, str]:
    """The statement of a quad, unless it is nested deeper than any that people make."""
    depth, term = 0, quad.object
    while isinstance(term, pyoxigraph.Triple):
        depth, term = depth + 1, term.object
    if depth > DEEPEST:
        raise GraphError(f"the document is not valid: it is nested more than {DEEPEST:,} levels deep")
    return statement_of(quad)


def _check_entities(data: bytes) -> None:
    """Refuse XML whose entities could make much out of little: a name for a namespace is all that they are for."""
    if b"\0" in data:
        raise GraphError("the document is not valid: it is not UTF-8 text")
    for name, value in _ENTITY.findall(data):
        if b"&" in value or len(value) > LONGEST_ENTITY:
            shown = name.decode("utf-8", "replace")[:80]
            raise GraphError(f"the document is refused: its entity {shown!r} is more than a short text")
