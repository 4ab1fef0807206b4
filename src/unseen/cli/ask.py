"""`unseen ask`: a question, and its answers as a table or as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unseen.answers import Answer, Answers


def ask(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH... QUESTION",
            help="Files that together make one graph (TSV, CSV, Parquet, RDF; .gz too) or `countries`; "
            "then the question, a formula or SPARQL.",
            show_default=False,
        ),
    ],
    top: Annotated[int | None, typer.Option(help="How many answers to show: 10, or what a SPARQL LIMIT says.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="A model or a run folder, rules (mined from the graph itself), edge-type (a quick heuristic) or "
            "exact (only known); "
            "by default the model that is shipped.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|RUN", help="The model to ask: see `unseen models`.", show_default=False),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show why: a proof, or the likeliest bindings.")] = False,
    predicted: Annotated[bool, typer.Option("--predicted", help="Show predicted answers only.")] = False,
    all_predictions: Annotated[
        bool, typer.Option("--all", help="Show predictions also where they are no better than chance.")
    ] = False,
    literals: Annotated[bool, typer.Option("--literals", help="Keep RDF literals as entities.")] = False,
    skip_errors: Annotated[bool, typer.Option("--skip-errors", help="Leave out lines that are no triples.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer a question: what the graph says (known), then what it implies (predicted).

    \b
    Examples:
      unseen ask countries "?x : borders(France, x) & !speaks(x, German)"
      unseen ask countries "?x : speaks(x, French) | speaks(x, Dutch)" --explain
      unseen ask countries "SELECT ?x WHERE { :France :borders/:speaks ?x }" --json
      unseen ask facts.tsv more.nt.gz "?x : exists v . knows(Ada, v) & knows(v, x)"
    """
    from unseen import api
    from unseen.cli.console import note, read, write_json
    from unseen.cli.rules_command import note_effort

    if len(arguments) < 2:
        raise typer.BadParameter("give at least one graph, then the question", param_hint="GRAPH... QUESTION")
    if method is not None and model is not None:
        raise typer.BadParameter("give one of the two: a model is a method too", param_hint="--method, --model")
    *sources, question = arguments
    graph = read(sources, literals=literals, skip_errors=skip_errors)
    if (model or method) == "rules":
        note_effort(graph)
    options = {"top": top, "explain": explain, "predicted_only": predicted, "all_predictions": all_predictions}
    answers = api.ask(graph, question, method=model or method, **options)  # type: ignore[arg-type]
    hint = " (--all shows predictions anyway)" if all(answer.known for answer in answers) else ""
    for warning in answers.warnings:
        note(f"{warning}{hint}")
    if as_json:
        write_json(answers.as_json())
    else:
        _show(answers, explain)


def _show(answers: Answers, explain: bool) -> None:
    from rich.table import Table

    from unseen.cli.console import output_console

    table = Table(title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right")
    table.add_column("entity", overflow="fold")
    table.add_column("")
    table.add_column("probability")
    if explain:
        table.add_column("because", overflow="fold")
    for answer, probability in zip(answers, shown_probabilities(answers), strict=True):
        status = "[green]known[/green]" if answer.known else "[yellow]predicted[/yellow]"
        row = [str(answer.rank), _escaped(answer.entity), status, probability.rjust(len("probability"))]
        table.add_row(*row, *([_escaped(_because(answer))] if explain else []))
    console = output_console()
    if len(answers):
        console.print(table)
    console.print(_summary(answers), style="dim", highlight=False)


def _because(answer: Answer) -> str:
    if answer.edges:
        return ", ".join(f"{relation}({head}, {tail})" for head, relation, tail in answer.edges)
    return ", ".join(f"{variable} = {value}" for variable, value in answer.bindings.items())


def _summary(answers: Answers) -> str:
    shown = sum(answer.known for answer in answers)
    graph = answers.graph
    parts = [f"{answers.known:,} known" + (f" ({shown} shown)" if shown < answers.known else "")]
    if len(answers) > shown:
        parts.append(f"{len(answers) - shown} predicted shown")
    counts = f"{graph.num_entities:,} entities, {graph.num_relations:,} relations, {graph.num_triples:,} triples"
    return f"{', '.join(parts)}; method {answers.method}; {counts}"


def shown_probabilities(answers: Iterable[Answer]) -> list[str]:
    """Probabilities as a person reads them, their decimal points below each other; small ones keep two digits."""
    texts = [_shown(answer.probability) for answer in answers]
    points = [len(re.split(r"[.e]", text)[0]) for text in texts]
    before = max(points, default=0)
    shifted = [" " * (before - point) + text for point, text in zip(points, texts, strict=True)]
    width = max(map(len, shifted), default=0)
    return [text.ljust(width) for text in shifted]


def _shown(probability: float) -> str:
    return f"{probability:.3f}" if probability >= 0.0995 else f"{probability:#.2g}"


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
