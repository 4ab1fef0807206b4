"""Pickles from outside, read as plain data: numbers, texts, tuples, lists, sets and dicts, nothing else.

Python's own reader runs code that a file asks for, and some files make it claim gigabytes before it fails. Here every
opcode is checked first, then the file is read into flat arrays in which nothing can be called. 120 million answers take
about 1 GB so, and 11 GB as Python objects.
"""

from __future__ import annotations

import ast
import pickletools
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unseen.datasets.pickles import opcodes as op
from unseen.datasets.query_table import Ragged
from unseen.errors import DatasetError, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

Pattern: TypeAlias = "str | tuple[Any, ...]"

LARGEST_MEMORY = 8 << 30
"""Bytes that one file may ask for; all published ones need far less."""

DEEPEST = 100
MARKERS = {"u": -1, "n": -2}


class Pickled:
    """The content of one pickle; a *word* stands for a value in it, `root` for all of it."""

    def __init__(self, content: bytes, path: Path) -> None:
        self.path = path
        self._content = np.frombuffer(content, np.uint8)
        self._memory = _read(self._content, path)
        self.root = int(self._memory[self._memory[_STACK]])

    def members(self, word: int) -> Words:
        """The words in a list, set or tuple, in the order of the file."""
        return self._words(word, dictionary=False)

    def items(self, word: int) -> tuple[Words, Words]:
        """The words of the keys and of the values of a dict, in the order of the file."""
        both = self._words(word, dictionary=True)
        return both[0::2], both[1::2]

    def is_dict(self, word: int) -> bool:
        """Whether a word stands for a dict."""
        return self.kind(word) == op.DICT

    def is_set(self, word: int) -> bool:
        """Whether a word stands for a set, whose order is not that of the file."""
        return self.kind(word) in (op.SET, op.FROZENSET)

    def kind(self, word: int) -> int | None:
        """The kind of box a word stands for, if any."""
        return int(self._memory[word >> 3]) if word & 7 == _BOX else None

    def plain(self, word: int | None = None, most: int | None = None) -> Any:
        """A value as a Python object; one of more than `most` parts is refused."""
        limit = 1000 + 20 * len(self._content) if most is None else most
        return _Plain(self, limit).value(self.root if word is None else word, 0)

    def id_rows(self, words: Words, limit: int) -> Ragged:
        """Sets of ids below `limit` as sorted rows."""
        from unseen.datasets.pickles.views import fill_id_rows, sizes

        total, largest, wrong = sizes(self._memory, words)
        offsets, values = np.zeros(len(words) + 1, np.int64), np.empty(total, np.int32)
        if wrong < 0:
            wrong = fill_id_rows(self._memory, words, limit, np.empty(largest, np.int64), offsets, values)
        if wrong >= 0:
            raise NotIds(int(wrong))
        return Ragged(offsets, values[: offsets[-1]])

    def matching(self, words: Words, pattern: Pattern) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of the words are nested tuples like the pattern; and the numbers at its letters e and r, row by row.

        The letters n and u stand for the marks -2 and -1, the star for anything.
        """
        positions, columns, patterns = np.arange(len(words)), [words], [pattern]
        while any(isinstance(part, tuple) for part in patterns):
            place = next(index for index, part in enumerate(patterns) if isinstance(part, tuple))
            inner = patterns[place]
            kept = self._tuples_of(columns[place], len(inner))
            positions, columns = positions[kept], [column[kept] for column in columns]
            columns[place : place + 1] = self._parts(columns[place], len(inner))
            patterns[place : place + 1] = inner
        good = np.logical_and.reduce([_fits(column, str(part)) for column, part in zip(columns, patterns, strict=True)])
        ids = [column >> 3 for part, column in zip(patterns, columns, strict=True) if part in ("e", "r")]
        return positions[good], np.stack(ids, axis=1)[good]

    def text(self, word: int) -> str:
        """The text of a word that stands for one."""
        start, length, encoding = self._memory[word >> 3 : (word >> 3) + 3].tolist()
        try:
            return _decoded(self._content[start : start + length].tobytes(), encoding)
        except (ValueError, SyntaxError):
            raise DatasetError(f"has a text that cannot be read at byte {start}", path=self.path) from None

    def shown(self, word: int) -> str:
        """A value for a message."""
        try:
            return shorten(repr(self.plain(word, 200)))
        except DatasetError:
            return "something large"

    def _words(self, word: int, dictionary: bool) -> Words:
        from unseen.datasets.pickles.views import collect

        kind = self.kind(word)
        if kind is None or (kind == op.DICT) != dictionary:
            wanted = "a dict" if dictionary else "a list, set or tuple"
            raise DatasetError(f"has {self.shown(word)} where {wanted} should be", path=self.path)
        words = np.empty(self._memory[(word >> 3) + _SIZE], np.int64)
        collect(self._memory, word >> 3, words)
        return words

    def _tuples_of(self, words: Words, size: int) -> NDArray[np.bool_]:
        """Which words are tuples of so many parts, all in one run."""
        is_box = words & 7 == _BOX
        boxes = self._memory[np.where(is_box, words >> 3, 0)[:, None] + np.arange(_SIZE + 1)]
        one_run = boxes[:, _FIRST] == boxes[:, _LAST]
        fits: NDArray[np.bool_] = is_box & one_run & (boxes[:, _KIND] == op.TUPLE) & (boxes[:, _SIZE] == size)
        return fits

    def _parts(self, words: Words, size: int) -> list[Words]:
        """The first, second, ... parts of tuples of `size` parts."""
        starts = self._memory[self._memory[(words >> 3) + _FIRST]]
        return [self._memory[starts + part] for part in range(size)]


class NotIds(Exception):
    """A row that should hold ids holds something else, or an id out of range."""

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(row)


_BOX, _KIND, _FIRST, _LAST, _SIZE, _STACK = 2, 0, 1, 2, 3, 6
_CONSTANTS = {op.NONE: None, op.FALSE: False, op.TRUE: True}
_CONTAINERS: dict[int, Any] = {op.TUPLE: tuple, op.LIST: list, op.SET: set, op.FROZENSET: frozenset}


class _Plain:
    """Builds Python objects, and counts their parts: a small file can stand for a huge value."""

    def __init__(self, pickled: Pickled, most: int) -> None:
        self.pickled, self.left = pickled, most

    def value(self, word: int, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise DatasetError("has a value that is nested too deep or too large", path=self.pickled.path)
        tag, rest = word & 7, word >> 3
        if tag == 0:
            return rest
        if tag == 1:
            return self.pickled.text(word)
        if tag == 3:
            return _CONSTANTS.get(rest)
        if tag != _BOX:
            raise DatasetError("has a type where a value should be", path=self.pickled.path)
        return self._box(word, depth + 1)

    def _box(self, word: int, depth: int) -> Any:
        try:
            if self.pickled.kind(word) == op.DICT:
                keys, values = self.pickled.items(word)
                pairs = zip(keys.tolist(), values.tolist(), strict=True)
                return {self.value(key, depth): self.value(value, depth) for key, value in pairs}
            parts = [self.value(part, depth) for part in self.pickled.members(word).tolist()]
            return _CONTAINERS[self.pickled.kind(word) or op.TUPLE](parts)
        except TypeError:
            raise DatasetError("has a list, set or dict as a key", path=self.pickled.path) from None


def _read(content: NDArray[np.uint8], path: Path) -> Words:
    """Check all opcodes, then read them into a memory made to measure."""
    from unseen.datasets.pickles.arguments import survey
    from unseen.datasets.pickles.machine import MODULE_START, PLACE, REGISTERS, run

    counts, opcodes = np.zeros(op.ACTIONS + 2, np.int64), op.opcode_table()
    state, place = survey(content, opcodes, counts)
    if state != op.FINISHED:
        raise DatasetError(_problem(state, content, place), path=path)
    memory = _memory(counts, len(content), path)
    state = run(content, opcodes, memory)
    if state != op.FINISHED:
        spans = memory[MODULE_START:REGISTERS].reshape(2, 2).tolist()
        names = [content[start : start + length].tobytes() for start, length in spans]
        raise DatasetError(_problem(state, content, int(memory[PLACE]), names), path=path)
    return memory


def _memory(counts: NDArray[np.int64], file_size: int, path: Path) -> Words:
    """A memory with room for all that the counted opcodes can make, and no more."""
    from unseen.datasets.pickles import machine as m

    names, total, largest = op.name_table().ravel(), int(counts[-1]), int(counts[-2])
    sizes = {
        m.NAMES: len(names),
        m.MEMO: largest + int(counts[[op.PUT, op.MEMOIZE]].sum()) + 1,
        m.FREE_TEXT: m.TEXT_WORDS * int(counts[op.PUSH_TEXT]),
        m.FREE_RUN: m.RUN_WORDS * int(counts[op.TUPLE_OF : op.ADD_FROM_MARK + 1].sum()),
        m.FREE_BOX: m.BOX_WORDS * int(counts[[op.PUSH_EMPTY, op.TUPLE_OF, op.BOX_FROM_MARK, op.CALL]].sum()),
        m.FREE_ITEM: total + 1,
        m.STACK: total + 1,
    }
    size = m.REGISTERS + sum(sizes.values())
    if largest > file_size or 8 * size > LARGEST_MEMORY:
        raise DatasetError("is refused: it asks for more memory than plain data of its size need", path=path)
    memory = np.empty(size, np.int64)
    memory[: m.REGISTERS] = 0
    starts = np.cumsum([m.REGISTERS, *sizes.values()])
    memory[list(sizes)] = starts[:-1]
    memory[m.TOP], memory[m.NAMES_END], memory[m.MEMO_END] = memory[m.STACK], starts[1], starts[2]
    memory[starts[0] : starts[1]], memory[starts[1] : starts[2]] = names, m.NO_WORD
    return memory


def _problem(state: int, content: NDArray[np.uint8], place: int, names: list[bytes] | None = None) -> str:
    """What is wrong with a pickle, in words."""
    if state == op.TRUNCATED:
        return "is truncated, or not a pickle"
    if state == op.FORBIDDEN_OPCODE:
        known = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
        code = int(content[place])
        what = known.get(code)
        return f"is refused: it does more than hold data ({what} at byte {place})" if what else "is not a pickle"
    if state == op.FORBIDDEN_NAME and names is not None:
        name = shorten(b".".join(names).decode("utf-8", "replace"))
        return f"is refused: it asks for {name!r}, which is not plain data; nothing of it was run"
    if state == op.FORBIDDEN_CALL:
        return f"is refused: it calls something that makes no plain data (byte {place}); nothing of it was run"
    return (
        f"is refused: a number of more than 59 bits at byte {place}"
        if state == op.TOO_BIG
        else f"is damaged at byte {place}"
    )


def _fits(words: Words, letter: str) -> NDArray[np.bool_]:
    """Whether each word is what a letter of a pattern stands for."""
    if letter == "*":
        return np.ones(len(words), bool)
    marker = MARKERS.get(letter)
    fits: NDArray[np.bool_] = (words & 7 == 0) & (words >= 0) if marker is None else words == marker << 3
    return fits


def _decoded(raw: bytes, encoding: int) -> str:
    if encoding == op.UTF8:
        return raw.decode("utf-8")
    if encoding == op.RAW_UNICODE:
        return raw.decode("raw-unicode-escape")
    value = ast.literal_eval(raw.decode("ascii"))
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value
