"""How much a compressed file may become: a small file that fills the memory is refused while it is read.

By default a file may grow to a hundred times its size, or to 64 MB if that is more. Graphs grow five to fifty times.
`UNSEEN_MAX_UNCOMPRESSED` says how many bytes (`500M`, `8G`) may come out of any file instead.
"""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, BinaryIO

from unseen.errors import GraphError, shorten

if TYPE_CHECKING:
    from pathlib import Path

SETTING = "UNSEEN_MAX_UNCOMPRESSED"
LARGEST_EXPANSION = 100
FREE_BYTES = 1 << 26
_AMOUNT = re.compile(r"(\d{1,15})\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def largest(packed: int) -> int:
    """How many bytes may come out of a file of `packed` bytes."""
    wanted = os.environ.get(SETTING)
    if not wanted:
        return max(FREE_BYTES, LARGEST_EXPANSION * packed)
    amount = _AMOUNT.fullmatch(wanted.strip())
    if amount is None:
        raise GraphError(f"{SETTING} is {shorten(wanted)!r}, not a number of bytes such as 500M or 8G")
    return int(amount[1]) * _UNITS[amount[2].lower()]


class Allowance:
    """What may still come out of one file."""

    def __init__(self, path: Path, packed: int) -> None:
        self.path, self.packed, self.most = path, packed, largest(packed)
        self.used = 0

    def use(self, count: int) -> None:
        """Note `count` bytes more."""
        self.reach(self.used + count)

    def reach(self, position: int) -> None:
        """Note that `position` bytes have come out in all."""
        self.used = position
        if position > self.most:
            raise GraphError(
                f"its {self.packed:,} bytes become more than {self.most:,} when unpacked, which is unusual for a "
                f"graph; if the file is meant to be so, allow more, for example with {SETTING}=8G",
                path=self.path,
            )


class BoundedStream(io.RawIOBase):
    """The bytes of a stream, counted against an allowance."""

    def __init__(self, stream: BinaryIO, allowance: Allowance) -> None:
        self._stream, self._allowance = stream, allowance

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill a buffer with what is left."""
        data = self._stream.read(len(buffer))
        self._allowance.use(len(data))
        buffer[: len(data)] = data
        return len(data)


def bounded(stream: BinaryIO, allowance: Allowance) -> io.BufferedReader:
    """A stream that stops with an error when the allowance is used up."""
    return io.BufferedReader(BoundedStream(stream, allowance), 1 << 18)
