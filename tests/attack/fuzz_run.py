"""One damaged example, its commands in this process, and how they ended."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest import mock

from tests.attack.mutations import copy_of, damage, files_in
from tests.attack.specimens import Specimen


@dataclass(frozen=True)
class Ending:
    """How a command ended; `trace` is that of an error that no user can mend."""

    code: int
    errors: str
    trace: str

    @property
    def is_good(self) -> bool:
        """Success, or one message with exit code 2."""
        return self.code == 0 or (self.code == 2 and "error: " in self.errors.lower() and not self.trace)


def ending_of(words: tuple[str, ...]) -> Ending:
    """Run `unseen` with these words."""
    from unseen.cli.main import app, run
    from unseen.errors import UnseenError

    trace, original = "", type(app).__call__

    def watched(*arguments: object, **options: object) -> object:
        nonlocal trace
        try:
            return original(*arguments, **options)
        except (UnseenError, SystemExit, MemoryError):
            raise
        except Exception:
            trace = traceback.format_exc()
            raise

    errors, code = io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["unseen", *words]),
        mock.patch.object(type(app), "__call__", watched),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(errors),
    ):
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Ending(code, errors.getvalue(), trace)


def attack(name: str, specimen: Specimen, example: Path, place: Path, seed: int) -> tuple[str, list[Ending]]:
    """Damage a copy of an example by a seed, and run its commands in it; what was damaged and how they ended."""
    chance = Random(f"{name} {seed}")
    copy_of(example, place)
    file = chance.choice(files_in(place))
    done = f"{file.relative_to(place)}: {damage(file, chance)}"
    specimen.mend(place)
    with contextlib.chdir(place):
        return done, [ending_of(words) for words in specimen.commands]


def undamaged(specimen: Specimen, example: Path, place: Path) -> list[Ending]:
    """The same without any damage."""
    with contextlib.chdir(copy_of(example, place)):
        return [ending_of(words) for words in specimen.commands]


def show(done: str, ending: Ending) -> str:
    """What to say of a bad ending."""
    return f"{done}: exit code {ending.code}\n{ending.errors[-500:]}\n{ending.trace[-1500:]}"


os.environ.pop("UNSEEN_DEBUG", None)
