"""The list of a store's files, before RocksDB reads it.

RocksDB keeps it as records in blocks of 32 kB: a checksum, the length, the type, then the data. It trusts the type
before it has looked at the checksum, and reads for ever if the type belongs to another kind of log. A single flipped
bit is enough for that, so the types are checked first.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 32 << 10
HEADER = 7
KNOWN = range(5)
"""Types of records here: a whole one, its first, middle and last part, and zeros that a power cut may leave."""


def check_manifest(store: str) -> None:
    """Raise what RocksDB raises for a damaged file if the list of files has a record of another type."""
    try:
        name = (Path(store) / "CURRENT").read_bytes().decode().strip()
        data = (Path(store) / name).read_bytes()
    except (OSError, ValueError):  # a new store, or damage that RocksDB notices
        return
    for place, kind in _types(data):
        if kind not in KNOWN:
            raise RuntimeError(f"Corruption: {name} has a record of an unknown type at byte {place}")


def _types(data: bytes) -> Iterator[tuple[int, int]]:
    """Place and type of each record, as far as whole headers go."""
    place = 0
    while place + HEADER <= len(data):
        left = BLOCK - place % BLOCK
        if left < HEADER:
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        yield place, kind
        place += HEADER + length if length or kind else left  # no type and no length: the rest is zeros
