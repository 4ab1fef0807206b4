"""`unseen check`: whether predictions hold on a graph, as a table, as JSON and as a picture."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.crews import RayAddress, Workers, asked_crew
from unseen.cli.shared_options import Literals, SkipErrors

if TYPE_CHECKING:
    from unseen.evaluation.check_result import CheckResult
    from unseen.evaluation.graph_check import GraphCheck, SpreadCheck
    from unseen.spreading.crew import Crew

PICTURES = (".png", ".svg")


def check(
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...",
            help="Files that together make one graph, a database, or `countries`.",
            show_default=False,
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="What to try: a model, a run folder, rules or edge-type; repeat for several. By default the shipped "
            "model, rules and edge-type.",
            show_default=False,
        ),
    ] = None,
    facts: Annotated[int, typer.Option(min=1, help="Most facts of each relation to hide.")] = 20,
    seconds: Annotated[float, typer.Option(min=0.1, help="Stop after this time with what has been found.")] = 120,
    seed: Annotated[int, typer.Option(help="Which facts are hidden.")] = 0,
    top: Annotated[int, typer.Option(min=1, help="Most relations to list in the table.")] = 40,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all relations.")] = False,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png|svg", help="Also draw a picture.", show_default=False),
    ] = None,
    workers: Workers = None,
    ray: RayAddress = None,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
) -> None:
    """Find out whether predictions hold on a graph: hide some of its facts and ask for them.

    Facts of every relation are hidden, then asked for from both ends, by several methods. Hits@1 and Hits@10 are the
    shares that came back first and among the first ten; other answers that are known do not count. Ctrl-C ends the
    check and shows what it has found by then.

    \b
    Examples:
      unseen check countries
      unseen check facts.tsv more.nt.gz --facts 50 --seconds 600
      unseen check facts.tsv --method rules --method edge-type --json
      unseen check facts.tsv --figure check.png
    """
    from unseen.checking import opened_check
    from unseen.cli.console import note, progress_bar, read, write_json
    from unseen.evaluation.graph_check import CheckOptions

    _check_figure(figure)
    graph = read(graphs, literals=literals, skip_errors=skip_errors)
    options = CheckOptions(facts, seconds, seed)
    with asked_crew(workers, ray) as crew, progress_bar("checking", "questions") as advance:
        running = opened_check(graph, method, options, lambda _label, done, total: advance(done, total), _spread(crew))
        _run(running)
    found = running.result()
    for name, reason in (found.skipped or {}).items():
        note(f"{name} was left out: {reason}")
    if figure is not None:
        _draw(found, figure)
    if as_json:
        write_json(found.as_json())
    else:
        _show(found, top)


def _check_figure(figure: Path | None) -> None:
    """Refuse a picture that could not be written before any work is done."""
    from unseen.evaluation.figure_style import require_matplotlib
    from unseen.graph.files.atomic_file import check_target

    if figure is None:
        return
    if figure.suffix.lower() not in PICTURES:
        raise typer.BadParameter(
            f"a picture is a {' or '.join(PICTURES)} file, not {figure.name}", param_hint="--figure"
        )
    require_matplotlib()
    check_target(figure)


def _spread(crew: Crew | None) -> SpreadCheck | None:
    if crew is None:
        return None
    from unseen.spreading.spread_check import CrewCheck

    return CrewCheck(crew)


def _run(running: GraphCheck) -> None:
    """Run a check; Ctrl-C ends it, and only one that has found nothing by then is an interrupt."""
    try:
        running.run()
    except KeyboardInterrupt:
        if not running.tally.answered:
            raise


def _draw(found: CheckResult, path: Path) -> None:
    from unseen.cli.console import note
    from unseen.evaluation.check_figure import draw_check

    draw_check(found, path)
    note(f"wrote {path}")


def _show(found: CheckResult, top: int) -> None:
    from unseen.cli.check_table import check_table, remarks
    from unseen.cli.console import output_console

    console = output_console()
    console.print(check_table(found, top, console.width if console.is_terminal else None))
    for line in remarks(found, top):
        console.print(line, style="dim", soft_wrap=True)
