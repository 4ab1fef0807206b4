"""Databases for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from unseen.database import Database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "family.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    """The family of tests/conftest.py in a database."""
    with Database.create(path) as made:
        made.add(FAMILY)
        yield made
