"""`unseen score`: how likely a statement is, or each triple of a file."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.shared_options import AsJson, Explain, Literals, MethodAsForAsk, SkipErrors, TypeRelation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.bulk.scoring_files import GraphScorer, ScoredFile, ServerScorer
    from unseen.scoring.scores import Score


def score(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH... [STATEMENT]",
            help="Files that together make one graph (TSV, CSV, Parquet, RDF; .gz too), `countries`, or the address "
            "of a server; then the statement, unless there is --file.",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="TRIPLES.tsv|csv|parquet",
            help="Triples to score, one a row (head, relation, tail; .gz too), however many.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.parquet|tsv|jsonl",
            help="With --file: the table to write; without it lines go to standard output.",
            show_default=False,
        ),
    ] = None,
    method: MethodAsForAsk = None,
    explain: Explain = False,
    type_relation: TypeRelation = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="With --file: discard the scores of an interrupted run.")
    ] = False,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
    as_json: AsJson = False,
) -> None:
    """Say how likely a statement is, and whether the graph knows it.

    A statement is a fact, or any formula without an answer variable: facts joined by & | !, and `exists`; or a SPARQL
    ASK. A fact has the probability that `unseen ask` gives its tail.

    With --file, each triple gets a row with its probability, whether it is known, and an error where the graph lacks
    one of its names. After Ctrl-C the same command continues where it stopped.

    \b
    Examples:
      unseen score countries "borders(France, Austria)"
      unseen score countries "borders(France, Austria) & !speaks(Austria, French)" --explain
      unseen score countries "exists v . borders(France, v) & speaks(v, Hindi)" --json
      unseen score countries "ASK { :France :borders :Austria }"
      unseen score facts.tsv --file candidates.tsv.gz -o scores.parquet
      unseen score http://127.0.0.1:7878 "borders(France, Austria)"
    """
    from unseen.errors import UnseenError

    if file is None:
        if len(arguments) < 2:
            raise typer.BadParameter("give a graph, then the statement", param_hint="GRAPH... STATEMENT")
        if output is not None or restart:
            raise typer.BadParameter("only with --file", param_hint="--output, --restart")
        *sources, statement = arguments
        reading = {"literals": literals, "skip_errors": skip_errors}
        show_score(sources, statement, method, explain, type_relation, reading, as_json)
        return
    if explain or type_relation:
        raise typer.BadParameter("not with --file: score single statements", param_hint="--explain, --type-relation")
    if not file.exists():
        raise UnseenError(f"{file}: there is no such file")
    with _scorer(arguments, method, literals=literals, skip_errors=skip_errors) as scorer:
        _report(_score_file(scorer, file, output, restart, as_json), output, as_json)


def show_score(
    sources: list[str],
    statement: str,
    method: str | None,
    explain: bool,
    type_relation: str | None,
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Print how likely a statement is."""
    _show(_scored(sources, statement, method, explain, type_relation, reading), explain, as_json)


def _scored(
    sources: list[str],
    statement: str,
    method: str | None,
    explain: bool,
    type_relation: str | None,
    reading: dict[str, Any],
) -> Score:
    from unseen.cli.servers import is_address, server_at

    if is_address(sources):
        with server_at(sources, method) as client:
            return client.score(statement, explain=explain, exact=method == "exact", type_relation=type_relation)
    from unseen.cli.console import read
    from unseen.cli.rules_command import open_rules
    from unseen.scoring.statement_scores import score as scored

    graph = read(sources, **reading)
    if method == "rules":
        open_rules(graph)
    return scored(graph, statement, method=method, explain=explain, type_relation=type_relation)


def _show(found: Score, explain: bool, as_json: bool) -> None:
    from unseen.cli.console import note, output_console, write_json
    from unseen.cli.shown_answers import shown_probability

    for warning in found.warnings:
        note(warning)
    if as_json:
        write_json(found.as_json())
        return
    console = output_console()
    status = "[green]known[/green]" if found.known else "[yellow]predicted[/yellow]"
    console.print(f"{shown_probability(found.probability or 0.0)}  {status}")
    if not explain:
        return
    if found.bindings:
        console.print("  " + ", ".join(f"{name} = {value}" for name, value in found.bindings.items()), markup=False)
    for reason in found.reasons:
        console.print(f"  {reason}", markup=False)


@contextmanager
def _scorer(
    sources: Sequence[str], method: str | None, *, literals: bool, skip_errors: bool
) -> Iterator[GraphScorer | ServerScorer]:
    from unseen.bulk.scoring_files import GraphScorer, ServerScorer
    from unseen.cli.servers import is_address, server_at

    if is_address(sources):
        with server_at(sources, method) as client:
            yield ServerScorer(client, exact=method == "exact")
        return
    from unseen import api
    from unseen.cli.console import read

    graph = read(sources, literals=literals, skip_errors=skip_errors)
    name = method or api.default_method()
    opened = None if name == "exact" else api.open_method(name)
    if opened is not None:
        api.check_memory(opened, graph)
    yield GraphScorer(graph, opened, name)


def _score_file(
    scorer: GraphScorer | ServerScorer, path: Path, output: Path | None, restart: bool, as_json: bool
) -> ScoredFile:
    from unseen.bulk.score_output import line_writer, score_writer
    from unseen.cli.console import note, progress_bar

    kind = ".jsonl" if as_json else ".tsv"
    try:
        target = nullcontext(line_writer(sys.stdout.buffer, kind)) if output is None else score_writer(output)
        with progress_bar("scoring", "heads") as progress, target as write:
            found = scorer.score(path, write, output, progress, restart=restart)
    except KeyboardInterrupt:
        if output is not None:
            note("scores are kept: the same command continues from there")
        raise
    scorer.finish()
    return found


def _report(found: ScoredFile, output: Path | None, as_json: bool) -> None:
    from unseen.cli.console import note, write_json

    for warning in found.warnings:
        note(warning)
    if as_json and output is not None:
        write_json(found.as_json())
        return
    again = f" ({found.kept:,} of them before)" if found.kept else ""
    note(f"{found.triples:,} triples scored{again}: {found.known:,} known, {found.total:,.1f} expected to be true")
    if found.unknown_names:
        note(f"{found.unknown_names:,} have an unknown name and no probability, such as: {'; '.join(found.examples)}")
