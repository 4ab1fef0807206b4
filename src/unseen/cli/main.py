"""The `unseen` command: every sub-command under its name, and one way to end when something is wrong."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli import (
    answer_command,
    ask,
    check_command,
    dataset_commands,
    db_commands,
    demo,
    doctor,
    evaluate_commands,
    graph_commands,
    mcp_command,
    models_commands,
    pretrain,
    rules_command,
    sample_commands,
    score,
    serve,
    train_commands,
    tune_commands,
    ui,
)
from unseen.cli.plain_help import CommandLine
from unseen.errors import UnseenError
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

app = CommandLine(
    name="unseen",
    help="Logical questions over knowledge graphs that are incomplete and keep growing.",
    epilog='Try: unseen ask countries "?x : borders(France, x) & !speaks(x, German)"',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ask")(ask.ask)
app.command("score")(score.score)
app.command("answer")(answer_command.answer)
app.command("demo")(demo.demo)
app.command("info")(graph_commands.info)
app.command("convert")(graph_commands.convert)
app.command("check")(check_command.check)
app.command("rules")(rules_command.rules)
app.command("split")(dataset_commands.split)
app.command("sample")(sample_commands.sample)
app.command("evaluate")(evaluate_commands.evaluate)
app.command("report")(evaluate_commands.report)
app.add_typer(train_commands.app, name="train")
app.command("pretrain")(pretrain.pretrain_command())
app.add_typer(models_commands.app, name="models")
app.command("tune")(tune_commands.tune)
app.add_typer(db_commands.app, name="db")
app.command("serve")(serve.serve)
app.command("mcp")(mcp_command.mcp)
app.command("ui")(ui.ui)
app.command("download")(dataset_commands.download)
app.command("doctor")(doctor.doctor)

datasets = CommandLine(help="Look at datasets, and exchange them with published formats.", no_args_is_help=True)
datasets.command("stats")(sample_commands.stats)
datasets.command("import")(dataset_commands.import_)
datasets.command("export")(dataset_commands.export)
app.add_typer(datasets, name="dataset")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unseen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Logical questions over knowledge graphs that are incomplete and keep growing."""


FEW_COLLECTIONS = 200_000
"""Objects made between two garbage collections: importing makes a million, none of them garbage."""


def run(command: Callable[[], None] = app) -> None:
    """Run a command line: an error that the user can fix is one message and exit code 2, never a traceback."""
    gc.set_threshold(FEW_COLLECTIONS)
    atexit.register(gc.freeze)  # the interpreter collects once more as it ends: a quarter of a second for nothing
    try:
        command()
    except UnseenError as error:
        _end(str(error), 2)
    except KeyboardInterrupt:
        _end("interrupted; nothing was left half-written", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _end("this needs more memory than the machine has", 2)
    except Exception as error:
        if os.environ.get("UNSEEN_DEBUG"):
            raise
        _end(f"internal error: {type(error).__name__}: {error} (UNSEEN_DEBUG=1 shows where)", 1)


def _end(message: str, code: int) -> None:
    typer.echo(f"error: {message}", err=True)
    sys.exit(code)
