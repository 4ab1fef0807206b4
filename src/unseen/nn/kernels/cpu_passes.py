"""The compiled passes over edges, on the CPU: forward, and backward.

A pass treats the range `first` … `last` of its work, chunks of edges or columns, in one thread and without Python's
lock; `cpu.py` hands ranges to threads. Arrays without rows stand for what is not wanted.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.nn.kernels.cpu_loops import (
    DISTMULT,
    LARGEST_AT,
    LOCAL,
    ROTATE,
    STATE,
    WIDTH,
    U,
    add_gradient,
    boundary_gradient,
    fold_four,
    fold_one,
    fold_two,
    message_gradient,
    start_empty,
    start_with,
    write_message,
)


@inner
@no_type_check
def step_of(message, dim):
    """Columns to take at a time: for `rotate` both halves of a row must be together."""
    return WIDTH // dim * dim if message == ROTATE else WIDTH


@inner
@no_type_check
def fold_held(held, rows, numbers, low, a, b, state, width, track):
    """Fold in the messages of `held` edges: row `rows[0, i]` of a times row `rows[1, i]` of b."""
    i, j = rows
    if held == 4 and not track:
        fold_four(a, b, (i[0], j[0], i[1], j[1], i[2], j[2], i[3], j[3]), low, state, width)
        return
    for k in range(0, held - 1, 2):
        pair = (numbers[k], numbers[k + 1])
        fold_two(a, b, (i[k], j[k], i[k + 1], j[k + 1]), low, pair, state, width)
    if held % 2 == 1:
        fold_one(a, b, (i[held - 1], j[held - 1]), low, numbers[held - 1], state, width)


@compiled
@no_type_check
def store(state, place, start, low, width, results, ats):
    """Write the statistics, and the positions of the edges that attain the extremes (-1 stays -1), to row `place`."""
    for k in range(4):
        if results[k].shape[0] > 0:
            result, part = results[k], U(k * WIDTH)
            for c in range(width):
                result[place, low + c] = state[part + c]
    for k in range(2):
        if ats[k].shape[0] > 0:
            result, part = ats[k], LARGEST_AT + U(k * WIDTH)
            for c in range(width):
                at = np.int32(state[part + c])
                result[place, low + c] = at + start if at >= 0 else at


@compiled
@no_type_check
def forward_pass(first, last, chunks, edges, keep, inputs, results, partials, ats, partial_ats, message, dim):
    """Statistics of chunks of edges: the result of a whole row, or a part, without the boundary, of a split one."""
    source, relation = edges
    x, w, boundary = inputs
    track = ats[0].shape[0] + ats[1].shape[0] > 0
    messages, ones = np.empty((4, WIDTH), x.dtype), np.ones((4, WIDTH), x.dtype)
    a, b = (x, w) if message == DISTMULT else (messages, ones)
    state, numbers = np.empty(STATE, x.dtype), np.empty(4, x.dtype)
    rows = (np.empty(4, np.uint64), np.empty(4, np.uint64))
    for chunk in range(first, last):
        row, start, end, slot = chunks[chunk]
        for begin in range(0, x.shape[1], step_of(message, dim)):
            low, width = U(begin), U(min(x.shape[1] - begin, step_of(message, dim)))
            if slot < 0:
                start_with(boundary, U(row), low, state, width)
            else:
                start_empty(state, width)
            held = 0
            for edge in range(start, end):
                if keep.shape[0] == 0 or keep[edge]:
                    numbers[held], rows[0][held], rows[1][held] = edge - start, source[edge], relation[edge]
                    if message != DISTMULT:
                        pair = (U(source[edge]), U(relation[edge]))
                        write_message(message, U(dim), x, w, pair, low, messages, U(held), width)
                        rows[0][held], rows[1][held] = held, held
                    held += 1
                if held == 4 or edge == end - 1:
                    fold_held(held, rows, numbers, low if message == DISTMULT else U(0), a, b, state, width, track)
                    held = 0
            if slot < 0:
                store(state, U(row), start, low, width, results, ats)
            else:
                store(state, U(slot), start, low, width, partials, partial_ats)


@compiled
@no_type_check
def combine_pass(first, last, split, boundary, results, partials, ats, partial_ats):
    """Results of split rows from the boundary and their parts, in order, so that the first of equal extremes wins."""
    split_rows, split_offsets = split
    for i in range(first, last):
        row = split_rows[i]
        for k in range(4):
            if results[k].shape[0] == 0:
                continue
            result, tracked = results[k][row], k >= 2 and ats[k - 2].shape[0] > 0
            for c in range(len(result)):
                result[c] = boundary[row, c] * boundary[row, c] if k == 1 else boundary[row, c]
                if tracked:
                    ats[k - 2][row, c] = -1
            for slot in range(split_offsets[i], split_offsets[i + 1]):
                part = partials[k][slot]
                for c in range(len(result)):
                    if k < 2:
                        result[c] += part[c]
                    elif (k == 2 and part[c] > result[c]) or (k == 3 and part[c] < result[c]):
                        result[c] = part[c]
                        if tracked:
                            ats[k - 2][row, c] = partial_ats[k - 2][slot, c]


@inner
@no_type_check
def load_gradients(row, start, low, width, grads, ats, local):
    """Copy what belongs to a node: four gradients, 0 where none is given, and which edges attain the extremes."""
    for k in range(4):
        grad, part = grads[k], U(k * WIDTH)
        if grad.shape[0] == 0:
            for c in range(width):
                local[part + c] = 0
        else:
            for c in range(width):
                local[part + c] = grad[row, low + c]
    for k in range(2):
        at, part = ats[k], LARGEST_AT + U(k * WIDTH)
        if grads[k + 2].shape[0] == 0:
            for c in range(width):
                local[part + c] = -2
        else:
            for c in range(width):
                position = at[row, low + c]
                local[part + c] = position - start if position >= 0 else position


@compiled
@no_type_check
def backward_pass(first, last, nodes, results, offsets, edges, keep, inputs, grads, ats, message, dim):
    """Gradients of x, relation and boundary, in one pass over the edges by target.

    For the columns `first` … `last` and the edges of a range of nodes, in order. No two threads write to one place:
    they differ in columns, or have tables of their own for x and relation, which are then added up.
    """
    source, relation = edges
    x, w, boundary = inputs
    for_x, for_w, for_boundary = results
    local, number = np.empty(LOCAL, x.dtype), x.dtype.type
    for begin in range(first, last, step_of(message, dim)):
        low, width = U(begin), U(min(last - begin, step_of(message, dim)))
        for row in range(nodes[0], nodes[1]):
            start = offsets[row]
            load_gradients(U(row), start, low, width, grads, ats, local)
            if for_boundary.shape[0] > 0:
                boundary_gradient(boundary, U(row), low, local, for_boundary, width)
            for edge in range(start, offsets[row + 1]):
                if keep.shape[0] > 0 and not keep[edge]:
                    continue
                u, r = U(source[edge]), U(relation[edge])
                message_gradient(message, U(dim), x, w, (u, r), low, number(edge - start), local, width)
                if for_x.shape[0] > 0:
                    add_gradient(message, U(dim), w, r, low, local, for_x, u, width)
                if for_w.shape[0] > 0:
                    add_gradient(message, U(dim), x, u, low, local, for_w, r, width)
