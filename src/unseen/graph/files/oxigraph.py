"""pyoxigraph: whether it is there, its parsers, its complaints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.errors import MissingExtra, shorten
from unseen.graph.files.nesting import ShallowStream, check_json

if TYPE_CHECKING:
    from types import ModuleType

    from unseen.graph.files.sources import Source

LINE_FORMATS = ("n-triples", "n-quads")
FORMAT_NAMES = {
    "n-triples": "N_TRIPLES",
    "n-quads": "N_QUADS",
    "turtle": "TURTLE",
    "trig": "TRIG",
    "rdf/xml": "RDF_XML",
    "json-ld": "JSON_LD",
}
_PLACE = re.compile(r"^Parser error (?:at|between) line [^:]*: ")


def pyoxigraph_module() -> ModuleType:
    """The package, or an error that names the extra."""
    try:
        import pyoxigraph  # only who reads RDF needs it
    except ImportError:
        raise MissingExtra("reading RDF", "rdf", "pyoxigraph") from None
    return pyoxigraph


def statements_in(stream: BinaryIO, source: Source) -> Any:
    """The statements of a stream; relative IRIs are resolved against the file's own address, as RDF demands."""
    rdf = pyoxigraph_module()
    rdf_format = getattr(rdf.RdfFormat, FORMAT_NAMES[source.format])
    base = None if source.format in LINE_FORMATS else source.path.resolve().as_uri()
    data = check_json(stream.read()) if source.format == "json-ld" else ShallowStream(stream)
    return rdf.parse(data, rdf_format, base_iri=base)


def one_line(error: Exception) -> str:
    """A parser's complaint without the place, short enough for one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(" ".join(_PLACE.sub("", text).split()), 200)
