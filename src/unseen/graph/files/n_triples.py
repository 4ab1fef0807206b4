"""N-Triples and N-Quads: a statement a line.

A line of three IRIs, as most are, is taken apart by a regular expression in Arrow, a block of lines at a time; only the
others go to pyoxigraph. If anything is wrong, the file is read again line by line to find where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from unseen.errors import MalformedLine
from unseen.graph.files.depth import DEEPEST, OPENING
from unseen.graph.files.dialect import ROLES
from unseen.graph.files.lines import REMEDY
from unseen.graph.files.nesting import TooDeep
from unseen.graph.files.numbering import part_of_batches
from unseen.graph.files.oxigraph import FORMAT_NAMES, one_line, pyoxigraph_module
from unseen.graph.files.parts import Part, PartBuilder, Problems, has_bad_name
from unseen.graph.files.statements import Statements, Triple, Unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph.files.sources import Source

BLOCK_BYTES = 1 << 22
NEVER_IN_A_LINE = "\x01"
"""Arrow splits tables; with a separator that does not occur, each line is one field."""

_IRI = r'[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*'
_THREE_IRIS = r"[ \t]+".join(f"<(?P<{role}>{_IRI})>" for role in ROLES)
_SIMPLE_LINE = {
    "n-triples": rf"^{_THREE_IRIS}[ \t]*\.[ \t]*$",
    "n-quads": rf"^{_THREE_IRIS}(?:[ \t]+<{_IRI}>)?[ \t]*\.[ \t]*$",
}


def read_n_triples(source: Source, *, literals: bool, skip_errors: bool) -> Part:
    """The triples of a file; the first bad line is an error, or every bad line is left out."""
    return _read_in_blocks(source, literals) or _read_line_by_line(source, literals, skip_errors)


def _read_in_blocks(source: Source, literals: bool) -> Part | None:
    """The triples, or None if a line needs a closer look."""
    statements = Statements(literals=literals)
    try:
        part = part_of_batches(_batches(source, statements))
    except (pa.ArrowInvalid, OSError, SyntaxError, Unusable, TooDeep):
        return None
    part = statements.completed(part)
    return None if has_bad_name(part.entities) or has_bad_name(part.relations) else part


def _batches(source: Source, statements: Statements) -> Iterator[pa.RecordBatch]:
    """Heads, relations and tails, block by block."""
    with source.open_native(BLOCK_BYTES) as (stream, position):
        blocks = csv.open_csv(
            stream,
            csv.ReadOptions(block_size=BLOCK_BYTES, column_names=["line"]),
            csv.ParseOptions(delimiter=NEVER_IN_A_LINE, quote_char=False),
            csv.ConvertOptions(column_types={"line": pa.string()}),
        )
        for block in blocks:
            yield _triples_in(block.column(0), source, statements)
            source.meter.reached(position())


def _triples_in(lines: pa.Array, source: Source, statements: Statements) -> pa.RecordBatch:
    """The lines that are edges, in order."""
    found = pc.extract_regex(lines, _SIMPLE_LINE[source.format])
    columns = [pc.struct_field(found, role) for role in ROLES]
    is_other = found.is_null()
    edges = _edges_in(lines.filter(is_other).to_pylist(), source, statements)
    if any(edges):
        parts = zip(*(edge or (None, None, None) for edge in edges), strict=True)
        others = [pa.array(part, pa.string()) for part in parts]
        columns = [pc.replace_with_mask(*pair) for pair in zip(columns, [is_other] * 3, others, strict=True)]
    return pa.record_batch(columns, list(ROLES)).filter(columns[0].is_valid())


def _edges_in(lines: list[str], source: Source, statements: Statements) -> list[Triple | None]:
    """For each line its edge, or None if it is blank, a comment or a literal left out."""
    edges: list[Triple | None] = [None] * len(lines)
    filled = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    text = "\n".join(lines[number] for number in filled)
    quads = _parsed(text.encode(), source)
    if len(quads) != len(filled):
        raise Unusable("a statement is spread over several lines")
    for number, quad in zip(filled, quads, strict=True):
        edges[number] = statements.edge(quad)
    return edges


def _parsed(text: bytes, source: Source) -> list[Any]:
    """The statements of some lines; too many triple terms, perhaps one inside the other, are refused."""
    if text.count(OPENING) > DEEPEST:
        raise TooDeep
    rdf = pyoxigraph_module()
    return list(rdf.parse(text, getattr(rdf.RdfFormat, FORMAT_NAMES[source.format])))


def _read_line_by_line(source: Source, literals: bool, skip_errors: bool) -> Part:
    """The triples; slow, but it knows the line that is wrong."""
    statements, builder, problems = Statements(literals=literals), PartBuilder(), Problems()
    for number, line in _numbered_lines(source):
        try:
            builder.add_all(statements.edges(_parsed(line, source)))
        except (SyntaxError, Unusable, TooDeep) as error:
            problem = one_line(error)
            if not skip_errors:
                raise MalformedLine(problem, path=source.path, line=number, remedy=REMEDY) from None
            problems.add(MalformedLine(problem, path=source.path, line=number))
    return statements.completed(builder.part(problems)).checked(source.path)


def _numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    number = 0
    with source.open_text() as stream:
        for chunk in stream:
            for line in chunk.splitlines():
                number += 1
                yield number, line
