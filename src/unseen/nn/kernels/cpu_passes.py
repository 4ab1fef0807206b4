"""The compiled passes over edges, on the CPU: forward, and backward.

A pass treats the range `first` … `last` of its work, chunks of edges or columns, in one thread and without Python's
lock; `cpu.py` hands ranges to threads. What is computed does not depend on the ranges, so results are the same for any
number of threads. Arrays without rows stand for what is not wanted.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.nn.kernels.cpu_loops import (
    DISTMULT,
    GRADIENT,
    LARGEST_AT,
    LENGTH,
    ROTATE,
    WIDTH,
    add_gradient,
    boundary_gradient,
    compiled,
    fold_four,
    fold_one_at,
    fold_two_at,
    message_gradient,
    start_empty,
    start_with,
    write_message,
)


@compiled
@no_type_check
def step_of(message, dim):
    """Columns to take at a time: for `rotate` both halves of a row must be together."""
    return WIDTH // dim * dim if message == ROTATE else WIDTH


@compiled
@no_type_check
def fold_held(held, rows, places, start, low, width, lefts, rights, state, track):
    """Fold in the messages of `held` edges: row `rows[0, i]` of `lefts` times row `rows[1, i]` of `rights`."""
    high = low + width
    number = state.dtype.type
    if held == 4 and not track:
        fold_four(
            lefts[rows[0, 0], low:high],
            rights[rows[1, 0], low:high],
            lefts[rows[0, 1], low:high],
            rights[rows[1, 1], low:high],
            lefts[rows[0, 2], low:high],
            rights[rows[1, 2], low:high],
            lefts[rows[0, 3], low:high],
            rights[rows[1, 3], low:high],
            state,
            width,
        )
        return
    for i in range(0, held - 1, 2):
        fold_two_at(
            lefts[rows[0, i], low:high],
            rights[rows[1, i], low:high],
            number(places[i] - start),
            lefts[rows[0, i + 1], low:high],
            rights[rows[1, i + 1], low:high],
            number(places[i + 1] - start),
            state,
            width,
        )
    if held % 2 == 1:
        i = held - 1
        left, right = lefts[rows[0, i], low:high], rights[rows[1, i], low:high]
        fold_one_at(left, right, number(places[i] - start), state, width)


@compiled
@no_type_check
def write_positions(at, start, result, width):
    """Positions in the canonical order from numbers counted from the start of a chunk; -1 stays -1."""
    for c in range(width):
        result[c] = np.int32(at[c]) + start if at[c] >= 0 else np.int32(-1)


@compiled
@no_type_check
def store(state, place, start, low, high, results, ats):
    """Write the statistics, and where the extremes are attained, to row `place`."""
    width = high - low
    for k in range(4):
        if results[k].shape[0] > 0:
            results[k][place, low:high] = state[k * WIDTH : k * WIDTH + width]
    for k in range(2):
        if ats[k].shape[0] > 0:
            at = LARGEST_AT + k * WIDTH
            write_positions(state[at : at + width], start, ats[k][place, low:high], width)


@compiled
@no_type_check
def forward_pass(first, last, chunks, edges, keep, inputs, results, partials, ats, partial_ats, message, dim):
    """Statistics of the chunks' edges; a row that is whole gets its result, a row that is split one part per slot."""
    row_of, start_of, end_of, slot_of, offsets = chunks
    source, relation = edges
    x, w, boundary = inputs
    track = ats[0].shape[0] + ats[1].shape[0] > 0
    state, messages, ones = np.empty(GRADIENT, x.dtype), np.empty((4, WIDTH), x.dtype), np.ones((4, WIDTH), x.dtype)
    rows, places = np.empty((2, 4), np.int64), np.empty(4, np.int64)
    lefts, rights = (x, w) if message == DISTMULT else (messages, ones)
    cols, step = x.shape[1], step_of(message, dim)
    for chunk in range(first, last):
        row, start, slot = row_of[chunk], start_of[chunk], slot_of[chunk]
        for low in range(0, cols, step):
            high = min(cols, low + step)
            width = high - low
            if start == offsets[row]:
                start_with(boundary[row, low:high], state, width)
            else:
                start_empty(state, width)
            held = 0
            for edge in range(start, end_of[chunk]):
                if keep.shape[0] == 0 or keep[edge]:
                    places[held], rows[0, held], rows[1, held] = edge, source[edge], relation[edge]
                    if message != DISTMULT:
                        left, right = x[source[edge], low:high], w[relation[edge], low:high]
                        write_message(message, dim, left, right, messages[held], width)
                        rows[0, held], rows[1, held] = held, held
                    held += 1
                if held == 4 or edge == end_of[chunk] - 1:
                    from_column = low if message == DISTMULT else 0
                    fold_held(held, rows, places, start, from_column, width, lefts, rights, state, track)
                    held = 0
            if slot < 0:
                store(state, row, start, low, high, results, ats)
            else:
                store(state, slot, start, low, high, partials, partial_ats)


