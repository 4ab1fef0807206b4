"""`unseen train METHOD`: the flags of a method are the fields of its settings."""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from unseen.cli.plain_help import CommandLine
from unseen.methods.registry import TRAINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.methods.training_settings import TrainingConfig
    from unseen.training.loop import Outcome

app = CommandLine(help="Train a method on a dataset.", no_args_is_help=True, rich_markup_mode="rich")

ARGUMENTS = {
    "dataset": Annotated[
        Path, typer.Argument(metavar="DATASET", help="A dataset folder, or a published archive, folder or .npz file.")
    ],
    "output": Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="The run folder to write.")],
    "resume": Annotated[
        bool, typer.Option("--resume", help="Continue the run in the folder, or start one if there is none.")
    ],
    "config": Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags override them.", show_default=False)
    ],
    "minutes": Annotated[
        float | None,
        typer.Option(
            help="Stop after this many minutes, with a checkpoint, and fit probabilities; --resume continues.",
            show_default=False,
        ),
    ],
}


FROM = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="MODEL", help="Start from a model: `default`, a model folder, or a run.", show_default=False
    ),
]
"""Only for models that know no relation by name."""


def train_command(method: str) -> Callable[..., None]:
    """The command that trains a method: its parameters are those all methods share, then one for each setting."""

    def command(
        dataset: Path, output: Path, resume: bool, config: Path | None, minutes: float | None, **flags: Any
    ) -> None:
        start = flags.pop("start", None)
        given = {name: value for name, value in flags.items() if value is not None}
        _train(method, dataset, output, config, given, resume=resume, minutes=minutes, start=start)

    arguments = ARGUMENTS | ({"start": FROM} if TRAINED[method].shape else {})
    shared = [_parameter(name, kind) for name, kind in arguments.items()]
    hints = get_type_hints(TRAINED[method].settings)
    settings = [setting_flag(each, hints[each.name]) for each in fields(TRAINED[method].settings)]
    command.__signature__ = inspect.Signature([*shared, *settings])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*shared, *settings]}
    command.__doc__ = _HELP.format(method=method, more=_MORE.get(method, ""))
    return command


_HELP = """Train {method} on the training graph and queries of a dataset; the run folder holds all results.

\b
Examples:
  unseen train {method} fb15k-237-175 -o runs/first
  unseen train {method} 175.npz -o runs/first --resume --minutes 10{more}
  unseen evaluate runs/first fb15k-237-175
  torchrun --nproc-per-node 2 --no-python unseen train {method} fb15k-237-175 -o runs/two
"""

_MORE = {
    "zero-shot": """
  unseen train zero-shot 175.npz --from default -o runs/tuned""",
    "nodepiece-qe": """
  unseen train nodepiece-qe 175.npz -o runs/gnn --gnn --recipe large-batch
  unseen train nodepiece-qe wikikg -o runs/large --anchors 20000 --dim 100 --share-negatives""",
}
"""Examples of one method alone."""


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = {"dataset": inspect.Parameter.empty, "output": inspect.Parameter.empty, "resume": False}.get(name)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def setting_flag(each: Field[Any], kind: Any) -> inspect.Parameter:
    """A flag for a setting; left out, the file or the default decides. Lists are written with commas."""
    shown = ",".join(each.default) if isinstance(each.default, tuple) else str(each.default).lower()
    about = f"{each.metadata['help']} [dim]\\[default: {shown or 'none'}][/dim]"
    taken: Any = str if get_args(kind) else kind
    annotation: Any = Annotated.__class_getitem__((taken | None, typer.Option(help=about, show_default=False)))  # type: ignore[attr-defined]
    return inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _train(method: str, path: Path, output: Path, config: Path | None, flags: dict[str, Any], **how: Any) -> None:
    from unseen.cli.console import note
    from unseen.cli.dataset_sources import open_dataset
    from unseen.cli.train_display import training_display
    from unseen.training.session import read_settings, train

    settings = read_settings(config, with_lists(TRAINED[method].settings, flags))
    dataset = open_dataset(path)
    with training_display() as report:
        outcome = train(method, dataset, output, settings, **how, report=report)
    note(summary(outcome, output))


def with_lists(kind: type[TrainingConfig], flags: dict[str, Any]) -> dict[str, Any]:
    """Flags as settings: what is a list there was written with commas."""
    hints = get_type_hints(kind)
    return {
        name: tuple(part.strip() for part in value.split(",")) if get_args(hints[name]) else value
        for name, value in flags.items()
    }


def summary(outcome: Outcome, output: Path) -> str:
    """How a run ended, in one line."""
    progress = outcome.progress
    best = "" if progress.best_score is None else f"; best {progress.best_score:.4f} at step {progress.best_step:,}"
    more = "" if outcome.is_complete else "; go on with --resume"
    return f"{outcome.reason} at step {progress.step:,}{best}; {output}{more}{uncalibrated(output)}"


def uncalibrated(run: Path) -> str:
    """A warning about a run without fitted probabilities; nothing for one that has them."""
    if (run / "calibration.json").exists():
        return ""
    return "; not calibrated: its answers have scores that are not probabilities"


for _method in TRAINED:
    app.command(_method)(train_command(_method))
