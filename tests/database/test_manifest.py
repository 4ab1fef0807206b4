"""A damaged list of the store's files is refused; RocksDB alone would read it for ever."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from unseen.database import Database
from unseen.database.engine.manifest import _types, check_manifest

SECONDS = 60
"""Of processor time, after which opening counts as endless."""
OPEN = """
import sys
from pathlib import Path
from unseen.database import Database
from unseen.errors import DatabaseDamaged
try:
    Database(Path(sys.argv[1]))
except DatabaseDamaged as error:
    print("refused:", error)
"""


@pytest.fixture
def store(path: Path) -> Path:
    """The folder of the triples of a database that is closed."""
    with Database.create(path) as database:
        database.add([("a", "likes", "b")])
        database.checkpoint()
    return path / "triples"


@pytest.fixture
def manifest(store: Path) -> Path:
    return store / (store / "CURRENT").read_text().strip()


def with_type(manifest: Path, place: int, kind: int) -> None:
    data = bytearray(manifest.read_bytes())
    data[place + 6] = kind
    manifest.write_bytes(data)


def test_a_record_that_seems_recycled_is_refused_and_not_read_for_ever(path: Path, manifest: Path) -> None:
    places = [place for place, _ in _types(manifest.read_bytes())]
    with_type(manifest, places[len(places) // 2], 1 ^ 4)
    limited = [sys.executable, "-c", OPEN, str(path)]
    done = subprocess.run(
        limited,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )
    assert "refused:" in done.stdout, done.stderr[-500:]
    assert "unknown type" in done.stdout


def test_every_record_has_a_known_type_and_any_other_type_is_damage(store: Path, manifest: Path) -> None:
    check_manifest(str(store))
    whole = manifest.read_bytes()
    for place, kind in _types(whole):
        for bit in (4, 8, 16, 32, 64, 128):
            with_type(manifest, place, kind ^ bit)
            with pytest.raises(RuntimeError, match=f"unknown type at byte {place}"):
                check_manifest(str(store))
            manifest.write_bytes(whole)


def test_a_list_that_a_power_cut_has_shortened_or_filled_with_zeros_is_left_to_the_store(
    store: Path, manifest: Path
) -> None:
    whole = manifest.read_bytes()
    for length in range(0, len(whole), 3):
        for tail in (b"", bytes(100), bytes(70_000)):
            manifest.write_bytes(whole[:length] + tail)
            check_manifest(str(store))


def test_a_new_store_has_no_list_yet(tmp_path: Path) -> None:
    check_manifest(str(tmp_path))
