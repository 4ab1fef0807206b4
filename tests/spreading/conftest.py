"""A Ray of two cores on this machine, started once: it takes some seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.command import Command, command_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.spreading.crew import Crew


@pytest.fixture(scope="package")
def crew() -> Iterator[Crew]:
    """Two workers; commands that want some find this Ray running."""
    pytest.importorskip("ray", reason="Ray is an extra: it is not installed")
    from unseen.spreading.crew import crew_of

    with crew_of(2, "local") as found:
        yield found


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command_in(monkeypatch, capsys)
