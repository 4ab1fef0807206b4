"""`unseen pretrain`: one model from many graphs, for graphs that it never saw."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from unseen.cli.train_commands import ARGUMENTS, FROM, setting_flag, summary, with_lists
from unseen.methods.zero_shot.pretraining_settings import PRETRAINING

if TYPE_CHECKING:
    from pathlib import Path

GRAPHS = Annotated[
    list[str],
    typer.Option(
        "--graphs",
        "-g",
        metavar="GRAPH",
        help="A graph file, a folder with a train file, a dataset, an .npz file, or `countries`; repeatable.",
    ),
]
MORE = Annotated[list[str] | None, typer.Argument(metavar="[GRAPH]...", help="Further graphs.", show_default=False)]


def pretrain_command() -> Any:
    """The command: graphs, what every run has, then one flag for each setting."""

    def command(
        more: list[str] | None,
        graphs: list[str],
        output: Path,
        resume: bool,
        config: Path | None,
        minutes: float | None,
        start: str | None,
        **flags: Any,
    ) -> None:
        given = {name: value for name, value in flags.items() if value is not None}
        how = {"resume": resume, "minutes": minutes, "start": start}
        _pretrain([*graphs, *(more or [])], output, config, given, how)

    keyword, required = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    defaults: dict[str, Any] = {"more": None, "graphs": required, "output": required, "resume": False}
    shared = {"more": MORE, "graphs": GRAPHS} | {name: kind for name, kind in ARGUMENTS.items() if name != "dataset"}
    shared["start"] = FROM
    own = [inspect.Parameter(name, keyword, default=defaults.get(name), annotation=shared[name]) for name in shared]
    hints = get_type_hints(PRETRAINING.settings)
    settings = [setting_flag(each, hints[each.name]) for each in fields(PRETRAINING.settings)]
    command.__signature__ = inspect.Signature([*own, *settings])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *settings]}
    command.__doc__ = _HELP
    return command


_HELP = """Pre-train a zero-shot model on parts of graphs; it then answers on graphs that it has never seen.

\b
Examples:
  unseen pretrain --graphs fb15k-237 wn18rr codex-m -o runs/general --minutes 10
  unseen pretrain --graphs fb15k-237 wn18rr codex-m -o runs/general --minutes 10 --resume
  unseen pretrain --graphs fb15k-237 wn18rr codex-m -o runs/large --from runs/general --smallest-world 50000
  unseen pretrain --graphs facts.tsv -o runs/small --dim 32 --layers 4 --relation-layers 3
  unseen evaluate runs/general 175.npz
"""


def _pretrain(graphs: list[str], output: Path, config: Path | None, flags: dict[str, Any], how: dict[str, Any]) -> None:
    from unseen.cli.console import note
    from unseen.cli.train_display import training_display
    from unseen.training.pretraining.pretraining_session import pretrain
    from unseen.training.pretraining.source_graphs import open_graphs
    from unseen.training.session import read_settings

    settings = read_settings(config, with_lists(PRETRAINING.settings, flags))
    opened = open_graphs(graphs)
    with training_display() as report:
        outcome = pretrain(opened, output, settings, report=report, **how)
    note(summary(outcome, output))
