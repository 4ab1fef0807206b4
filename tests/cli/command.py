"""The real command in this process: `run()` with arguments, and what it wrote."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

GOLDEN = Path(__file__).parent / "golden"
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
"""A terminal without colours, a hundred columns wide."""


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        return self.errors.splitlines()


Command = Callable[..., Result]


def plain(text: str) -> str:
    """Text without colours and without spaces at line ends."""
    return "".join(line.rstrip() + "\n" for line in COLOURS.sub("", text).splitlines())


def command_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], app: Callable[[], None] | None = None
) -> Command:
    """A function that runs `unseen`, or another command line, with the given words."""
    from unseen.cli.main import app as unseen
    from unseen.cli.main import run

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in ("FORCE_COLOR", "UNSEEN_DEBUG", "TERMINAL_WIDTH", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["unseen", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            run(app or unseen)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        captured = capsys.readouterr()
        return Result(code, plain(captured.out), plain(captured.err))

    return command


def assert_golden(name: str, text: str) -> None:
    """Compare with a kept file, or keep it anew with UNSEEN_UPDATE_GOLDEN=1."""
    path = GOLDEN / name
    if os.environ.get("UNSEEN_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} differs; UNSEEN_UPDATE_GOLDEN=1 pytest writes it anew"
