"""Pickles of plain data, written opcode by opcode straight from arrays.

The project writes no pickles of its own; these are for readers of the published formats, which know nothing else. They
hold numbers, texts, tuples, sets, lists and dicts, protocol 4, and load with any Python since 3.4. No Python object is
made of the answers, so memory does not grow with them.
"""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from unseen.datasets.query_table import Ragged

BATCH = 1000
"""Entries between two marks, as Python itself does."""

BLOCK = 1 << 13
"""Rows of answers that are encoded at a time."""

_TUPLES = {0: pickle.EMPTY_TUPLE, 1: pickle.TUPLE1, 2: pickle.TUPLE2, 3: pickle.TUPLE3}
_SET_OF_SETS = b"ccollections\ndefaultdict\ncbuiltins\nset\n" + pickle.TUPLE1 + pickle.REDUCE


def pickle_file(body: Iterable[bytes]) -> Iterator[bytes]:
    """A whole pickle around an encoded value."""
    yield pickle.PROTO + b"\x04"
    yield from body
    yield pickle.STOP


def encoded(value: Any) -> bytes:
    """A number, a text, or nested tuples of them."""
    if isinstance(value, tuple):
        inner = b"".join(encoded(part) for part in value)
        if len(value) > 3:
            return pickle.MARK + inner + pickle.TUPLE
        return inner + _TUPLES[len(value)]
    if isinstance(value, str):
        text = value.encode()
        return pickle.BINUNICODE + len(text).to_bytes(4, "little") + text
    return _encoded_number(value)


def _encoded_number(value: int) -> bytes:
    if 0 <= value < 1 << 8:
        return pickle.BININT1 + bytes([value])
    if 0 <= value < 1 << 16:
        return pickle.BININT2 + value.to_bytes(2, "little")
    return pickle.BININT + value.to_bytes(4, "little", signed=True)


def dictionary(pairs: Iterable[tuple[bytes, Iterable[bytes]]], of_sets: bool) -> Iterator[bytes]:
    """A dict of encoded keys and values; `of_sets` makes it a `defaultdict(set)`."""
    yield _SET_OF_SETS if of_sets else pickle.EMPTY_DICT
    yield from _batches((b"".join([key, *value]) for key, value in pairs), pickle.SETITEMS)


def set_of(items: Iterable[bytes]) -> Iterator[bytes]:
    """A set of encoded items; a reader puts them into it in this order."""
    yield pickle.EMPTY_SET
    yield from _batches(items, pickle.ADDITEMS)


def list_of(items: Iterable[bytes]) -> Iterator[bytes]:
    """A list of encoded items."""
    yield pickle.EMPTY_LIST
    yield from _batches(items, pickle.APPENDS)


def _batches(items: Iterable[bytes], closing: bytes) -> Iterator[bytes]:
    batch: list[bytes] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield b"".join([pickle.MARK, *batch, closing])
            batch.clear()
    if batch:
        yield b"".join([pickle.MARK, *batch, closing])


def id_sets(rows: Ragged) -> Iterator[bytes]:
    """Each row of ids as a set."""
    for first in range(0, len(rows), BLOCK):
        offsets = rows.offsets[first : first + BLOCK + 1]
        content, ends = _encoded_ids(rows.values[offsets[0] : offsets[-1]])
        cuts = ends[offsets - offsets[0]].tolist()
        for start, end in pairwise(cuts):
            yield b"".join([pickle.EMPTY_SET, pickle.MARK, content[start:end], pickle.ADDITEMS])


def _encoded_ids(ids: NDArray[np.int32]) -> tuple[bytes, NDArray[np.int64]]:
    """Ids as opcodes, and where each of them starts; the last place is the end of all."""
    medium, large = ids >= 1 << 8, ids >= 1 << 16
    places = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(2 + medium + 2 * large, out=places[1:])
    content, starts = np.empty(places[-1], np.uint8), places[:-1]
    content[starts] = np.where(large, pickle.BININT[0], np.where(medium, pickle.BININT2[0], pickle.BININT1[0]))
    content[starts + 1] = ids & 0xFF
    content[starts[medium] + 2] = ids[medium] >> 8 & 0xFF
    content[starts[large] + 3] = ids[large] >> 16 & 0xFF
    content[starts[large] + 4] = ids[large] >> 24
    return content.tobytes(), places
