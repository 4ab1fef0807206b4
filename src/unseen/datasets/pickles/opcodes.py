"""The pickle opcodes that plain data needs, and what each does to the machine; all others are refused.

Nothing here can call, import or look up anything: the few type names that the published files mention (`set`,
`defaultdict`, ...) are numbers that say which kind of box to make.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# how an argument is written after its opcode
NOTHING, UINT1, UINT2, INT4, UINT4, UINT8, LONG1, LONG4, TEXT1, TEXT4, TEXT8, LINE, NUMBER_LINE, TWO_LINES = range(14)
REFUSED = -1

# what an opcode does; grouped: numbers, other moves on the stack, boxes, the rest
PUSH_INT, PUSH_CONSTANT, DUPLICATE, GET, PUT, MEMOIZE, MARK_HERE, DROP, DROP_TO_MARK, SKIP, STOP = range(11)
PUSH_EMPTY, TUPLE_OF, BOX_FROM_MARK, ADD_LAST, ADD_FROM_MARK = range(11, 16)
PUSH_TEXT, NAME_FROM_LINES, NAME_FROM_STACK, CALL, ACTIONS = range(16, 21)
LAST_ON_STACK, LAST_ON_BOXES = STOP, ADD_FROM_MARK

# kinds of boxes; a defaultdict is a dict here
TUPLE, LIST, SET, FROZENSET, DICT = range(5)
NONE, FALSE, TRUE, MARK = range(4)
UTF8, RAW_UNICODE, QUOTED = range(3)

# what went wrong; FINISHED is the good end
FINE, FINISHED, TRUNCATED, FORBIDDEN_OPCODE, FORBIDDEN_NAME, FORBIDDEN_CALL, BROKEN, TOO_BIG = range(8)

DEFAULTDICT = 100
NAME_WORDS = 32

ALLOWED = {
    **{
        (module, name): kind
        for module in ("builtins", "__builtin__")
        for name, kind in {"tuple": TUPLE, "list": LIST, "set": SET, "frozenset": FROZENSET, "dict": DICT}.items()
    },
    **{(module, name): -1 for module in ("builtins", "__builtin__") for name in ("int", "str", "bool")},
    ("collections", "OrderedDict"): DICT,
    ("collections", "defaultdict"): DEFAULTDICT,
}
"""Type names that may stand in a file, and the box they make; -1 makes none."""


_OPCODES: dict[bytes, tuple[int, int, int]] = {
    pickle.PROTO: (UINT1, SKIP, 0),
    pickle.FRAME: (UINT8, SKIP, 0),
    pickle.STOP: (NOTHING, STOP, 0),
    pickle.BININT1: (UINT1, PUSH_INT, 0),
    pickle.BININT2: (UINT2, PUSH_INT, 0),
    pickle.BININT: (INT4, PUSH_INT, 0),
    pickle.LONG1: (LONG1, PUSH_INT, 0),
    pickle.LONG4: (LONG4, PUSH_INT, 0),
    pickle.INT: (NUMBER_LINE, PUSH_INT, 0),
    pickle.LONG: (NUMBER_LINE, PUSH_INT, 0),
    pickle.SHORT_BINUNICODE: (TEXT1, PUSH_TEXT, UTF8),
    pickle.BINUNICODE: (TEXT4, PUSH_TEXT, UTF8),
    pickle.BINUNICODE8: (TEXT8, PUSH_TEXT, UTF8),
    pickle.SHORT_BINSTRING: (TEXT1, PUSH_TEXT, UTF8),
    pickle.BINSTRING: (TEXT4, PUSH_TEXT, UTF8),
    pickle.UNICODE: (LINE, PUSH_TEXT, RAW_UNICODE),
    pickle.STRING: (LINE, PUSH_TEXT, QUOTED),
    pickle.NONE: (NOTHING, PUSH_CONSTANT, NONE),
    pickle.NEWFALSE: (NOTHING, PUSH_CONSTANT, FALSE),
    pickle.NEWTRUE: (NOTHING, PUSH_CONSTANT, TRUE),
    pickle.EMPTY_TUPLE: (NOTHING, PUSH_EMPTY, TUPLE),
    pickle.EMPTY_LIST: (NOTHING, PUSH_EMPTY, LIST),
    pickle.EMPTY_SET: (NOTHING, PUSH_EMPTY, SET),
    pickle.EMPTY_DICT: (NOTHING, PUSH_EMPTY, DICT),
    pickle.DUP: (NOTHING, DUPLICATE, 0),
    pickle.POP: (NOTHING, DROP, 0),
    pickle.POP_MARK: (NOTHING, DROP_TO_MARK, 0),
    pickle.MARK: (NOTHING, MARK_HERE, 0),
    pickle.BINGET: (UINT1, GET, 0),
    pickle.LONG_BINGET: (UINT4, GET, 0),
    pickle.GET: (NUMBER_LINE, GET, 0),
    pickle.BINPUT: (UINT1, PUT, 0),
    pickle.LONG_BINPUT: (UINT4, PUT, 0),
    pickle.PUT: (NUMBER_LINE, PUT, 0),
    pickle.MEMOIZE: (NOTHING, MEMOIZE, 0),
    pickle.TUPLE1: (NOTHING, TUPLE_OF, 1),
    pickle.TUPLE2: (NOTHING, TUPLE_OF, 2),
    pickle.TUPLE3: (NOTHING, TUPLE_OF, 3),
    pickle.TUPLE: (NOTHING, BOX_FROM_MARK, TUPLE),
    pickle.LIST: (NOTHING, BOX_FROM_MARK, LIST),
    pickle.DICT: (NOTHING, BOX_FROM_MARK, DICT),
    pickle.FROZENSET: (NOTHING, BOX_FROM_MARK, FROZENSET),
    pickle.APPEND: (NOTHING, ADD_LAST, LIST),
    pickle.SETITEM: (NOTHING, ADD_LAST, DICT),
    pickle.APPENDS: (NOTHING, ADD_FROM_MARK, LIST),
    pickle.SETITEMS: (NOTHING, ADD_FROM_MARK, DICT),
    pickle.ADDITEMS: (NOTHING, ADD_FROM_MARK, SET),
    pickle.GLOBAL: (TWO_LINES, NAME_FROM_LINES, 0),
    pickle.STACK_GLOBAL: (NOTHING, NAME_FROM_STACK, 0),
    pickle.REDUCE: (NOTHING, CALL, 0),
}


def opcode_table() -> NDArray[np.int64]:
    """For each of the 256 bytes: how its argument is written (or `REFUSED`), what it does, and a detail of that."""
    table = np.full((256, 3), REFUSED, np.int64)
    for opcode, row in _OPCODES.items():
        table[opcode[0]] = row
    return table


def name_table() -> NDArray[np.int64]:
    """The allowed type names, `NAME_WORDS` numbers each: length of module and name, box kind, then their bytes."""
    table = np.zeros((len(ALLOWED), NAME_WORDS), np.int64)
    for row, ((module, name), kind) in zip(table, ALLOWED.items(), strict=True):
        row[:3] = len(module), len(name), kind
        text = (module + name).encode()
        row[3 : 3 + len(text)] = np.frombuffer(text, np.uint8)
    return table
