"""RDF files as triples of names: a line at a time, or documents that must be read as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.errors import GraphError, MalformedLine
from unseen.graph.files.checked_parse import parse_stream
from unseen.graph.files.n_triples import read_n_triples
from unseen.graph.files.oxigraph import FORMAT_NAMES, LINE_FORMATS, one_line, pyoxigraph_module
from unseen.graph.files.parts import Part, PartBuilder, Problems
from unseen.graph.files.statements import Statements, Unusable
from unseen.graph.files.xml_limits import MalformedXml

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

    def take(quads: Any) -> Part:
        statements, builder = Statements(literals=literals), PartBuilder()
        builder.add_all(statements.edges(quads))
        return statements.completed(builder.part(Problems()), quads.prefixes, invented_labels=True)

    base = source.path.resolve().as_uri()
    try:
        return parse_stream(source.open_text, FORMAT_NAMES[source.format], take, base_iri=base).checked(source.path)
    except SyntaxError as error:
        raise _located(error, source.path) from None
    except MalformedXml as error:
        raise MalformedLine(error.problem, path=source.path, line=error.line) from None
    except Unusable as error:
        raise GraphError(str(error), path=source.path) from None
    except GraphError as error:
        raise error if error.path else GraphError(error.problem, path=source.path) from None


def _located(error: SyntaxError, path: Path) -> GraphError:
    """A parser's error as one of ours, with its line if known."""
    problem = one_line(error)
    if "LoadDocumentCallback" in problem:
        problem = "refers to a JSON-LD context on the web, which is not fetched; put the context into the file"
    return MalformedLine(problem, path=path, line=error.lineno) if error.lineno else GraphError(problem, path=path)
