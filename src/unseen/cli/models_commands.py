"""`unseen models`: lists the shipped models, and makes models from runs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.calibrate_command import calibrate
from unseen.cli.plain_help import CommandLine

if TYPE_CHECKING:
    from unseen.models.model_folder import ModelFolder

app = CommandLine(
    help="List the shipped models, export one from a run, average several, or fit probabilities again.",
    rich_markup_mode="rich",
    no_args_is_help=False,
)


app.command()(calibrate)


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the whole cards.")] = False,
) -> None:
    """List the models that are shipped with the package.

    \b
    Examples:
      unseen models
      unseen models --json
      unseen ask facts.tsv "?x : knows(Ada, x)" --model default
      unseen models export runs/general -o models/general --licence CC-BY-4.0
      unseen models calibrate models/general --graphs facts.tsv
    """
    if context.invoked_subcommand is not None:
        return
    from unseen.cli.console import write_json
    from unseen.models.model_folder import default_model, shipped_models

    found, default = shipped_models(), default_model()
    if as_json:
        write_json({"default": default, "models": [{"name": model.name, **model.card} for model in found]})
    else:
        _show(found, default)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run of a zero-shot model.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder of the model to write.")],
    licence: Annotated[str, typer.Option(help="Licence of the weights, as the training data requires.")],
    metrics: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON to add to the card's metrics.", show_default=False)
    ] = None,
    about: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON to add to the card: sources of the data, notes.", show_default=False),
    ] = None,
) -> None:
    """Write the best weights of a run as a model: weights, card and calibration, at most two megabytes.

    \b
    Examples:
      unseen models export runs/general -o models/general --licence CC-BY-4.0
      unseen models export runs/general -o models/general --licence CC-BY-4.0 --metrics test.json --about sources.json
    """
    from unseen.cli.console import note
    from unseen.models.checkpoint import read_json
    from unseen.models.model_folder import export_model
    from unseen.models.run_folder import RunFolder

    more, facts = (None if path is None else read_json(path) for path in (metrics, about))
    model = export_model(RunFolder.open(run), output, licence=licence, metrics=more, about=facts)
    size = (model.path / "weights.safetensors").stat().st_size
    note(f"wrote {output}: {model.card['parameters']:,} parameters, {size:,} bytes")


@app.command()
def average(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Models or runs of one shape, at least two.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder of the model to write.")],
    licence: Annotated[
        str | None, typer.Option(help="Licence of the weights; by default the first one's.", show_default=False)
    ] = None,
) -> None:
    """Write the mean of the weights of several models, such as runs with other seeds that began with the same model.

    The mean has no calibration: `unseen models calibrate` fits one.

    \b
    Examples:
      unseen models average runs/seed-1 runs/seed-2 runs/seed-3 -o models/mean --licence CC-BY-4.0
    """
    from unseen.cli.console import note
    from unseen.models.mean_model import average_models

    model = average_models(models, output, licence=licence)
    note(f"wrote {output}: the mean of {len(models)} models, {model.card['parameters']:,} parameters")


def _show(found: list[ModelFolder], default: str | None) -> None:
    from rich.table import Table

    from unseen.cli.console import output_console

    console = output_console()
    if not found:
        console.print("no model is shipped with this version; `unseen pretrain` makes one")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "learned from", "steps", "parameters", "validation", "licence"):
        table.add_column(column, overflow="fold")
    for model in found:
        card = model.card
        name = model.name + (" (default)" if model.name == default else "")
        data = ", ".join(str(graph["name"]) for graph in card["data"])
        numbers = [str(card["steps"]), f"{card.get('parameters', 0):,}", _validation(card["metrics"])]
        table.add_row(name, data, *numbers, str(card["licence"]))
    console.print(table)


def _validation(metrics: dict[str, Any]) -> str:
    found = metrics.get("validation", {})
    return ", ".join(f"{name} {100 * value:.1f}" for name, value in found.items() if isinstance(value, float))
