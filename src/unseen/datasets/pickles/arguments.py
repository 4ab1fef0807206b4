"""The first walk over a pickle, compiled: what each opcode carries, and whether all of them are allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.datasets.pickles import opcodes as op
from unseen.graph.compiling import compiled, inner

CUT_OFF, TOO_LONG = -1, -2
LINE_FEED, MINUS, CAPITAL_L, ZERO = 10, 45, 76, 48
LONGEST_NUMBER_LINE = 18


@inner
def _little_endian(content: Any, start: int, width: int, signed: bool) -> Any:
    """The number in so many bytes."""
    value = np.int64(0)
    for offset in range(width):
        value |= np.int64(content[start + offset]) << np.int64(8 * offset)
    if signed and 0 < width < 8 and value >> np.int64(8 * width - 1):
        value -= np.int64(1) << np.int64(8 * width)
    return value


@compiled
def _fixed(content: Any, start: int, kind: int) -> Any:
    width = 1 if kind == op.UINT1 else (2 if kind == op.UINT2 else (8 if kind == op.UINT8 else 4))
    if start + width > len(content):
        return 0, start, CUT_OFF
    return _little_endian(content, start, width, kind == op.INT4), start, start + width


@inner
def _line_end(content: Any, start: int) -> Any:
    for position in range(start, len(content)):
        if content[position] == LINE_FEED:
            return position
    return -1


@compiled
def _number(content: Any, start: int, end: int) -> Any:
    """Decimal digits, perhaps with a sign before and an L behind; and whether they are that."""
    negative = start < end and content[start] == MINUS
    first = start + (1 if negative else 0)
    last = end - (1 if end > first and content[end - 1] == CAPITAL_L else 0)
    value = np.int64(0)
    if last == first or last - first > LONGEST_NUMBER_LINE:
        return value, False
    for position in range(first, last):
        digit = np.int64(content[position]) - ZERO
        if digit < 0 or digit > 9:
            return value, False
        value = value * 10 + digit
    return (-value if negative else value), True


@compiled
def _lines(content: Any, start: int, kind: int) -> Any:
    """A line of text (its length), a line with a number (the number), or two lines (both lengths in one number)."""
    end = _line_end(content, start)
    if end < 0:
        return 0, start, CUT_OFF
    if kind == op.LINE:
        return end - start, start, end + 1
    if kind == op.NUMBER_LINE:
        value, good = _number(content, start, end)
        return value, start, (end + 1 if good else TOO_LONG)
    second = _line_end(content, end + 1)
    if second < 0 or second - end >= 1 << 16:
        return 0, start, CUT_OFF
    return (end - start) << 16 | (second - end - 1), start, second + 1


@compiled
def _counted(content: Any, start: int, kind: int) -> Any:
    """A text or a number after its length."""
    prefix = 1 if kind in (op.LONG1, op.TEXT1) else (8 if kind == op.TEXT8 else 4)
    text = start + prefix
    length = _little_endian(content, start, prefix, False) if text <= len(content) else -1
    if length < 0 or length > len(content) - text:
        return 0, start, CUT_OFF
    if kind >= op.TEXT1:
        return length, text, text + length
    if length > 8:
        return 0, start, TOO_LONG
    return _little_endian(content, text, length, True), text, text + length


@compiled
def argument(content: Any, start: int, kind: int) -> Any:
    """The number an opcode carries (of a text: its length), where its text starts, and where the next opcode is."""
    if kind == op.NOTHING:
        return 0, start, start
    if kind <= op.UINT8:
        return _fixed(content, start, kind)
    return _lines(content, start, kind) if kind >= op.LINE else _counted(content, start, kind)


@compiled
def survey(content: Any, opcodes: Any, counts: Any) -> Any:
    """Walk over all opcodes without doing anything: count what they do, refuse what is not plain data.

    `counts` gets one number an action, then the largest memo number, then the number of opcodes. The answer is how
    the walk ended, and where.
    """
    position = 0
    while position < len(content):
        kind, action = opcodes[content[position], 0], opcodes[content[position], 1]
        if kind == op.REFUSED:
            return op.FORBIDDEN_OPCODE, position
        value, _, following = argument(content, position + 1, kind)
        if following < 0:
            return (op.TOO_BIG if following == TOO_LONG else op.TRUNCATED), position
        counts[action] += 1
        counts[-1] += 1
        if action == op.PUT:
            counts[-2] = max(counts[-2], value)
        if action == op.STOP:
            return op.FINISHED, position
        position = following
    return op.TRUNCATED, position
