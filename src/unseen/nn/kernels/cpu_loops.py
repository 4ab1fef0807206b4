"""The compiled inner loops of the CPU kernels, over the columns of single rows.

Nothing is compiled before the first call; machine code is kept on disk. Columns are taken `WIDTH` at a time, so that
what belongs to one node stays in the first-level cache. It lies in one array (`state`, `local`) at constant distances,
because the compiler cannot know that arrays do not overlap and gives up vector instructions when it would have to check
many. Edges are folded in by fours or twos to read and write the state less often.

The edge that attains an extreme is held as a number of the tensors' own type, counted from the first edge of the chunk
or node: exact up to 2^24 edges in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, no_type_check

import numba
import numpy as np

DISTMULT, TRANSE, ROTATE = 0, 1, 2
WIDTH = 512
"""Columns accumulated at a time; the literals below are its multiples."""
SQUARES, LARGEST, LEAST, LARGEST_AT, LEAST_AT, GRADIENT, LENGTH = 512, 1024, 1536, 2048, 2560, 3072, 3584


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code, kept on disk between runs where a folder for that can be written."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function": no folder can be written
        return numba.njit(nogil=True)(function)


@compiled
@no_type_check
def start_with(boundary, state, width):
    """State of the boundary alone."""
    for c in range(width):
        value = boundary[c]
        state[c] = value
        state[c + SQUARES] = value * value
        state[c + LARGEST] = value
        state[c + LEAST] = value
        state[c + LARGEST_AT] = -1
        state[c + LEAST_AT] = -1


@compiled
@no_type_check
def start_empty(state, width):
    """State of no message at all: the next one, whatever its value, takes both extremes."""
    for c in range(width):
        state[c] = 0
        state[c + SQUARES] = 0
        state[c + LARGEST] = -np.inf
        state[c + LEAST] = np.inf
        state[c + LARGEST_AT] = 0
        state[c + LEAST_AT] = 0


@compiled
@no_type_check
def fold_one_at(a, b, at, state, width):
    """Fold in the message a * b of the edge `at`, and keep it where it attains an extreme."""
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        largest_at, least_at = state[c + LARGEST_AT], state[c + LEAST_AT]
        m = a[c] * b[c]
        state[c] = total + m
        state[c + SQUARES] = squares + m * m
        state[c + LARGEST] = m if m > largest else largest
        state[c + LARGEST_AT] = at if m > largest else largest_at
        state[c + LEAST] = m if m < least else least
        state[c + LEAST_AT] = at if m < least else least_at


@compiled
@no_type_check
def fold_four(a0, b0, a1, b1, a2, b2, a3, b3, state, width):
    """Fold in four messages, in order."""
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        m = a0[c] * b0[c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a1[c] * b1[c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a2[c] * b2[c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        m = a3[c] * b3[c]
        total, squares = total + m, squares + m * m
        largest, least = m if m > largest else largest, m if m < least else least
        state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST] = total, squares, largest, least


@compiled
@no_type_check
def fold_two_at(a0, b0, at0, a1, b1, at1, state, width):
    """Fold in two messages, in order, and keep them where they attain an extreme."""
    for c in range(width):
        total, squares, largest, least = state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST]
        largest_at, least_at = state[c + LARGEST_AT], state[c + LEAST_AT]
        m = a0[c] * b0[c]
        total, squares = total + m, squares + m * m
        largest_at, least_at = at0 if m > largest else largest_at, at0 if m < least else least_at
        largest, least = m if m > largest else largest, m if m < least else least
        m = a1[c] * b1[c]
        total, squares = total + m, squares + m * m
        largest_at, least_at = at1 if m > largest else largest_at, at1 if m < least else least_at
        largest, least = m if m > largest else largest, m if m < least else least
        state[c], state[c + SQUARES], state[c + LARGEST], state[c + LEAST] = total, squares, largest, least
        state[c + LARGEST_AT], state[c + LEAST_AT] = largest_at, least_at


@compiled
@no_type_check
def write_message(message, dim, a, b, result, width):
    """The message of rows a and b, for messages that are no plain product."""
    if message == TRANSE:
        for c in range(width):
            result[c] = a[c] + b[c]
    else:
        half = dim // 2
        for low in range(0, width, dim):
            real_a, imaginary_a = a[low : low + half], a[low + half : low + dim]
            real_b, imaginary_b = b[low : low + half], b[low + half : low + dim]
            real, imaginary = result[low : low + half], result[low + half : low + dim]
            for c in range(half):
                real[c] = real_a[c] * real_b[c] - imaginary_a[c] * imaginary_b[c]
            for c in range(half):
                imaginary[c] = real_a[c] * imaginary_b[c] + imaginary_a[c] * real_b[c]


@compiled
@no_type_check
def boundary_gradient(boundary, local, result, width):
    """Gradient of the boundary, from what `local` holds of its node."""
    for c in range(width):
        value = boundary[c]
        g = local[c] + (value + value) * local[c + SQUARES]
        with_largest = g + local[c + LARGEST]
        g = with_largest if local[c + LARGEST_AT] == -1 else g
        with_least = g + local[c + LEAST]
        result[c] = with_least if local[c + LEAST_AT] == -1 else g


@compiled
@no_type_check
def message_gradient(message, dim, x, w, number, local, width):
    """Gradient of the message of edge `number` of a node, from what `local` holds of the node, into `local`.

    Twice a value is written as a sum: an integer times a float32 would be a float64.
    """
    if message == ROTATE:
        half = dim // 2
        for low in range(0, width, dim):
            for c in range(low, low + half):
                d = c + half
                m, n = x[c] * w[c] - x[d] * w[d], x[c] * w[d] + x[d] * w[c]
                local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
                local[d + GRADIENT] = local[d] + (n + n) * local[d + SQUARES]
    elif message == TRANSE:
        for c in range(width):
            m = x[c] + w[c]
            local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
    else:
        for c in range(width):
            m = x[c] * w[c]
            local[c + GRADIENT] = local[c] + (m + m) * local[c + SQUARES]
    for c in range(width):
        g = local[c + GRADIENT]
        with_largest = g + local[c + LARGEST]
        g = with_largest if local[c + LARGEST_AT] == number else g
        with_least = g + local[c + LEAST]
        local[c + GRADIENT] = with_least if local[c + LEAST_AT] == number else g


@compiled
@no_type_check
def add_gradient(message, dim, other, gradient, result, width):
    """Add to the gradient of a row what a message's gradient gives it; `other` is the other row of the message.

    All three messages are symmetric in the source's and the relation's row, so that this serves both.
    """
    if message == DISTMULT:
        for c in range(width):
            result[c] += gradient[c] * other[c]
    elif message == TRANSE:
        for c in range(width):
            result[c] += gradient[c]
    else:
        half = dim // 2
        for low in range(0, width, dim):
            for c in range(low, low + half):
                d = c + half
                result[c] += gradient[c] * other[c] + gradient[d] * other[d]
                result[d] += gradient[d] * other[c] - gradient[c] * other[d]
