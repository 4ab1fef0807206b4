"""Memory limits of containers, services and jobs are found, wherever in the tree of groups they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.database.engine.limits import default_megabytes, usable_megabytes
from unseen.graph import control_groups
from unseen.graph.control_groups import MemoryGroup, memory_groups

GIGABYTE = 1 << 30


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of control groups that is empty so far."""
    monkeypatch.setattr(control_groups, "MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(control_groups, "MEMBERSHIP", tmp_path / "membership")
    return tmp_path / "cgroup"


def group(folder: Path, limit: str, used: int = 0, cached: int = 0, *, version: int = 2) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = {1: ("limit_in_bytes", "usage_in_bytes", "total_inactive_file"), 2: ("max", "current", "inactive_file")}
    most, now, spare = names[version]
    (folder / f"memory.{most}").write_text(f"{limit}\n")
    (folder / f"memory.{now}").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{spare} {cached}\n")


def test_a_service_has_the_limit_of_its_own_group(mount: Path) -> None:
    (mount.parent / "membership").write_text("0::/system.slice/unseen.service\n")
    group(mount / "system.slice", "max")
    group(mount / "system.slice" / "unseen.service", str(GIGABYTE), used=300, cached=200)
    assert memory_groups() == [MemoryGroup(GIGABYTE, 100)]
    assert usable_megabytes() == 1024
    assert default_megabytes() <= 51


def test_a_group_around_it_may_be_smaller(mount: Path) -> None:
    (mount.parent / "membership").write_text("9:cpu,cpuacct:/x\n4:memory:/jobs/mine\n0::/\n")
    group(mount / "memory" / "jobs", str(GIGABYTE), version=1)
    group(mount / "memory" / "jobs" / "mine", str(4 * GIGABYTE), version=1)
    assert {found.limit for found in memory_groups()} == {GIGABYTE, 4 * GIGABYTE}
    assert usable_megabytes() == 1024


def test_a_container_sees_its_group_as_the_root_whatever_its_membership_says(mount: Path) -> None:
    (mount.parent / "membership").write_text("0::/../outside\n")
    group(mount, str(GIGABYTE))
    assert [found.limit for found in memory_groups()] == [GIGABYTE]


def test_without_control_groups_the_machine_is_the_limit(mount: Path) -> None:
    assert memory_groups() == []
    assert usable_megabytes() > 0
