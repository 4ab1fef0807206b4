"""The machine that reads a pickle into one flat memory, compiled; it builds no Python object and can call nothing.

A value is one *word*: its lowest three bits say what it is, the rest is a number, or the address of a text, a box or a
type name. A box (tuple, list, set, dict) is a chain of runs of words. The memory is a fixed multiple of the file's
size, whatever the file says, because each opcode adds at most a few words and references are shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.datasets.pickles import opcodes as op
from unseen.datasets.pickles.arguments import argument
from unseen.graph.compiling import compiled, inner

# what a word is
NUMBER, TEXT, BOX, CONSTANT, NAME = range(5)
# records: a box has its kind, first run, last run, size and whether it may grow; a run the address of its words, their
# number and the next run; a text its place in the file, length and encoding
KIND, FIRST, LAST, SIZE, SEALED, BOX_WORDS = range(6)
START, LENGTH, NEXT, RUN_WORDS = range(4)
ENCODING, TEXT_WORDS = NEXT, RUN_WORDS
# registers, at the start of the memory: addresses of free places, then where something went wrong, with which texts
(TOP, FREE_ITEM, FREE_RUN, FREE_BOX, FREE_TEXT, MEMO_COUNT, STACK, MEMO, MEMO_END, NAMES, NAMES_END, PLACE) = range(12)
MODULE_START, MODULE_LENGTH, NAME_START, NAME_LENGTH, REGISTERS = range(12, 17)

LARGEST = 1 << 59
NO_WORD = -(1 << 62) - 1
MARK_WORD = op.MARK << 3 | CONSTANT
NONE_WORD = op.NONE << 3 | CONSTANT
BININT1, BININT2 = 75, 77


@inner
def copy_words(source: Any, start: int, target: Any, place: int, count: int) -> Any:
    """Copy so many words; a loop, because slices take a second each to compile."""
    for offset in range(count):
        target[place + offset] = source[start + offset]


@inner
def _push(memory: Any, word: int) -> Any:
    memory[memory[TOP]] = word
    memory[TOP] += 1
    return op.FINE


@inner
def _push_text(memory: Any, start: int, length: int, encoding: int) -> Any:
    text = memory[FREE_TEXT]
    memory[text + START], memory[text + LENGTH], memory[text + ENCODING] = start, length, encoding
    memory[FREE_TEXT] = text + TEXT_WORDS
    return _push(memory, text << 3 | TEXT)


@compiled
def _mark(memory: Any) -> Any:
    """The address of the last mark on the stack, 0 if there is none."""
    address = memory[TOP] - 1
    while address >= memory[STACK] and memory[address] != MARK_WORD:
        address -= 1
    return address if address >= memory[STACK] else 0


@compiled
def _has(memory: Any, count: int) -> Any:
    """Whether the last `count` words on the stack are values."""
    if memory[TOP] - memory[STACK] < count:
        return False
    for address in range(memory[TOP] - count, memory[TOP]):  # noqa: SIM110  # generators do not compile
        if memory[address] == MARK_WORD:
            return False
    return True


@inner
def _drop(memory: Any, to_mark: bool) -> Any:
    address = _mark(memory) if to_mark else memory[TOP] - 1
    if address < memory[STACK]:
        return op.BROKEN
    memory[TOP] = address
    return op.FINE


@compiled
def _remember(memory: Any, number: int) -> Any:
    """Keep the last word under a number, or under the next one if the number is negative."""
    if not _has(memory, 1):
        return op.BROKEN
    address = memory[MEMO] + (memory[MEMO_COUNT] if number < 0 else number)
    memory[MEMO_COUNT] += 1 if memory[address] == NO_WORD else 0
    memory[address] = memory[memory[TOP] - 1]
    return op.FINE


@inner
def _recall(memory: Any, number: int) -> Any:
    address = memory[MEMO] + number
    if number < 0 or address >= memory[MEMO_END] or memory[address] == NO_WORD:
        return op.BROKEN
    return _push(memory, memory[address])


@inner
def _new_box(memory: Any, kind: int) -> Any:
    """The address of a new empty box."""
    box = memory[FREE_BOX]
    memory[box + KIND], memory[box + FIRST], memory[box + LAST] = kind, 0, 0
    memory[box + SIZE], memory[box + SEALED] = 0, 0
    memory[FREE_BOX] = box + BOX_WORDS
    return box


@inner
def _move_into(memory: Any, box: int, first: int) -> Any:
    """Move the words from address `first` on from the stack into a box."""
    run, start, count = memory[FREE_RUN], memory[FREE_ITEM], memory[TOP] - first
    if memory[box + SEALED] or (memory[box + KIND] == op.DICT and count % 2):
        return op.BROKEN
    copy_words(memory, first, memory, start, count)
    memory[run + START], memory[run + LENGTH], memory[run + NEXT] = start, count, 0
    previous = memory[box + LAST]
    memory[previous + NEXT if previous else box + FIRST] = run
    memory[box + LAST] = run
    memory[box + SIZE] += count
    memory[FREE_ITEM], memory[FREE_RUN], memory[TOP] = start + count, run + RUN_WORDS, first
    return op.FINE


@inner
def _make_box(memory: Any, kind: int, first: int, end: int) -> Any:
    """Replace the words from address `first` on by a box of them, put at address `end`."""
    box = _new_box(memory, kind)
    state = _move_into(memory, box, first)
    memory[TOP] = end
    _push(memory, box << 3 | BOX)
    return state


@inner
def _fill_box(memory: Any, kind: int, first: int, below: int) -> Any:
    """Move the words from address `first` on into the box at address `below`, which must be of that kind."""
    word = memory[below] if below >= memory[STACK] else MARK_WORD
    if word & 7 != BOX or memory[(word >> 3) + KIND] != kind:
        return op.BROKEN
    state = _move_into(memory, word >> 3, first)
    memory[TOP] = below + 1
    return state


@inner
def _same(content: Any, memory: Any, start: int, length: int, address: int) -> Any:
    """Whether so many bytes of the file stand at an address of the memory too."""
    for offset in range(length):  # noqa: SIM110  # generators do not compile
        if content[start + offset] != memory[address + offset]:
            return False
    return True


@inner
def _push_name(content: Any, memory: Any, first: int, length: int, second: int, second_length: int) -> Any:
    """Push an allowed type name; any other is refused, and noted for the message."""
    for name in range(memory[NAMES], memory[NAMES_END], op.NAME_WORDS):
        fits = memory[name] == length and memory[name + 1] == second_length
        fits = fits and _same(content, memory, first, length, name + 3)
        if fits and _same(content, memory, second, second_length, name + 3 + length):
            return _push(memory, name << 3 | NAME)
    memory[MODULE_START], memory[MODULE_LENGTH] = first, length
    memory[NAME_START], memory[NAME_LENGTH] = second, second_length
    return op.FORBIDDEN_NAME


@inner
def _name_from_stack(content: Any, memory: Any) -> Any:
    top = memory[TOP] - 2
    if not _has(memory, 2) or memory[top] & 7 != TEXT or memory[top + 1] & 7 != TEXT:
        return op.BROKEN
    memory[TOP] = top
    module, name = memory[top] >> 3, memory[top + 1] >> 3
    spans = memory[module + START], memory[module + LENGTH], memory[name + START], memory[name + LENGTH]
    return _push_name(content, memory, spans[0], spans[1], spans[2], spans[3])


@compiled
def _call(memory: Any) -> Any:
    """Make the box that a type name and its arguments stand for: `set([...])`, `dict()`, `defaultdict(set)`."""
    top = memory[TOP] - 2
    if not _has(memory, 2) or memory[top] & 7 != NAME or memory[top + 1] & 7 != BOX:
        return op.FORBIDDEN_CALL
    kind, arguments = memory[(memory[top] >> 3) + 2], memory[top + 1] >> 3
    count = memory[arguments + SIZE]
    if memory[arguments + KIND] != op.TUPLE or kind < 0 or count > 1:
        return op.FORBIDDEN_CALL
    only = memory[memory[memory[arguments + FIRST] + START]] if count else NONE_WORD
    memory[TOP] = top
    if count == 0 or (kind == op.DEFAULTDICT and (only & 7 == NAME or only == NONE_WORD)):
        return _push(memory, _new_box(memory, op.DICT if kind == op.DEFAULTDICT else kind) << 3 | BOX)
    return _convert(memory, kind, only)


@inner
def _convert(memory: Any, kind: int, word: int) -> Any:
    """Push a box of another kind with the same content; from then on neither of the two can be added to."""
    box = word >> 3
    if word & 7 != BOX or kind == op.DEFAULTDICT or (kind == op.DICT) != (memory[box + KIND] == op.DICT):
        return op.FORBIDDEN_CALL
    copy = _new_box(memory, kind)
    copy_words(memory, box + FIRST, memory, copy + FIRST, SEALED - FIRST)
    memory[copy + SEALED], memory[box + SEALED] = 1, 1
    return _push(memory, copy << 3 | BOX)


@inner
def _act_on_boxes(memory: Any, action: int, detail: int) -> Any:
    top = memory[TOP]
    if action == op.PUSH_EMPTY:
        return _push(memory, _new_box(memory, detail) << 3 | BOX)
    if action == op.TUPLE_OF:
        return _make_box(memory, op.TUPLE, top - detail, top - detail) if _has(memory, detail) else op.BROKEN
    if action == op.ADD_LAST:
        count = 2 if detail == op.DICT else 1
        return _fill_box(memory, detail, top - count, top - count - 1) if _has(memory, count + 1) else op.BROKEN
    mark = _mark(memory)
    if mark == 0:
        return op.BROKEN
    if action == op.BOX_FROM_MARK:
        return _make_box(memory, detail, mark + 1, mark)
    return _fill_box(memory, detail, mark + 1, mark - 1)


@inner
def _act_on_stack(memory: Any, action: int, detail: int, value: int) -> Any:
    if action in (op.PUT, op.MEMOIZE):
        return _remember(memory, value if action == op.PUT else -1)
    if action == op.GET:
        return _recall(memory, value)
    if action in (op.PUSH_CONSTANT, op.MARK_HERE):
        return _push(memory, MARK_WORD if action == op.MARK_HERE else detail << 3 | CONSTANT)
    if action == op.DUPLICATE:
        return _push(memory, memory[memory[TOP] - 1]) if _has(memory, 1) else op.BROKEN
    if action == op.STOP:
        return op.FINISHED if memory[TOP] - memory[STACK] == 1 and _has(memory, 1) else op.BROKEN
    return op.FINE if action == op.SKIP else _drop(memory, action == op.DROP_TO_MARK)


@inner
def _act(content: Any, memory: Any, action: int, detail: int, value: int, start: int) -> Any:
    """Do what an opcode says."""
    if action == op.PUSH_INT:
        return _push(memory, value << 3 | NUMBER) if -LARGEST < value < LARGEST else op.TOO_BIG
    if action <= op.LAST_ON_STACK:
        return _act_on_stack(memory, action, detail, value)
    if action <= op.LAST_ON_BOXES:
        return _act_on_boxes(memory, action, detail)
    if action == op.PUSH_TEXT:
        return _push_text(memory, start, value, detail)
    if action == op.NAME_FROM_LINES:
        return _push_name(content, memory, start, value >> 16, start + (value >> 16) + 1, value & 0xFFFF)
    return _name_from_stack(content, memory) if action == op.NAME_FROM_STACK else _call(memory)


@inner
def _push_small_numbers(content: Any, memory: Any, position: int) -> Any:
    """Push the numbers of one and two bytes that follow each other from a position on: nearly all of a file."""
    top = memory[TOP]
    while content[position] in (BININT1, BININT2):
        value = np.int64(content[position + 1])
        if content[position] == BININT2:
            value |= np.int64(content[position + 2]) << 8
            position += 1
        memory[top] = value << 3
        top, position = top + 1, position + 2
    memory[TOP] = top
    return position


@compiled
def run(content: Any, opcodes: Any, memory: Any) -> Any:
    """Read the file, which `survey` has found good; the only word left on the stack is its value."""
    position, state = 0, op.FINE
    while state == op.FINE:
        position = _push_small_numbers(content, memory, position)
        row = opcodes[content[position]]
        memory[PLACE] = position
        value, start, position = argument(content, position + 1, row[0])
        state = _act(content, memory, row[1], row[2], value, start)
    return state
