"""Files nested so deep that parsing them would overflow the stack, and with it the whole process.

pyoxigraph goes down with JSON-LD objects some 3,000 deep and with RDF 1.2 triple terms some 10,000 deep.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEEPEST = 1000
_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class TooDeep(Exception):
    """A file is nested deeper than any that people make."""

    def __init__(self) -> None:
        super().__init__(f"is nested more than {DEEPEST:,} levels deep")


def check_json(data: bytes) -> bytes:
    """The same data, unless its objects and arrays are nested too deep."""
    marks = np.frombuffer(_JSON_STRING.sub(b"", data), np.uint8)
    depth = np.cumsum(_is_one_of(b"[{", marks).astype(np.int32) - _is_one_of(b"]}", marks))
    if len(depth) and depth.max() > DEEPEST:
        raise TooDeep
    return data


def _is_one_of(signs: bytes, marks: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.isin(marks, np.frombuffer(signs, np.uint8))


class ShallowStream:
    """A stream that stops when triple terms are opened and not closed too often."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._depth = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self._depth += data.count(b"<<(") - data.count(b")>>")
        if self._depth > DEEPEST:
            raise TooDeep
        return data
