"""Servers for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from tests.server.running import Running, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """A server of the family, for one test."""
    with running(tmp_path / "family.db", FAMILY) as made:
        yield made


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of the family, for tests that only read."""
    with running(tmp_path_factory.mktemp("server") / "family.db", FAMILY) as made:
        yield made
