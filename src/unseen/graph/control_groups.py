"""How much memory the control groups of this process allow: those of containers, services and jobs.

A group inside of another may take what both allow, so all groups from the process up to the root count. Systems without
control groups have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MEMBERSHIP = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class MemoryGroup:
    """A control group with a limit of memory; all in bytes."""

    limit: int
    used: int
    """Without files that the system keeps in memory as long as nobody needs the room."""


def memory_groups() -> list[MemoryGroup]:
    """The groups with a limit that this process is in."""
    found = [_version_2(folder) for folder in group_folders(MOUNT, "")]
    found += [_version_1(folder) for folder in group_folders(MOUNT / "memory", "memory")]
    return [group for group in found if group is not None]


def group_folders(mount: Path, controller: str) -> list[Path]:
    """The folder of the process's group and those of all groups around it.

    A container may see its own group as the root, and a path outside as its membership; then only the root is there.
    """
    try:
        lines = [line.split(":", 2) for line in MEMBERSHIP.read_text(encoding="utf-8").splitlines()]
    except OSError:
        lines = []
    paths = [line[2] for line in lines if len(line) == 3 and controller in line[1].split(",")]
    inner = [mount / path.strip("/") for path in paths]
    around = [folder for one in inner for folder in (one, *one.parents) if folder.is_relative_to(mount)]
    return list(dict.fromkeys([*around, mount]))


def _version_1(folder: Path) -> MemoryGroup | None:
    return _read(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _version_2(folder: Path) -> MemoryGroup | None:
    return _read(folder, "memory.max", "memory.current", "inactive_file")


def _read(folder: Path, limit: str, used: str, spare: str) -> MemoryGroup | None:
    """A group by the names of its files; None if there is none or it has no limit, which version 2 calls "max"."""
    try:
        most, now = (int((folder / name).read_text(encoding="ascii")) for name in (limit, used))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    cached = sum(int(line.split()[1]) for line in lines if line.split()[:1] == [spare])
    return MemoryGroup(most, max(0, now - cached))
