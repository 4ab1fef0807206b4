"""Bulk reading of what the pickle machine has built, compiled: words of a box, rows of ids."""

from __future__ import annotations

from typing import Any

from unseen.datasets.pickles import opcodes as op
from unseen.datasets.pickles.machine import BOX, FIRST, KIND, LAST, LENGTH, NEXT, NUMBER, SIZE, START, copy_words
from unseen.graph.compiling import compiled, inner


@compiled
def collect(memory: Any, box: int, target: Any) -> None:
    """Copy the words of a box, in order."""
    run, filled = memory[box + FIRST], 0
    while run:
        start, length = memory[run + START], memory[run + LENGTH]
        copy_words(memory, start, target, filled, length)
        filled += length
        run = 0 if run == memory[box + LAST] else memory[run + NEXT]


@compiled
def sizes(memory: Any, words: Any) -> Any:
    """The members of all boxes together, and of the largest; and the first that is no set, list or tuple, or -1."""
    total, largest = 0, 0
    for row in range(len(words)):
        box = words[row] >> 3
        if words[row] & 7 != BOX or memory[box + KIND] == op.DICT:
            return total, largest, row
        total += memory[box + SIZE]
        largest = max(largest, memory[box + SIZE])
    return total, largest, -1


@inner
def _write_ids(members: Any, limit: int, values: Any, filled: int) -> Any:
    """Append sorted words as ids without repeats; the new end, or -1 if one is no id below the limit."""
    for place in range(len(members)):
        number = members[place] >> 3
        if members[place] & 7 != NUMBER or number < 0 or number >= limit:
            return -1
        if place == 0 or members[place] != members[place - 1]:
            values[filled] = number
            filled += 1
    return filled


@compiled
def fill_id_rows(memory: Any, words: Any, limit: int, scratch: Any, offsets: Any, values: Any) -> Any:
    """Write the members of each box as a sorted row without repeats; the first row with anything but ids, or -1."""
    for row in range(len(words)):
        box = words[row] >> 3
        members = scratch[: memory[box + SIZE]]
        collect(memory, box, members)
        members.sort()
        end = _write_ids(members, limit, values, offsets[row])
        if end < 0:
            return row
        offsets[row + 1] = end
    return -1
