"""pyoxigraph: whether it is there, what it calls the formats, its complaints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unseen.errors import MissingExtra, shorten

if TYPE_CHECKING:
    from types import ModuleType


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


def one_line(error: Exception) -> str:
    """A parser's complaint without the place, short enough for one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(" ".join(_PLACE.sub("", text).split()), 200)
