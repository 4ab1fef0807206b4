"""Documents nested so deep that parsing them would overflow the stack, and with it end the whole process.

pyoxigraph goes down with JSON-LD objects some 3,000 deep and with RDF 1.2 triple terms some 10,000 deep. Nothing here
tries to read Turtle as the parser does. Every level of a triple term needs the three bytes `<<(`, so a document with
few of them is shallow, whatever its comments and texts hold. Only one with many is tried out in a process of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from unseen.errors import GraphError
from unseen.graph.files.depth import DEEPEST, OPENING

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

_TRIAL = Path(__file__).with_name("trial_parse.py")
_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


class TooDeep(GraphError):
    """A document is nested deeper than any that people make."""

    def __init__(self) -> None:
        super().__init__(f"is nested more than {DEEPEST:,} levels deep")


class ManyOpenings(Exception):
    """A document has so many `<<(` that it may be nested too deep."""


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
    """A stream that stops, with `ManyOpenings`, before a parser has seen enough `<<(` to be in danger."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._openings = 0
        self._last = b""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        seen = self._last + data
        self._openings += seen.count(OPENING)
        self._last = seen[-2:]
        if self._openings > DEEPEST:
            raise ManyOpenings
        return data


def try_out(stream: BinaryIO, format_name: str, pyoxigraph: ModuleType) -> None:
    """Parse a document in a process of its own; one that ends that process, or nests too deep, is an error."""
    packages = str(Path(pyoxigraph.__file__ or "").parent.parent)
    command = [sys.executable, "-P", str(_TRIAL), packages, format_name, str(DEEPEST)]
    nowhere = subprocess.DEVNULL
    with (
        suppress(BrokenPipeError),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere) as trial,  # noqa: S603
    ):
        assert trial.stdin is not None  # noqa: S101
        shutil.copyfileobj(stream, trial.stdin)
    if trial.returncode != 0:
        raise TooDeep
