"""The compiled passes over edges, on the CPU: forward, backward by source or relation, backward of the extremes.

A pass treats the chunks `first` … `last` of a work list, in one thread and without Python's lock; `cpu.py` hands ranges
of chunks to threads. What a chunk computes does not depend on the thread, so results are the same for any number of
them. Arrays without rows stand for what is not wanted.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.nn.kernels.cpu_loops import (
    ACCUMULATORS,
    DISTMULT,
    LARGEST_AT,
    ROTATE,
    TRANSE,
    WIDTH,
    compiled,
    fold_four,
    fold_one_at,
    fold_two_at,
    pull,
    pull_sum,
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
    state, messages, ones = np.empty(ACCUMULATORS, x.dtype), np.empty((4, WIDTH), x.dtype), np.ones((4, WIDTH), x.dtype)
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
def backward_pass(first, last, chunks, edges, keep, rows, grads, results, message, dim):
    """Gradients of the rows that own the chunks, from those of sum and sum of squares at the edges' targets.

    `rows` are the owners' and the others' rows; `edges` says which of the others, and which target, each edge has.
    """
    row_of, start_of, end_of, slot_of = chunks
    other_of, target_of = edges
    own, other = rows
    sums, squares = grads
    result, partial = results
    total = np.empty(WIDTH, own.dtype)
    cols, step = own.shape[1], step_of(message, dim)
    for chunk in range(first, last):
        row, slot = row_of[chunk], slot_of[chunk]
        for low in range(0, cols, step):
            high = min(cols, low + step)
            width = high - low
            total[:] = 0
            mine = own[row, low:high]
            for edge in range(start_of[chunk], end_of[chunk]):
                if keep.shape[0] > 0 and not keep[edge]:
                    continue
                theirs, target = other[other_of[edge], low:high], target_of[edge]
                if squares.shape[0] == 0:
                    pull_sum(message, dim, theirs, sums[target, low:high], total, width)
                else:
                    pair = (sums[target, low:high], squares[target, low:high])
                    pull(message, dim, mine, theirs, pair, total, width)
            if slot < 0:
                result[row, low:high] = total[:width]
            else:
                partial[slot, low:high] = total[:width]


@compiled
@no_type_check
def add_parts(first, last, split, result, partial):
    """Results of split rows: the sums of their parts, in order."""
    split_rows, split_offsets = split
    for i in range(first, last):
        row = split_rows[i]
        result[row] = 0
        for slot in range(split_offsets[i], split_offsets[i + 1]):
            for c in range(result.shape[1]):
                result[row, c] += partial[slot, c]


@compiled
@no_type_check
def extreme_pass(first, last, at, grad, edges, inputs, results, message, dim):
    """Add the gradient of an extreme where it was attained, for the columns `first` … `last`.

    Threads have columns of their own and rows in order, so that no two write to one place and sums are repeatable.
    """
    source, relation = edges
    x, w = inputs
    for_x, for_w, for_boundary = results
    wants_x, wants_w, wants_boundary = for_x.shape[0] > 0, for_w.shape[0] > 0, for_boundary.shape[0] > 0
    half = dim // 2
    for row in range(at.shape[0]):
        for c in range(first, last):
            edge, g = at[row, c], grad[row, c]
            if edge < 0:
                if wants_boundary:
                    for_boundary[row, c] += g
                continue
            u, r = source[edge], relation[edge]
            if message != ROTATE:
                if wants_x:
                    for_x[u, c] += g if message == TRANSE else g * w[r, c]
                if wants_w:
                    for_w[r, c] += g if message == TRANSE else g * x[u, c]
                continue
            is_real = c % dim < half
            other = c + half if is_real else c - half
            signed = -g if is_real else g
            real, imaginary = (c, other) if is_real else (other, c)
            if wants_x:
                for_x[u, c] += g * w[r, real]
                for_x[u, other] += signed * w[r, imaginary]
            if wants_w:
                for_w[r, real] += g * x[u, c]
                for_w[r, imaginary] += signed * x[u, other]
