"""Terminal functions for all commands: reading graphs with a progress bar, writing JSON, plain numbers."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from unseen.graph import KnowledgeGraph

UNBOUNDED = 10_000
"""Columns of what is not a terminal, where nothing is to be wrapped."""


@contextmanager
def progress_bar(description: str, unit: str = "bytes") -> Iterator[Callable[[int, int], None]]:
    """A callable(done, total) that draws a bar on a terminal's standard error, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def read(sources: Sequence[str], *, literals: bool, skip_errors: bool, values: Sequence[str] = ()) -> KnowledgeGraph:
    """The graph of files or an embedded graph, with a progress bar; what was left out is said on standard error."""
    from unseen.api import came_from, find_source, is_database, load_database
    from unseen.graph.files.readers import read_graph

    paths = [find_source(source) for source in sources]
    if len(paths) == 1 and is_database(paths[0]):
        return _with_values(load_database(paths[0]), values, skip_errors=skip_errors)
    with progress_bar("reading") as progress:
        result = read_graph(*paths, literals=literals, skip_errors=skip_errors, progress=progress, values=values)
    if result.report.literals:
        note(f"{result.report.literals:,} literals are values of their subjects; --literals makes entities of them")
    if result.report.skipped:
        first = next(file.first_skipped for file in result.report.files if file.first_skipped)
        note(f"{result.report.skipped:,} malformed lines were left out, the first: {first}")
    return came_from(result.graph)


def _with_values(graph: KnowledgeGraph, values: Sequence[str], *, skip_errors: bool) -> KnowledgeGraph:
    """The graph of a database with the values of files."""
    if not values:
        return graph
    from unseen.graph.files.value_files import read_values

    return read_values(graph, values, skip_errors=skip_errors)


def output_console() -> Console:
    """Standard output for tables: as wide as the terminal, and as wide as the table where there is none."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    return console if console.is_terminal else Console(highlight=False, emoji=False, width=UNBOUNDED)


def write_json(value: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """Print a remark on standard error."""
    typer.echo(text, err=True)
