"""Writes docs/reference/cli.md from the help pages of the command line, so that it cannot go stale.

Run: .venv/bin/python tools/cli_reference.py
"""

from __future__ import annotations

import re
from pathlib import Path

import typer
from typer.testing import CliRunner

from unseen.cli.main import app

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"


def reference() -> str:
    """The whole page: the top-level help, then one section a command."""
    pages = [("unseen", [])]
    pages += [(f"unseen {' '.join(path)}", path) for path in command_paths(typer.main.get_command(app))]
    sections = [f"## {title}\n\n```text\n{help_text(path)}\n```\n" for title, path in pages]
    return "# The command line\n\nWritten by `tools/cli_reference.py` from `--help`.\n\n" + "\n".join(sections)


def command_paths(command: object, above: tuple[str, ...] = ()) -> list[list[str]]:
    """The words of every command, groups before what they hold."""
    paths = []
    for name, child in getattr(command, "commands", {}).items():
        paths += [[*above, name], *command_paths(child, (*above, name))]
    return paths


def help_text(path: list[str]) -> str:
    """One help page, 100 columns wide, without colours."""
    environment = {"TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    output = CliRunner().invoke(app, [*path, "--help"], prog_name="unseen", env=environment).output
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    return "\n".join(line.rstrip() for line in plain.strip("\n").splitlines())


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET}")
