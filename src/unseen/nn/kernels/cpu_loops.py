"""The compiled inner loops of the CPU kernels, over the columns of single rows.

Nothing is compiled before the first call; machine code is kept on disk. For the compiler to emit vector instructions:

- What belongs to one node lies in one array (`state`, `local`), at constant distances: the compiler cannot know that
  arrays do not overlap, and gives up when it would have to check many. Columns are taken `WIDTH` at a time, so that
  this array stays in the first-level cache.
- Rows are named by table and number, and numbers are unsigned: a signed index might count from the end, and a view of a
  row would be counted by its owner, atomically.
- Twice a value is a sum, a choice has both values at hand: a literal would make a float32 a float64.

Edges are folded in by fours or twos to read and write the state less often. The edge that attains an extreme is held as
a number of the tensors' own type, counted from the first edge of the chunk or node: exact up to 2^24 in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, no_type_check

import numba
import numpy as np

from unseen.graph.compiling import compiled, inner

DISTMULT, TRANSE, ROTATE = 0, 1, 2
WIDTH = 512
"""Columns that are treated at a time."""
U = np.uint64
SQUARES, LARGEST, LEAST, LARGEST_AT, LEAST_AT, GRADIENT = (U(WIDTH * place) for place in range(1, 7))
"""Where the parts of a node's array begin; its first part is the sum, or the sum's gradient."""
STATE, LOCAL = 6 * WIDTH, 7 * WIDTH


def reordered(function: Callable[..., Any]) -> Any:
    """Such a part with sums whose order does not matter, so that they are made in several lanes."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "fastmath": {"reassoc", "contract", "nsz"}}
    return numba.njit(nogil=True, **options)(function)


@inner
@no_type_check
def start_with(boundary, row, low, state, width):
    """State of the boundary alone."""
    for c in range(width):
        value = boundary[row, low + c]
        state[c] = value
        state[c + SQUARES] = value * value
        state[c + LARGEST] = value
        state[c + LEAST] = value
        state[c + LARGEST_AT] = -1
        state[c + LEAST_AT] = -1


@inner
@no_type_check
def start_empty(state, width):
    """The state before any message: the next message, with any value, becomes both extremes."""
    for c in range(width):
        state[c] = 0
        state[c + SQUARES] = 0
        state[c + LARGEST] = -np.inf
        state[c + LEAST] = np.inf
        state[c + LARGEST_AT] = 0
        state[c + LEAST_AT] = 0


@inner
@no_type_check
def fold_one(a, b, rows, low, number, state, width):
    """Fold in the message a * b of one edge, and keep the edge's number where it attains an extreme."""
    i, j = rows
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        largest_at, least_at = state[c + LARGEST_AT], state[c + LEAST_AT]
        m = a[i, low + c] * b[j, low + c]
        state[c] = total + m
        state[c + SQUARES] = squares + m * m
        state[c + LARGEST] = m if m > largest else largest
        state[c + LARGEST_AT] = number if m > largest else largest_at
        state[c + LEAST] = m if m < least else least
        state[c + LEAST_AT] = number if m < least else least_at


@inner
@no_type_check
def fold_two(a, b, rows, low, numbers, state, width):
    """Fold in the messages of two edges, in order, and keep their numbers where they attain an extreme."""
    i0, j0, i1, j1 = rows
    first, second = numbers
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        largest_at, least_at = state[c + LARGEST_AT], state[c + LEAST_AT]
        m = a[i0, low + c] * b[j0, low + c]
        total, squares = total + m, squares + m * m
        largest_at, least_at = first if m > largest else largest_at, first if m < least else least_at
        largest, least = m if m > largest else largest, m if m < least else least
        m = a[i1, low + c] * b[j1, low + c]
        total, squares = total + m, squares + m * m
        largest_at, least_at = second if m > largest else largest_at, second if m < least else least_at
        largest, least = m if m > largest else largest, m if m < least else least
        state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST] = total, squares, largest, least
        state[c + LARGEST_AT], state[c + LEAST_AT] = largest_at, least_at


@inner
@no_type_check
def fold_four(a, b, rows, low, state, width):
    """Fold in the messages of four edges; which of them attain an extreme is not kept."""
    i0, j0, i1, j1, i2, j2, i3, j3 = rows
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        m = a[i0, low + c] * b[j0, low + c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a[i1, low + c] * b[j1, low + c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a[i2, low + c] * b[j2, low + c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a[i3, low + c] * b[j3, low + c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST] = total, squares, largest, least


@inner
@no_type_check
def write_message(message, dim, a, b, rows, low, result, place, width):
    """The message of rows of a and b, for messages that are no plain product."""
    i, j = rows
    if message == TRANSE:
        for c in range(width):
            result[place, c] = a[i, low + c] + b[j, low + c]
    else:
        half = dim // U(2)
        for start in range(U(0), width, dim):
            for c in range(start, start + half):
                p, q = low + c, low + c + half
                result[place, c] = a[i, p] * b[j, p] - a[i, q] * b[j, q]
                result[place, c + half] = a[i, p] * b[j, q] + a[i, q] * b[j, p]


@inner
@no_type_check
def boundary_gradient(boundary, row, low, local, result, width):
    """Gradient of the boundary, from what `local` holds of its node."""
    for c in range(width):
        value = boundary[row, low + c]
        g = local[c] + (value + value) * local[c + SQUARES]
        with_largest = g + local[c + LARGEST]
        g = with_largest if local[c + LARGEST_AT] == -1 else g
        with_least = g + local[c + LEAST]
        result[row, low + c] = with_least if local[c + LEAST_AT] == -1 else g


@compiled
@no_type_check
def message_gradient(message, dim, x, w, rows, low, number, local, width):
    """Gradient of the message of a node's edge `number`, from what `local` holds of the node, into `local`."""
    i, j = rows
    if message == ROTATE:
        half = dim // U(2)
        for start in range(U(0), width, dim):
            for c in range(start, start + half):
                p, q, d = low + c, low + c + half, c + half
                m = x[i, p] * w[j, p] - x[i, q] * w[j, q]
                n = x[i, p] * w[j, q] + x[i, q] * w[j, p]
                local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
                local[d + GRADIENT] = local[d] + (n + n) * local[d + SQUARES]
    elif message == TRANSE:
        for c in range(width):
            m = x[i, low + c] + w[j, low + c]
            local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
    else:
        for c in range(width):
            m = x[i, low + c] * w[j, low + c]
            local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
    for c in range(width):
        g = local[c + GRADIENT]
        with_largest = g + local[c + LARGEST]
        g = with_largest if local[c + LARGEST_AT] == number else g
        with_least = g + local[c + LEAST]
        local[c + GRADIENT] = with_least if local[c + LEAST_AT] == number else g


@inner
@no_type_check
def add_gradient(message, dim, other, j, low, local, result, i, width):
    """Add to the gradient of row i what the message's gradient gives it; row j of `other` made the message with it.

    All three messages are symmetric in the source's and the relation's row, so that this serves both.
    """
    if message == DISTMULT:
        for c in range(width):
            result[i, low + c] += local[c + GRADIENT] * other[j, low + c]
    elif message == TRANSE:
        for c in range(width):
            result[i, low + c] += local[c + GRADIENT]
    else:
        half = dim // U(2)
        for start in range(U(0), width, dim):
            for c in range(start, start + half):
                p, q = low + c, low + c + half
                g, h = local[c + GRADIENT], local[c + half + GRADIENT]
                result[i, p] += g * other[j, p] + h * other[j, q]
                result[i, q] += h * other[j, p] - g * other[j, q]
