"""`unseen models calibrate`: the probabilities of a model fitted again, without training."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unseen.methods.query_calibration import QueryCalibration


def calibrate(  # one argument a flag
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="The folder of a zero-shot model or run, or a shipped model.")
    ],
    graphs: Annotated[
        list[str],
        typer.Option(
            "--graphs",
            "-g",
            metavar="GRAPH",
            help="A graph file, a folder with train, valid and test files (all are read), or `countries`.",
        ),
    ],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[GRAPH]...", help="Further graphs.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write a calibrated copy there.", show_default=False),
    ] = None,
    queries: Annotated[int, typer.Option(min=3, help="Questions a type and graph.")] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Which facts are hidden, and which questions asked.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: the GPU if there is one.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the calibration and what it is worth.")] = False,
) -> None:
    """Fit the probabilities of a zero-shot model again, to facts hidden from graphs at random; weights stay.

    Give graphs as complete as you have them: what they do not say counts as false. The table says, for each graph, what
    a calibration fitted to the others makes of it. With your own graph alone the probabilities are made for it.

    \b
    Examples:
      unseen models calibrate models/general --graphs fb15k-237 wn18rr codex-m
      unseen models calibrate default --graphs facts.tsv -o models/mine
      unseen ask facts.tsv "?x : knows(Ada, x)" --model models/mine
    """
    from unseen.cli.console import note, progress_bar, write_json
    from unseen.training.models import find_model
    from unseen.training.pretraining.sources import open_graphs
    from unseen.training.recalibrating import checked_target, recalibrate

    checked_target(model, find_model(model), output)
    opened = open_graphs([*graphs, *(more or [])], whole=True)
    with progress_bar("calibrating", unit="questions") as bar:
        found, path = recalibrate(
            model,
            opened,
            queries,
            output=output,
            device=device,
            seed=seed,
            progress=lambda _label, done, total: bar(done, total),
        )
    if as_json:
        write_json(found.to_json())
    else:
        _show(found)
    note(f"wrote {path / 'calibration.json'}: fitted to {found.about['queries']:,} questions")


def _show(found: QueryCalibration) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="first ten predictions of each question", title_justify="left", title_style="bold", box=None)
    for column in ("judged on", "fitted to", "mean probability", "came true", "calibration error", "log loss"):
        table.add_column(column, justify="left" if column in ("judged on", "fitted to") else "right")
    rows = [("all", "all", found.about["fitted"])]
    rows += [(name, "the others", judged) for name, judged in found.about["leave_one_out"].items()]
    for name, source, judged in rows:
        numbers = (judged[key] for key in ("mean_probability", "came_true", "calibration_error", "log_loss"))
        table.add_row(name, source, *(f"{number:.3f}" for number in numbers))
    Console(highlight=False).print(table)
