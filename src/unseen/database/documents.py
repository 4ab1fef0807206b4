"""RDF documents as N-Triples: what a client sends to a graph, read by the engine's parsers."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.engine.operations import statement_of
from unseen.database.format_versions import READABLE_GRAPHS
from unseen.errors import GraphError, shorten
from unseen.graph.files.brackets import BRACKETED, check_brackets
from unseen.graph.files.depth import DEEPEST, OPENING
from unseen.graph.files.xml_limits import check_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "urn:unseen-document:/"
_PLACE = re.compile(r"^Parser error (?:at|between) line [^:]*: ")


def statements_in(data: bytes, media_type: str) -> Iterator[tuple[str, str, str]]:
    """The statements of a document; named graphs are refused, blank nodes get labels that nobody has."""
    rdf_format = pyoxigraph.RdfFormat.from_media_type(media_type)
    try:
        _check(data, READABLE_GRAPHS[media_type])
        quads: Any = pyoxigraph.parse(
            BytesIO(data), rdf_format, base_iri=BASE, without_named_graphs=True, rename_blank_nodes=True
        )
        for quad in quads:
            yield statement_of(quad)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        problem = shorten(" ".join(_PLACE.sub("", error.msg).split()), 200)
        raise GraphError(f"the document is not valid: {where}{problem}") from None
    except (GraphError, ValueError) as error:
        raise GraphError(f"the document is not valid: {error}") from None


def _check(data: bytes, format_name: str) -> None:
    """Refuse what would crash or hold a parser, by the rules for files (`graph.files.checked_parse`)."""
    if format_name in BRACKETED:
        check_brackets(lambda: BytesIO(data))
    if format_name == "RDF_XML":
        check_xml(BytesIO(data))
    elif format_name == "JSON_LD" or data.count(OPENING) > DEEPEST:
        from unseen.graph.files.nesting import check_json, try_out  # numpy stands behind it

        if format_name == "JSON_LD":
            check_json(data)
        else:
            try_out(BytesIO(data), format_name, pyoxigraph)
