"""RDF files as triples of names, parsed by pyoxigraph: N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.parsers import expat

from unseen.errors import GraphError, MalformedLine, MissingExtra, shorten
from unseen.graph.files.lines import REMEDY
from unseen.graph.files.parts import Part, Problems, has_bad_name
from unseen.graph.files.statements import Statements, Unusable
from unseen.graph.nesting import ShallowStream, TooDeep, check_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from unseen.graph.files.sources import Source

LINE_FORMATS = ("n-triples", "n-quads")
_FORMAT_NAMES = {
    "n-triples": "N_TRIPLES",
    "n-quads": "N_QUADS",
    "turtle": "TURTLE",
    "trig": "TRIG",
    "rdf/xml": "RDF_XML",
    "json-ld": "JSON_LD",
}
_PLACE = re.compile(r"^Parser error (?:at|between) line [^:]*: ")


def read_rdf(source: Source, *, literals: bool, skip_errors: bool) -> Part:
    """The triples of an RDF file; `skip_errors` matters only where each line stands for itself.

    N-Triples and N-Quads are first parsed without checking each IRI (twice as fast); the distinct IRIs are checked
    afterwards, and only if something is wrong is the file read line by line to find where.
    """
    rdf = _pyoxigraph()
    if source.format in LINE_FORMATS:
        part = _read_at_once(rdf, source, literals) or _read_lines(rdf, source, literals, skip_errors)
    else:
        part = _read_document(rdf, source, literals)
    if has_bad_name(part.entities) or has_bad_name(part.relations):
        raise GraphError("a name is empty, holds a NUL byte or is too long", path=source.path)
    return part


def _pyoxigraph() -> ModuleType:
    try:
        import pyoxigraph  # an extra: only who reads RDF needs it
    except ImportError:
        raise MissingExtra("reading RDF", "rdf", "pyoxigraph") from None
    return pyoxigraph


def _read_at_once(rdf: ModuleType, source: Source, literals: bool) -> Part | None:
    """The triples of a file of lines, or None if a line needs a closer look."""
    statements = Statements(rdf, literals=literals)
    try:
        with source.open_text() as stream:
            statements.add_all(_parser(rdf, stream, source, lenient=True))
    except (SyntaxError, Unusable, TooDeep):
        return None
    return statements.part({}, Problems(), invented_labels=False) if statements.are_usable() else None


def _read_lines(rdf: ModuleType, source: Source, literals: bool, skip_errors: bool) -> Part:
    """The triples of a file of lines; the first bad line is an error, or every bad line is left out."""
    statements, problems = Statements(rdf, literals=literals), Problems()
    for number, line in _numbered_lines(source):
        try:
            statements.add_all(list(_parser(rdf, BytesIO(line), source)))
        except (SyntaxError, Unusable, TooDeep) as error:
            problem = _one_line(error)
            if not skip_errors:
                raise MalformedLine(problem, path=source.path, line=number, remedy=REMEDY) from None
            problems.add(MalformedLine(problem, path=source.path, line=number))
    return statements.part({}, problems, invented_labels=False)


def _numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    number = 0
    with source.open_text() as stream:
        for chunk in stream:
            for line in chunk.splitlines():
                number += 1
                yield number, line


def _read_document(rdf: ModuleType, source: Source, literals: bool) -> Part:
    """The triples of a file that must be read as a whole: any error is the end of it."""
    if source.format == "rdf/xml":
        _check_xml(source)
    statements = Statements(rdf, literals=literals)
    try:
        with source.open_text() as stream:
            parser = _parser(rdf, stream, source)
            statements.add_all(parser)
    except SyntaxError as error:
        raise _located(error, source.path) from None
    except (Unusable, TooDeep) as error:
        raise GraphError(str(error), path=source.path) from None
    return statements.part(parser.prefixes, Problems(), invented_labels=True)


def _parser(rdf: ModuleType, stream: BinaryIO, source: Source, *, lenient: bool = False) -> Any:
    """The statements of a stream; relative IRIs are resolved against the file's own address, as RDF demands."""
    rdf_format = getattr(rdf.RdfFormat, _FORMAT_NAMES[source.format])
    base = None if source.format in LINE_FORMATS else source.path.resolve().as_uri()
    data = check_json(stream.read()) if source.format == "json-ld" else ShallowStream(stream)
    return rdf.parse(data, rdf_format, base_iri=base, lenient=lenient)


def _check_xml(source: Source) -> None:
    """Refuse XML that is not well-formed: pyoxigraph takes a truncated file for a short one."""
    try:
        with source.open_text() as stream:
            expat.ParserCreate().ParseFile(stream)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise MalformedLine(f"not well-formed XML: {problem}", path=source.path, line=error.lineno) from None


def _located(error: SyntaxError, path: Path) -> GraphError:
    """A parser's complaint as one of ours, with its line where there is one."""
    problem = _one_line(error)
    if "LoadDocumentCallback" in problem:
        problem = "refers to a JSON-LD context on the web, which is not fetched; put the context into the file"
    return MalformedLine(problem, path=path, line=error.lineno) if error.lineno else GraphError(problem, path=path)


def _one_line(error: Exception) -> str:
    """A parser's complaint without the place, short enough for one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(" ".join(_PLACE.sub("", text).split()), 200)
