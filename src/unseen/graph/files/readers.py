"""Files in, one graph out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.errors import GraphError, TooLarge, shorten
from unseen.graph.files.assembly import assembled
from unseen.graph.files.formats import RDF
from unseen.graph.files.ogb import read_ogb
from unseen.graph.files.parquet import read_parquet
from unseen.graph.files.parquet_folders import with_parts
from unseen.graph.files.rdf import read_rdf
from unseen.graph.files.sources import sources_of
from unseen.graph.files.tables import read_text_table
from unseen.graph.files.value_tables import is_table, with_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph.files.parts import Part
    from unseen.graph.files.sources import Progress, Source
    from unseen.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class FileReport:
    """What was found in one file: `triples` counts edges, of which `duplicates` had been met before."""

    path: Path
    format: str
    triples: int
    duplicates: int
    literals: int
    labels: int
    skipped: int
    first_skipped: str | None


@dataclass(frozen=True)
class ReadReport:
    """What was found in each file, in the order in which they were given."""

    files: tuple[FileReport, ...]

    @property
    def triples(self) -> int:
        """Edges read, repeated ones included."""
        return sum(file.triples for file in self.files)

    @property
    def duplicates(self) -> int:
        """Edges that had been met before, in the same file or an earlier one."""
        return sum(file.duplicates for file in self.files)

    @property
    def literals(self) -> int:
        """Statements whose object is a literal: values of the graph unless literals are entities."""
        return sum(file.literals for file in self.files)

    @property
    def skipped(self) -> int:
        """Malformed lines left out."""
        return sum(file.skipped for file in self.files)


@dataclass(frozen=True)
class ReadResult:
    """A graph, and how its files were read."""

    graph: KnowledgeGraph
    report: ReadReport


def read_graph(
    *paths: str | Path,
    literals: bool = False,
    skip_errors: bool = False,
    progress: Progress | None = None,
    values: Sequence[str | Path] = (),
) -> ReadResult:
    """One graph from one or more files; ids follow the first appearance of a name, head before tail.

    The format follows from each file's name: TSV, CSV or plain text (`.tsv .csv .txt`), Parquet (`.parquet`), N-Triples
    (`.nt`), N-Quads (`.nq`), Turtle (`.ttl`), TriG (`.trig`), RDF/XML (`.rdf .owl .xml`), JSON-LD (`.jsonld`), each
    also `.gz`, and archives of OGB (`.zip`). A folder stands for the Parquet files in it, as Spark writes them. Blank
    nodes of different files stay different; whatever else has the same name is the same.

    Args:
        paths: The files, in the order that decides about ids.
        literals: Whether RDF literals become entities; if not, they become values of their subjects.
        skip_errors: Whether malformed lines of text tables, N-Triples and N-Quads are left out and counted. It has no
            effect on the other formats, whose files can be read only as a whole.
        values: Files of values, as tables (entity, attribute, value) or RDF.
        progress: Called now and then, perhaps from another thread, with the bytes read so far and those of all files.

    Raises:
        GraphError: A file cannot be read, or there is no triple in any of them.
        MalformedLine: A line is not a triple.
        MissingExtra: A file is RDF and pyoxigraph is not installed.
    """
    if not paths:
        raise GraphError("no file to read was named")
    sources = sources_of([Path(path) for path in [*paths, *values]], progress)
    count = sum(len(with_parts(Path(path))) for path in paths)
    tables = [source for source in sources[count:] if is_table(source.format)]
    sources = [source for source in sources if source not in tables]
    parts = [read_part(source, literals=literals, skip_errors=skip_errors) for source in sources]
    if not any(part.num_triples or part.values for part in parts):
        raise _no_triples(sources, parts)
    graph, duplicates = assembled(parts)
    reports = list(map(_file_report, sources, parts, duplicates))
    for source in tables:
        part = read_part(source, literals=False, skip_errors=skip_errors, typed_values=True)
        graph = with_table(graph, part, source.path)
        reports.append(_file_report(source, part, 0))
    return ReadResult(graph, ReadReport(tuple(reports)))


def read_part(source: Source, *, literals: bool, skip_errors: bool, typed_values: bool = False) -> Part:
    """What one file holds."""
    try:
        if source.format == "parquet":
            part = read_parquet(source, typed_values=typed_values)
        elif source.format == "ogb":
            part = read_ogb(source)
        elif source.format in RDF:
            part = read_rdf(source, literals=literals, skip_errors=skip_errors)
        else:
            part = read_text_table(source, skip_errors=skip_errors)
    except TooLarge as error:
        raise TooLarge(error.problem, path=source.path) from None
    source.meter.finished(source.size)
    return part


def _no_triples(sources: Sequence[Source], parts: Sequence[Part]) -> GraphError:
    """The error for files that hold nothing, and why that may be."""
    num_literals, num_skipped = (sum(p.num_literals for p in parts), sum(p.problems.number for p in parts))
    first = next((part.problems.first for part in parts if part.problems.first is not None), None)
    reason = f": {num_literals:,} statements have literals as objects; --literals keeps them" if num_literals else ""
    if first is not None:
        reason += f": {num_skipped:,} malformed lines were left out, the first: {first}"
    if len(sources) == 1:
        return GraphError(f"no triples found{reason}", path=sources[0].path)
    return GraphError(f"no triples found in {shorten(', '.join(str(source.path) for source in sources), 300)}{reason}")


def _file_report(source: Source, part: Part, duplicates: int) -> FileReport:
    first = part.problems.first
    return FileReport(
        path=source.path,
        format=source.format,
        triples=part.num_triples,
        duplicates=duplicates,
        literals=part.num_literals,
        labels=part.num_labels,
        skipped=part.problems.number,
        first_skipped=None if first is None else str(first),
    )
