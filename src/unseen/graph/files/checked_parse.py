"""RDF documents parsed by pyoxigraph, after a look at what its parsers cannot bear.

| format | what is refused |
| --- | --- |
| Turtle, TriG, N-Triples, N-Quads | triple terms nested too deep (`nesting`) |
| Turtle, TriG | brackets nested too deep (`brackets`) |
| JSON-LD | objects and arrays nested too deep (`nesting`) |
| RDF/XML | elements nested too deep, entities that make much out of little, broken XML (`xml_limits`) |

A document is streamed; options are those of `pyoxigraph.parse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from unseen.graph.files.brackets import BRACKETED, check_brackets
from unseen.graph.files.nesting import ManyOpenings, ShallowStream, check_json, try_out
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.graph.files.xml_limits import check_xml

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.graph.files.brackets import Open

Taken = TypeVar("Taken")


def parse_stream(open_document: Open, format_name: str, take: Callable[[Any], Taken], **options: Any) -> Taken:
    """What `take` makes of the quads of a document; both may be needed twice, from the start."""
    rdf = pyoxigraph_module()
    rdf_format = getattr(rdf.RdfFormat, format_name)
    if format_name == "RDF_XML":
        with open_document() as stream:
            check_xml(stream)
    elif format_name in BRACKETED:
        check_brackets(open_document)
    try:
        with open_document() as stream:
            guarded = check_json(stream.read()) if format_name == "JSON_LD" else ShallowStream(stream)
            return take(rdf.parse(guarded, rdf_format, **options))
    except ManyOpenings:
        with open_document() as stream:
            try_out(stream, format_name, rdf)
        with open_document() as stream:
            return take(rdf.parse(stream, rdf_format, **options))
