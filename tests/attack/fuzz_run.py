"""One command in this process, and how it ended: `python -m tests.attack.fuzz_run ROUNDS [SPECIMEN...]` runs many."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from unittest import mock

from tests.attack.mutations import copy_of, damage, files_in
from tests.attack.specimens import SPECIMENS, Specimen


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    code: int
    errors: str
    trace: str

    @property
    def is_good(self) -> bool:
        """Success, or one message with exit code 2."""
        return self.code == 0 or (
            self.code == 2 and "error: " in self.errors.lower() and "Traceback" not in self.errors and not self.trace
        )


def ending_of(words: tuple[str, ...]) -> Ending:
    """Run `unseen` with these words."""
    from unseen.cli.main import app, run
    from unseen.errors import UnseenError

    trace = ""

    def seen(*arguments: object, **options: object) -> object:
        nonlocal trace
        try:
            return original(*arguments, **options)
        except (UnseenError, SystemExit, MemoryError):
            raise
        except Exception:
            trace = traceback.format_exc()
            raise

    original = type(app).__call__
    output, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["unseen", *words]),
        mock.patch.object(type(app), "__call__", seen),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            run()
            code = 0
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
    before = Path.cwd()
    os.chdir(place)
    try:
        return done, [ending_of(words) for words in specimen.commands]
    finally:
        os.chdir(before)


def main(rounds: int, names: list[str]) -> None:
    """Attack every example many times, and print what went wrong."""
    warnings.simplefilter("error")
    folder, seen = Path(mkdtemp()), set()
    for name in names or SPECIMENS:
        example = folder / "example" / name
        example.mkdir(parents=True)
        SPECIMENS[name].make(example)
        started, wrong = time.monotonic(), 0
        for seed in range(rounds):
            before, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            done, endings = attack(name, SPECIMENS[name], example, folder / "place", seed)
            took, grown = time.monotonic() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
            if took > 15 or grown > 500_000:
                print(f"-- {name} {seed} {done}: {took:.1f} s, {grown // 1000} MB more", flush=True)
            for ending in endings:
                if not ending.is_good:
                    wrong += 1
                    last = ending.trace.strip().splitlines()[-1:] or [ending.errors[-200:]]
                    places = [line.strip() for line in ending.trace.splitlines() if "src/unseen" in line][-1:]
                    key = (str(places), last[0][:60])
                    if key not in seen:
                        seen.add(key)
                        print(f"!! {name} {seed} {done}: {ending.code} {places} {last[0][:300]}", flush=True)
        print(f"{name}: {rounds} damaged, {wrong} ended badly, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
