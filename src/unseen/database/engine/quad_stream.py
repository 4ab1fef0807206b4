"""Lines of N-Triples as lines of N-Quads, made while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

BLOCK = 1 << 18


class QuadStream:
    """The lines of a file with a graph in each, and then other lines; what `bulk_load` reads from."""

    def __init__(self, file: BinaryIO, graph: str, last: str) -> None:
        """`graph` ends with a blank; it is empty for the default graph."""
        self._file, self._end, self._last = file, f"{graph}.\n".encode(), last.encode()
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end."""
        if not self._ready:
            self._ready = memoryview(self._block())
        found, self._ready = self._ready[:size], self._ready[size:]
        return bytes(found)

    def _block(self) -> bytes:
        lines = self._file.readlines(BLOCK)
        if lines:
            return b"".join(line.removesuffix(b".\n") + self._end for line in lines)
        last, self._last = self._last, b""
        return last
