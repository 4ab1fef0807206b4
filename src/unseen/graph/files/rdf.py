"""RDF files as triples of names: a line at a time, or documents that must be read as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.parsers import expat

from unseen.errors import GraphError, MalformedLine
from unseen.graph.files.n_triples import read_n_triples
from unseen.graph.files.nesting import TooDeep
from unseen.graph.files.oxigraph import LINE_FORMATS, one_line, pyoxigraph_module, statements_in
from unseen.graph.files.parts import Part, PartBuilder, Problems
from unseen.graph.files.statements import Statements, Unusable

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.graph.files.sources import Source


def read_rdf(source: Source, *, literals: bool, skip_errors: bool) -> Part:
    """The triples of an RDF file; `skip_errors` matters only where each line stands for itself."""
    pyoxigraph_module()
    if source.format in LINE_FORMATS:
        return read_n_triples(source, literals=literals, skip_errors=skip_errors)
    return _read_document(source, literals)


def _read_document(source: Source, literals: bool) -> Part:
    """The triples of Turtle, TriG, RDF/XML or JSON-LD; any error is the end of it."""
    if source.format == "rdf/xml":
        _check_xml(source)
    statements, builder = Statements(literals=literals), PartBuilder()
    try:
        with source.open_text() as stream:
            quads = statements_in(stream, source)
            builder.add_all(statements.edges(quads))
    except SyntaxError as error:
        raise _located(error, source.path) from None
    except (Unusable, TooDeep) as error:
        raise GraphError(str(error), path=source.path) from None
    part = statements.completed(builder.part(Problems()), quads.prefixes, invented_labels=True)
    return part.checked(source.path)


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
    problem = one_line(error)
    if "LoadDocumentCallback" in problem:
        problem = "refers to a JSON-LD context on the web, which is not fetched; put the context into the file"
    return MalformedLine(problem, path=path, line=error.lineno) if error.lineno else GraphError(problem, path=path)