@compiled
@no_type_check
def combine_pass(first, last, split, results, partials, ats, partial_ats):
    """Results of split rows from their parts, in order, so that the first of equal extremes wins."""
    split_rows, split_offsets = split
    for i in range(first, last):
        row = split_rows[i]
        for slot in range(split_offsets[i], split_offsets[i + 1]):
            fresh = slot == split_offsets[i]
            for k in range(4):
                if results[k].shape[0] == 0:
                    continue
                result, part = results[k][row], partials[k][slot]
                tracked = k >= 2 and ats[k - 2].shape[0] > 0
                for c in range(len(result)):
                    if fresh:
                        better = True
                    else:
                        better = (k == 2 and part[c] > result[c]) or (k == 3 and part[c] < result[c])
                    if k < 2 and not fresh:
                        result[c] += part[c]
                    elif better:
                        result[c] = part[c]
                        if tracked:
                            ats[k - 2][row, c] = partial_ats[k - 2][slot, c]


@compiled
@no_type_check
def load_gradients(row, start, low, high, grads, ats, local):
    """Copy what belongs to a node: four gradients, 0 where none is given, and which edges attain the extremes."""
    width = high - low
    for k in range(4):
        place = local[k * WIDTH : k * WIDTH + width]
        if grads[k].shape[0] == 0:
            place[:] = 0
        else:
            place[:] = grads[k][row, low:high]
    for k in range(2):
        place = local[LARGEST_AT + k * WIDTH : LARGEST_AT + k * WIDTH + width]
        if grads[k + 2].shape[0] == 0:
            place[:] = -2
        else:
            at = ats[k][row, low:high]
            for c in range(width):
                place[c] = at[c] - start if at[c] >= 0 else -1


@compiled
@no_type_check
def backward_pass(first, last, offsets, edges, keep, inputs, grads, ats, results, message, dim):
    """Gradients of x, relation and boundary at the columns `first` … `last`, in one pass over the edges by target.

    Threads have columns of their own and take all edges in order, so that no two write to one place, hubs are shared,
    and sums are repeatable. Cost: three rows read and two written per edge, those of relations from the cache.
    """
    source, relation = edges
    x, w, boundary = inputs
    for_x, for_w, for_boundary = results
    local = np.empty(LENGTH, x.dtype)
    number, step = x.dtype.type, step_of(message, dim)
    for low in range(first, last, step):
        high = min(last, low + step)
        width = high - low
        for row in range(x.shape[0]):
            start = offsets[row]
            load_gradients(row, start, low, high, grads, ats, local)
            if for_boundary.shape[0] > 0:
                boundary_gradient(boundary[row, low:high], local, for_boundary[row, low:high], width)
            for edge in range(start, offsets[row + 1]):
                if keep.shape[0] > 0 and not keep[edge]:
                    continue
                left, right = x[source[edge], low:high], w[relation[edge], low:high]
                message_gradient(message, dim, left, right, number(edge - start), local, width)
                gradient = local[GRADIENT : GRADIENT + width]
                if for_x.shape[0] > 0:
                    add_gradient(message, dim, right, gradient, for_x[source[edge], low:high], width)
                if for_w.shape[0] > 0:
                    add_gradient(message, dim, left, gradient, for_w[relation[edge], low:high], width)
