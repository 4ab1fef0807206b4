"""`unseen db ...`: databases on disk from the shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.plain_help import CommandLine
from unseen.cli.shared_options import AsJson, SkipErrors, Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.database import Database
    from unseen.database.importing.importer import Import

app = CommandLine(help="Keep a graph on disk: durable, growing, ready to be served.", no_args_is_help=True)

_PATH = typer.Argument(metavar="PATH", help="The folder of the database.", show_default=False)
_GRAPHS = typer.Argument(metavar="GRAPH...", help="Graph files, or `countries`.", show_default=False)
_WORDS = typer.Argument(
    metavar="[HEAD RELATION TAIL]...", help="Triples by name, three words each.", show_default=False
)
_FILE = typer.Option("--file", help="Read triples from a TSV file too; - is standard input.", show_default=False)
_SOURCES = typer.Argument(
    metavar="GRAPH...", help="Graph files, `countries`, or the address of a SPARQL endpoint.", show_default=False
)
_GRAPH = typer.Option("--graph", metavar="IRI", help="Endpoint: only this named graph.", show_default=False)
_ONLY = typer.Option(
    "--only", metavar="PATTERN", help="Endpoint: only subjects ?s that match, in SPARQL.", show_default=False
)
_PAGE_SIZE = typer.Option("--page-size", min=100, help="Endpoint: statements a page.")


@app.command()
def create(
    path: Annotated[Path, _PATH],
    graphs: Annotated[list[str] | None, _GRAPHS] = None,
    values: Values = None,
    literals: Annotated[bool, typer.Option("--literals", help="Literals are entities for the models too.")] = False,
    skip_errors: SkipErrors = False,
) -> None:
    """Make a new database, empty or with graph files in it.

    \b
    Examples:
      unseen db create world.db countries
      unseen db create world.db facts.tsv people.ttl.gz --skip-errors
    """
    import shutil

    from unseen.cli.console import note
    from unseen.database import Database

    if any(graph.lower().startswith(("http://", "https://")) for graph in graphs or ()):
        raise typer.BadParameter("make it empty, then import the endpoint: unseen db load", param_hint="GRAPH")
    existed = path.exists()
    try:
        with Database.create(path, literals=literals) as database:
            if graphs:
                _load(database, graphs, skip_errors, values)
            note(f"made {path}: {_counts(database)}")
    except BaseException:
        if not existed:
            shutil.rmtree(path, ignore_errors=True)
        raise


@app.command()
def load(
    path: Annotated[Path, _PATH],
    graphs: Annotated[list[str], _SOURCES],
    values: Values = None,
    skip_errors: SkipErrors = False,
    graph: Annotated[str | None, _GRAPH] = None,
    only: Annotated[str | None, _ONLY] = None,
    page_size: Annotated[int, _PAGE_SIZE] = 10_000,
) -> None:
    """Load graph files into a database, in bulk: all of them or, if anything is wrong, nothing.

    A SPARQL endpoint is read page by page into PATH.import; after Ctrl-C the same command continues.

    \b
    Examples:
      unseen db load world.db more.tsv more.nt.gz
      unseen db load world.db http://localhost:3030/world/query --only "?s a <http://example.org/City>"
    """
    from unseen.cli.console import note
    from unseen.database import Database
    from unseen.database.importing.importer import Import, is_address

    if any(map(is_address, graphs)):
        if len(graphs) > 1 or values:
            raise typer.BadParameter("an endpoint is imported alone, without other graphs", param_hint="GRAPH")
        _import(path, Import(graphs[0], graph, only, page_size, skip_errors))
        return
    if graph or only:
        raise typer.BadParameter("--graph and --only are for the address of an endpoint", param_hint="GRAPH")
    with Database(path) as database:
        _load(database, graphs, skip_errors, values)
        note(f"{path}: {_counts(database)}")


@app.command()
def add(
    path: Annotated[Path, _PATH],
    words: Annotated[list[str] | None, _WORDS] = None,
    file: Annotated[str | None, _FILE] = None,
) -> None:
    """Add triples by name; unknown names become new entities or relations.

    \b
    Examples:
      unseen db add world.db Atlantis borders France Atlantis speaks French
      unseen db add world.db --file new.tsv
    """
    from unseen.cli.console import note
    from unseen.database import Database

    triples = list(_triples(words or [], file))
    with Database(path) as database:
        added = database.add(triples)
        note(f"added {added:,} of {len(triples):,} triples; the others were there already: {_counts(database)}")


@app.command()
def remove(
    path: Annotated[Path, _PATH],
    words: Annotated[list[str] | None, _WORDS] = None,
    file: Annotated[str | None, _FILE] = None,
) -> None:
    """Remove triples by name.

    \b
    Examples:
      unseen db remove world.db Atlantis borders France
    """
    from unseen.cli.console import note
    from unseen.database import Database

    triples = list(_triples(words or [], file))
    with Database(path) as database:
        removed = database.remove(triples)
        note(f"removed {removed:,} of {len(triples):,} triples; the others were not there: {_counts(database)}")


@app.command()
def dump(
    path: Annotated[Path, _PATH],
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
) -> None:
    """Write everything into a file: N-Triples, Turtle or RDF/XML with literals and labels, or a table of the edges.

    N-Quads (.nq) and TriG (.trig) hold the named graphs too.

    \b
    Examples:
      unseen db dump world.db world.nt
      unseen db dump world.db world.tsv.gz
    """
    from unseen.cli.console import note
    from unseen.database import Database
    from unseen.database.dump import dump as write_dump

    with Database(path) as database:
        write_dump(database, target)
    note(f"wrote {target}")


@app.command()
def backup(
    path: Annotated[Path, _PATH],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new folder for the copy.", show_default=False)],
) -> None:
    """Copy a database into a new folder that can be opened like the original.

    \b
    Examples:
      unseen db backup world.db backups/monday.db
    """
    from unseen.cli.console import note
    from unseen.database import Database

    with Database(path) as database:
        database.backup(target)
    note(f"wrote {target}")


@app.command()
def repair(path: Annotated[Path, _PATH]) -> None:
    """Repair a damaged database from its intact files; damaged files are renamed, nothing is deleted.

    \b
    Examples:
      unseen db repair world.db
    """
    from unseen.cli.console import note
    from unseen.database import Database
    from unseen.database.repair import repair as repair_database

    report = repair_database(path)
    if report.is_complete:
        note(f"nothing is lost: {report.carried_out:,} changes of the journal were carried out again")
    else:
        note(f"some acknowledged changes may be lost: {report.damaged_lines:,} lines of the journal cannot be read")
    if report.set_aside:
        note(f"set aside, to be deleted when nobody needs them: {', '.join(report.set_aside)}")
    with Database(path) as database:
        note(f"{path}: {_counts(database)}")


@app.command()
def info(path: Annotated[Path, _PATH], as_json: AsJson = False) -> None:
    """Show what a database holds, how large it is, and its format.

    \b
    Examples:
      unseen db info world.db --json
    """
    from unseen.cli.console import write_json
    from unseen.database import Database
    from unseen.database.information import information

    with Database(path) as database:
        described = information(database)
    if as_json:
        write_json(described)
    else:
        width = max(map(len, described))
        for name, value in described.items():
            typer.echo(f"{name:{width}}  {value:,}" if isinstance(value, int) else f"{name:{width}}  {value}")


def _load(database: Database, graphs: Sequence[str], skip_errors: bool, values: Sequence[str] | None) -> None:
    from unseen.api import find_source
    from unseen.cli.console import note, progress_bar

    with progress_bar("loading") as progress:
        sources = [find_source(graph) for graph in graphs]
        report = database.load(sources, skip_errors=skip_errors, progress=progress, values=values or ())
    if report.skipped:
        first = next(file.first_skipped for file in report.files if file.first_skipped)
        note(f"{report.skipped:,} malformed lines were left out, the first: {first}")


def _import(path: Path, wanted: Import) -> None:
    """An endpoint into a database, which is not in use while pages come."""
    from dataclasses import replace

    from unseen.cli.console import note, progress_bar
    from unseen.database import Database
    from unseen.database.importing.importer import folder_beside

    with Database(path):  # whether there is one that can be opened is known before hours of work
        pass
    try:
        with progress_bar("importing", unit="statements") as progress:
            wanted = replace(wanted, progress=progress, note=note)
            state = wanted.fetched(path)
    except KeyboardInterrupt:
        note(f"the pages received are in {folder_beside(path)}; the same command continues")
        raise
    with Database(path) as database:
        wanted.into(database, state)
        note(f"{path}: {_counts(database)}")


def _triples(words: Sequence[str], file: str | None) -> Iterator[tuple[str, str, str]]:
    """Triples from the command line and from a file."""
    if len(words) % 3 or not (words or file):
        raise typer.BadParameter("give three words for each triple: HEAD RELATION TAIL", param_hint="TRIPLES")
    yield from zip(words[0::3], words[1::3], words[2::3], strict=True)
    if file is not None:
        yield from _rows(file)


def _rows(file: str) -> Iterator[tuple[str, str, str]]:
    from unseen.errors import MalformedLine
    from unseen.graph.files.sources import reading

    with reading(Path(file)):
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split("\t")
        if line.strip() and len(fields) != 3:
            raise MalformedLine(f"{len(fields)} fields instead of 3, separated by tabs", path=file, line=number)
        if line.strip():
            yield fields[0], fields[1], fields[2]


def _counts(database: Database) -> str:
    graph = database.graph
    counts = f"{graph.num_entities:,} entities, {graph.num_relations:,} relations, {graph.num_triples:,} triples"
    return counts + (f", {len(graph.attributes):,} values" if len(graph.attributes) else "")
