"""`python -m experiments`: the paper's experiments as a grid, in slices; then tables and figures with ours beside."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003  # typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.plain_help import CommandLine

if TYPE_CHECKING:
    from experiments.planning import Plan
    from experiments.workspace import Workspace


COMMAND = "python -m experiments"
WIDTH = 120
"""Columns that the plan needs at least."""


app = CommandLine(
    name=COMMAND,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def reproduce(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder of the grid: runs, results, report."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where 106.npz to 550.npz lie, or dataset folders.", show_default=False),
    ] = None,
    ratios: Annotated[
        str | None, typer.Option(help="Some of the nine, with commas, in the order to run; all by default.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Some of the methods, with commas, in the order to run; all by default.")
    ] = None,
    experiments: Annotated[
        str | None,
        typer.Option(
            help="Some of test, test-alone, training, training-alone, easy-first, strata, probabilities, time; all by "
            "default."
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would run, and how long it should take.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Only write tables and figures of the results that are there.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Only run; leave tables and figures to a later --report.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(help="Stop cleanly after so long; the same command continues.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that share a device, by Ray; 3 or 4 suit one GPU.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on all devices of a Ray cluster.", show_default=False),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Of the GPU's memory, where other commands use it too.")
    ] = 1.0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, ...; auto takes a GPU if there is one.")] = "auto",
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|FOLDER", help="The zero-shot model; the shipped one by default."),
    ] = None,
    model_without_fb: Annotated[
        str | None,
        typer.Option(metavar="NAME|FOLDER", help="The zero-shot model that never saw FB15k-237."),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML: \\[gnn-qe] steps = 4000, \\[gnn-qe.550] steps = 800.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N|EXPERIMENT=N",
            help="Most queries a type, in every experiment; or their number in one. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    large_graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON lines of experiments.large_graph, for the report."),
    ] = None,
    preset: Annotated[str, typer.Option(help="paper, or tiny: a made-up benchmark, a minute on a CPU.")] = "paper",
    figures: Annotated[bool, typer.Option(help="Draw figures; needs matplotlib.")] = True,
    json_output: Annotated[bool, typer.Option("--json", help="Print how far every cell is as JSON.")] = False,
) -> None:
    """Run or resume the paper's experiments on its own queries, then write its tables and figures with ours beside.

    Every cell (ratio x method x experiment) has a result file of its own; what is done is skipped, what was interrupted
    goes on. A cell that cannot be filled says why.

    \b
    Examples:
      python -m experiments --preset tiny -o /tmp/grid
      python -m experiments --data inductiveqe -o grid --plan
      python -m experiments --data inductiveqe -o grid --jobs 4 --minutes 9
      python -m experiments --data inductiveqe -o grid --ratios 175 --methods gnn-qe,betae
      python -m experiments --data inductiveqe -o grid --limit 1000 --limit strata=200
      python -m experiments -o grid --report --large-graph large.jsonl
    """
    from experiments.planning import Plan, Request
    from experiments.workspace import PRESETS, Workspace, read_settings
    from unseen.cli.console import note, write_json

    if report and no_report:
        raise typer.BadParameter("says the opposite of --report", param_hint="--no-report")
    models = {"general": model, "without-fb": model_without_fb}
    most, named = _limits(limit or [])
    workspace = Workspace(
        output,
        data,
        preset,
        {name: value for name, value in models.items() if value is not None},
        most,
        named,
        {} if settings is None else read_settings(settings, PRESETS["paper"][0]),
        device,
        share,
        " ".join([COMMAND, *sys.argv[1:]]),
    )
    request = Request(None if ratios is None else _numbers(ratios), _words(methods), _words(experiments))
    tasks = request.tasks(workspace)
    if not (plan or report):
        _run(workspace, request, minutes, (jobs, ray))
    found = Plan.of(workspace, tasks, jobs)
    if not (plan or no_report):
        _write_report(output, large_graph, figures)
    if json_output:
        write_json(found.to_json())
    elif plan:
        _show(found)
    note(_summary(found))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part.strip().removesuffix("%")) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not numbers with commas", param_hint="--ratios") from None


def _limits(texts: list[str]) -> tuple[int | None, dict[str, int]]:
    """The limit of all experiments, and those of single ones."""
    from experiments.grid import EXPERIMENTS, PREPARING, chosen

    found: dict[str, int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not (number.isdecimal() and int(number) > 0):
            raise typer.BadParameter(f"{text!r} is neither a number nor EXPERIMENT=NUMBER", param_hint="--limit")
        found[name] = int(number)
    chosen("experiment", [name for name in found if name], (*EXPERIMENTS, *PREPARING[1:]))
    return found.pop("", None), found


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _run(workspace: Workspace, request: object, minutes: float | None, lanes: tuple[int, str | None]) -> None:
    from experiments.clock import Clock
    from experiments.grid_display import grid_display
    from experiments.planning import Plan, Request
    from experiments.running import run_tasks

    assert isinstance(request, Request)  # noqa: S101 - imported late, because torch stands behind it
    tasks = request.tasks(workspace)
    planned = Plan.of(workspace, tasks, lanes[0])
    with grid_display(len(planned.cells), planned.count("done")) as tell:
        run_tasks(workspace, tasks, Clock(minutes), tell, *lanes)


def _write_report(output: Path, large_graph: Path | None, figures: bool) -> None:
    from experiments.grid_report import write_grid_report
    from unseen.cli.console import note

    written = write_grid_report(output, output / "report", large_graph=large_graph, figures=figures)
    if written:
        note(f"wrote {len(written)} files to {output / 'report'}; start with {written[0]}")


def _show(plan: Plan) -> None:
    """One line a ratio and method: what is open, and the minutes it should take."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("ratio", "method", "to do", "minutes"):
        table.add_column(column, justify="right" if column == "minutes" else "left", no_wrap=True)
    groups: dict[tuple[int, str], list[tuple[str, float]]] = {}
    for planned in plan.cells:
        if planned.status != "done":
            key = (planned.cell.ratio, planned.cell.method)
            groups.setdefault(key, []).append((planned.cell.what, planned.seconds))
    for (ratio, method), some in groups.items():
        minutes = sum(seconds for _, seconds in some) / 60
        table.add_row(f"{ratio} %", method, " ".join(what for what, _ in some), f"{minutes:.1f}")
    console = Console(highlight=False)
    Console(highlight=False, width=max(console.width, WIDTH)).print(table)


def _summary(plan: Plan) -> str:
    """How far the grid is, in one line."""
    missing = {planned.reason for planned in plan.cells if planned.status == "missing"}
    parts = [f"{plan.count('done')} of {len(plan.cells)} cells are done"]
    if missing:
        parts.append(f"{plan.count('missing')} cannot be filled here ({'; '.join(sorted(missing))})")
    left = plan.count("open") + plan.count("begun")
    if left:
        parts.append(
            f"{left} are left, about {plan.seconds / 60:.0f} minutes, {plan.jobs} at once: go on with the same command"
        )
    return "; ".join(parts)
