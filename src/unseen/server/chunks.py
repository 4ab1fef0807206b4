"""The frames of a chunked body: where it ends, found by the lengths that it states, and how much of it is frames.

Each chunk is a line with its length in hexadecimal digits, so many bytes, and an empty line; after one of length 0
come trailers and an empty line. The parser of HTTP judges whether all of that is well-formed; what is counted here
says how far it may read without meeting the next request, and refuses a body that is mostly frames.
"""

from __future__ import annotations

import re

from unseen.server.problems import Problem, bad_request

MOST_FRAME_BYTES = 64 << 10
"""What may come between two chunks, or after the last one; and by how much all frames may exceed the body."""
_LENGTH = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n?")
_KEPT = 32
"""Bytes of a line that say all we ask for: a length, or that it is empty."""


class Chunks:
    """How far a chunked body has been read."""

    def __init__(self) -> None:
        self.is_over = False
        self._left = 0
        """Bytes of the chunk, and of the end of its last line, that are still to come."""
        self._line = b""
        """The beginning of a line that has not ended yet."""
        self._in_trailers = False
        self._frame = self._frames = self._body = 0
        """Bytes of the frame that is being read, of all frames, and of all chunks."""

    def end_in(self, data: bytes, position: int, stop: int) -> int:
        """Where the body ends between two places of what came, or the second place; a body of frames is an error."""
        while position < stop and not self.is_over:
            if self._left:
                step = min(self._left, stop - position)
                self._left -= step
                position += step
            else:
                position = self._read_line(data, position, stop)
        return position

    def _read_line(self, data: bytes, position: int, stop: int) -> int:
        found = data.find(b"\n", position, stop) + 1
        end = found or stop
        self._count_frame(end - position)
        line = self._line + data[position : min(end, position + _KEPT)]
        self._line = line[:_KEPT]
        if found:
            self._line = b""
            self._take_line(line)
        return end

    def _take_line(self, line: bytes) -> None:
        if self._in_trailers:
            self.is_over = not line.strip(b"\r\n")
            return
        match = _LENGTH.match(line)
        if match is None:
            raise bad_request("the length of a chunk is not a hexadecimal number")
        length = int(match.group(1), 16)
        if length:
            self._left, self._frame = length + 2, 0
            self._body += length
        self._in_trailers = not length

    def _count_frame(self, size: int) -> None:
        self._frame += size
        self._frames += size
        if self._frame > MOST_FRAME_BYTES:
            raise Problem(431, "too_large", f"a trailer is longer than {MOST_FRAME_BYTES:,} bytes")
        if self._frames > self._body + MOST_FRAME_BYTES:
            raise bad_request("the body comes in chunks of a few bytes: send larger chunks, or a Content-Length")
