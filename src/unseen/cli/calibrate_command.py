"""`unseen models calibrate`: the probabilities of a model fitted again, without training."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unseen.models.model_folder import ModelFolder
    from unseen.models.run_folder import RunFolder
    from unseen.probability.query_calibration import QueryCalibration


def calibrate(  # one argument a flag
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a zero-shot model or run, or a shipped model; give it before --graphs.",
        ),
    ],
    graphs: Annotated[
        list[str],
        typer.Option(
            "--graphs",
            "-g",
            metavar="GRAPH",
            help="A graph file, a folder with train, valid and test files, a dataset (read whole), or `countries`.",
        ),
    ],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[GRAPH]...", help="Further graphs.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write a calibrated copy there; without it the model's own folder is changed. A shipped model is "
            "changed only if its folder is named here.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[int, typer.Option(min=3, help="Questions a type and graph.")] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the hidden facts and of the questions.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: the GPU if there is one.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the calibration and how good it is.")] = False,
) -> None:
    """Fit the probabilities of a zero-shot model again, to facts hidden at random; the weights do not change.

    Give graphs as complete as you have them: what they do not say counts as false. The table says, for each graph, what
    a calibration fitted to the others makes of it; the network may have learned from that graph, so elsewhere it can be
    worse. With your own graph alone the probabilities are made for it.

    \b
    Examples:
      unseen models calibrate models/general --graphs fb15k-237 wn18rr codex-m
      unseen models calibrate default --graphs facts.tsv -o models/mine
      unseen ask facts.tsv "?x : knows(Ada, x)" --model models/mine
    """
    from unseen.cli.console import note, progress_bar, write_json
    from unseen.training.pretraining.source_graphs import open_graphs
    from unseen.training.recalibrating import checked_target, recalibrate

    given = [*graphs, *(more or [])]
    checked_target(_model_before(model, given), output)
    opened = open_graphs(given, whole=True)
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
    for name in sorted({one.name for one in opened}.difference(found.about["graphs"])):
        note(f"{name} was left out: no question has an answer there")
    note(f"wrote {path / 'calibration.json'}: fitted to {found.about['queries']:,} questions")


def _model_before(model: str, graphs: list[str]) -> ModelFolder | RunFolder:
    """The model; if it was named last, where a graph was expected, this is said."""
    from unseen.errors import TrainingError, UnseenError
    from unseen.models.model_folder import find_model

    try:
        return find_model(model)
    except UnseenError as error:
        last = graphs[-1]
        if not _is_model(last):
            raise
        hint = f"{last} is a model: name it first, `unseen models calibrate {last} --graphs ...`"
        raise TrainingError(f"{error}. {hint}") from None


def _is_model(name: str) -> bool:
    from unseen.errors import UnseenError
    from unseen.models.model_folder import find_model

    try:
        find_model(name)
    except UnseenError:
        return False
    return True


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
