"""`unseen info` and `unseen convert`: looking at graphs and turning files into other files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.shared_options import AsJson, Literals, SkipErrors, Values

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

    from unseen.graph.statistics import GraphStatistics

_GRAPHS = typer.Argument(
    metavar="GRAPH...", help="Files that together make one graph, or `countries`.", show_default=False
)

_COLUMNS: dict[str, JustifyMethod] = {
    "attribute": "left",
    "values": "right",
    "entities": "right",
    "kind": "left",
    "smallest": "right",
    "largest": "right",
}


def info(
    graphs: Annotated[list[str], _GRAPHS],
    top: Annotated[int, typer.Option(help="How many relations and attributes to list.", min=0)] = 10,
    values: Values = None,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
    as_json: AsJson = False,
) -> None:
    """Show what a graph holds: counts, degrees, relations, components.

    \b
    Examples:
      unseen info countries
      unseen info facts.tsv more.nt.gz --json
      unseen info facts.tsv --values numbers.tsv
    """
    from dataclasses import asdict

    from unseen.cli.console import read, write_json
    from unseen.graph.statistics import statistics

    graph = read(graphs, literals=literals, skip_errors=skip_errors, values=values or ())
    numbers = statistics(graph, top)
    if as_json:
        write_json(asdict(numbers))
    else:
        _show(numbers)


def convert(
    arguments: Annotated[
        list[str], typer.Argument(metavar="IN... OUT", help="Graph files, then the file to write.", show_default=False)
    ],
    values: Values = None,
    readable: Annotated[bool, typer.Option("--readable", help="Write readable names instead of full IRIs.")] = False,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
) -> None:
    """Turn graph files into another format: .tsv, .csv, .nt or .parquet (.gz too), by the name of the output.

    \b
    Examples:
      unseen convert facts.ttl facts.tsv
      unseen convert countries countries.nt.gz
    """
    from unseen.cli.console import note, read
    from unseen.graph.files.formats import format_of
    from unseen.graph.files.writers import check_target, write_graph

    if len(arguments) < 2:
        raise typer.BadParameter("give the graphs to read, then the file to write", param_hint="IN... OUT")
    *sources, target = arguments
    check_target(Path(target))
    graph = read(sources, literals=literals, skip_errors=skip_errors, values=values or ())
    write_graph(graph, Path(target), names="readable" if readable else "keys")
    if graph.vocabulary.entities.labels is not None and not readable:
        note("readable labels are not written; --readable writes them in place of IRIs")
    if len(graph.attributes) and format_of(Path(target)) != "n-triples":
        note(f"{len(graph.attributes):,} values are not written: only N-Triples (.nt) holds them")
    note(f"wrote {graph.num_triples:,} triples to {target}")


def _show(numbers: GraphStatistics) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    counts = Table(box=None, show_header=False, pad_edge=False)
    for label, value in _lines(numbers):
        counts.add_row(label, value)
    relations = Table(box=None, header_style="bold", pad_edge=False)
    relations.add_column("relation", overflow="fold")
    for column in ("triples", "heads", "tails"):
        relations.add_column(column, justify="right")
    for row in numbers.top_relations:
        relations.add_row(row.relation, f"{row.triples:,}", f"{row.heads:,}", f"{row.tails:,}")
    console.print(counts)
    console.print()
    console.print(relations)
    if numbers.attributes:
        console.print()
        console.print(_attributes(numbers))


def _attributes(numbers: GraphStatistics) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column, justify in _COLUMNS.items():
        table.add_column(column, justify=justify, overflow="fold")
    for row in numbers.attributes:
        table.add_row(row.attribute, f"{row.values:,}", f"{row.entities:,}", row.kind, row.smallest, row.largest)
    return table


def _lines(numbers: GraphStatistics) -> list[tuple[str, str]]:
    degree = f"mean {numbers.mean_degree:g}, median {numbers.median_degree:g}, largest {numbers.largest_degree:,}"
    return [
        ("entities", f"{numbers.entities:,}"),
        ("relations", f"{numbers.relations:,}"),
        ("triples", f"{numbers.triples:,}"),
        *([("values", f"{numbers.values:,}")] if numbers.values else []),
        ("degree", degree + (f" ({numbers.largest_hub})" if numbers.largest_hub else "")),
        ("components", f"{numbers.components:,}, the largest with {numbers.largest_component:,} entities"),
        *([("isolated", f"{numbers.isolated_entities:,}")] if numbers.isolated_entities else []),
    ]
