"""A control group with a limit of memory, inside of the group that the tests run in; needs root and Linux."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from unseen.graph.control_groups import MOUNT, group_folders


@dataclass(frozen=True)
class LimitedGroup:
    """A group whose processes may take so much memory together, and no swap."""

    folder: Path
    version: int

    @property
    def most_used(self) -> int:
        """The most bytes that it ever had, files in memory included; 0 if the system does not say."""
        name = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}[self.version]
        try:
            return int((self.folder / name).read_text())
        except OSError:
            return 0

    @property
    def killed(self) -> int:
        """How many of its processes were ended because memory ran out."""
        name = {1: "memory.oom_control", 2: "memory.events"}[self.version]
        lines = (self.folder / name).read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def command(self, words: list[str]) -> list[str]:
        """A command that enters the group before it does anything else."""
        return ["sh", "-c", f'echo $$ > "{self.folder}/cgroup.procs" && exec "$@"', "sh", *words]


@contextmanager
def limited_group(limit: int) -> Iterator[LimitedGroup | None]:
    """A new group, or None where this system lets nobody make one; processes in it must have ended afterwards."""
    group = _made(limit)
    try:
        yield group
    finally:
        if group is not None:
            group.folder.rmdir()


def _made(limit: int) -> LimitedGroup | None:
    name = f"unseen-test-{os.getpid()}"
    for version, parent in _parents():
        folder = parent / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            for file, value in _settings(version, limit, folder):
                (folder / file).write_text(str(value))
        except OSError:
            folder.rmdir()
            continue
        return LimitedGroup(folder, version)
    return None


def _parents() -> Iterator[tuple[int, Path]]:
    """Groups in which a limited one could be made: this process's own, or one around it that shares memory out."""
    for folder in group_folders(MOUNT / "memory", "memory")[:1]:
        if (folder / "memory.limit_in_bytes").exists():
            yield 1, folder
    for folder in group_folders(MOUNT, ""):
        control = folder / "cgroup.subtree_control"
        if control.exists() and "memory" in control.read_text().split():
            yield 2, folder


def _settings(version: int, limit: int, folder: Path) -> list[tuple[str, int]]:
    if version == 2:
        return [("memory.max", limit), ("memory.swap.max", 0)]
    swap = "memory.memsw.limit_in_bytes"  # memory and swap together; only where the system counts swap
    return [("memory.limit_in_bytes", limit), *([(swap, limit)] if (folder / swap).exists() else [])]
