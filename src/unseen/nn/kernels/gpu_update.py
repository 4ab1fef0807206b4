"""What happens to a node between two rounds of messages, as triton kernels: statistics to features, features to states.

A program takes `ROWS` rows (one node and one column of the batch each) of `dim` numbers, so that every number is read
and written once; the plain torch operations that these kernels stand for read and write each of them about three times.
"""

from __future__ import annotations

from typing import no_type_check

import triton.language as tl

from unseen.nn.kernels.gpu_forward import jit


@jit
@no_type_check
def _rows_and_columns(block, dim, rows, ROWS: tl.constexpr, DIM: tl.constexpr):
    row = (block * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    column = tl.arange(0, DIM)
    keep = (row[:, None] < rows) & (column[None, :] < dim)
    return row, column, keep


@jit
@no_type_check
def features_pass(
    x, total, squares, maximum, minimum, inverse_degree, features, rows, batch, dim,
    SMALLEST: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    """[x ; mean ; max ; min ; std] of each row."""
    row, column, keep = _rows_and_columns(tl.program_id(0), dim, rows, ROWS, DIM)
    at, to = row[:, None] * dim + column[None, :], row[:, None] * (5 * dim) + column[None, :]
    share = tl.load(inverse_degree + row // batch, mask=row < rows, other=0.0)[:, None]
    mean = tl.load(total + at, mask=keep, other=0.0) * share
    variance = tl.load(squares + at, mask=keep, other=0.0) * share - mean * mean
    tl.store(features + to, tl.load(x + at, mask=keep, other=0.0), mask=keep)
    tl.store(features + to + dim, mean, mask=keep)
    tl.store(features + to + 2 * dim, tl.load(maximum + at, mask=keep, other=0.0), mask=keep)
    tl.store(features + to + 3 * dim, tl.load(minimum + at, mask=keep, other=0.0), mask=keep)
    tl.store(features + to + 4 * dim, tl.sqrt(tl.where(variance > SMALLEST, variance, SMALLEST)), mask=keep)


@jit
@no_type_check
def features_backward_pass(
    gradient, features, inverse_degree, to_x, to_total, to_squares, to_maximum, to_minimum, rows, batch, dim,
    SMALLEST: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    """Gradients of what `features_pass` reads; where the variance was too small, none flows through it."""
    row, column, keep = _rows_and_columns(tl.program_id(0), dim, rows, ROWS, DIM)
    at, of = row[:, None] * dim + column[None, :], row[:, None] * (5 * dim) + column[None, :]
    share = tl.load(inverse_degree + row // batch, mask=row < rows, other=0.0)[:, None]
    mean = tl.load(features + of + dim, mask=keep, other=0.0)
    deviation = tl.load(features + of + 4 * dim, mask=keep, other=1.0)
    from_deviation = tl.load(gradient + of + 4 * dim, mask=keep, other=0.0)
    varies = deviation * deviation > SMALLEST * 1.000001
    to_variance = tl.where(varies, from_deviation / deviation * 0.5, 0.0) * share
    from_mean = tl.load(gradient + of + dim, mask=keep, other=0.0)
    tl.store(to_x + at, tl.load(gradient + of, mask=keep, other=0.0), mask=keep)
    tl.store(to_total + at, from_mean * share - 2 * mean * to_variance, mask=keep)
    tl.store(to_squares + at, to_variance, mask=keep)
    tl.store(to_maximum + at, tl.load(gradient + of + 2 * dim, mask=keep, other=0.0), mask=keep)
    tl.store(to_minimum + at, tl.load(gradient + of + 3 * dim, mask=keep, other=0.0), mask=keep)


@jit
@no_type_check
def update_pass(
    products, x, amplification, attenuation, weight, bias, states, normal, inverse_deviation, rows, batch, dim,
    EPSILON: tl.constexpr, TRACK: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    """The sum x + relu(layer_norm(plain + s amplified + attenuated / s)); with TRACK, what the gradients need."""
    row, column, keep = _rows_and_columns(tl.program_id(0), dim, rows, ROWS, DIM)
    at, of, node = row[:, None] * dim + column[None, :], row[:, None] * (3 * dim) + column[None, :], row // batch
    up = tl.load(amplification + node, mask=row < rows, other=0.0)[:, None]
    down = tl.load(attenuation + node, mask=row < rows, other=0.0)[:, None]
    y = tl.load(products + of, mask=keep, other=0.0)
    y += tl.load(products + of + dim, mask=keep, other=0.0) * up
    y += tl.load(products + of + 2 * dim, mask=keep, other=0.0) * down
    centred = tl.where(keep, y - (tl.sum(y, axis=1) / dim)[:, None], 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=1) / dim + EPSILON)
    y = centred * scale[:, None]
    gain = tl.load(weight + column, mask=column < dim, other=0.0)[None, :]
    shift = tl.load(bias + column, mask=column < dim, other=0.0)[None, :]
    raised = y * gain + shift
    old = tl.load(x + at, mask=keep, other=0.0)
    tl.store(states + at, old + tl.where(raised > 0, raised, 0.0), mask=keep)
    if TRACK:
        tl.store(normal + at, y, mask=keep)
        tl.store(inverse_deviation + row, scale, mask=row < rows)


@jit
@no_type_check
def update_backward_pass(
    gradient, normal, inverse_deviation, amplification, attenuation, weight, bias,
    to_products, to_weight, to_bias, rows, batch, dim,
    BLOCKS: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    """Gradients of the products, and each program's part of those of weight and bias, over BLOCKS blocks of rows."""
    column = tl.arange(0, DIM)
    gain = tl.load(weight + column, mask=column < dim, other=0.0)[None, :]
    shift = tl.load(bias + column, mask=column < dim, other=0.0)[None, :]
    for_weight, for_bias = gain * 0.0, gain * 0.0
    for block in range(BLOCKS):
        row, column, keep = _rows_and_columns(tl.program_id(0) * BLOCKS + block, dim, rows, ROWS, DIM)
        at, to, node = row[:, None] * dim + column[None, :], row[:, None] * (3 * dim) + column[None, :], row // batch
        y = tl.load(normal + at, mask=keep, other=0.0)
        given = tl.load(gradient + at, mask=keep, other=0.0)
        given = tl.where(y * gain + shift > 0, given, 0.0)
        for_weight += tl.sum(given * y, axis=0)[None, :]
        for_bias += tl.sum(given, axis=0)[None, :]
        given = given * gain
        scale = tl.load(inverse_deviation + row, mask=row < rows, other=0.0)[:, None]
        along = (tl.sum(given * y, axis=1) / dim)[:, None]
        given = (given - (tl.sum(given, axis=1) / dim)[:, None] - y * along) * scale
        up = tl.load(amplification + node, mask=row < rows, other=0.0)[:, None]
        down = tl.load(attenuation + node, mask=row < rows, other=0.0)[:, None]
        tl.store(to_products + to, given, mask=keep)
        tl.store(to_products + to + dim, given * up, mask=keep)
        tl.store(to_products + to + 2 * dim, given * down, mask=keep)
    part = tl.program_id(0) * dim + column[None, :]
    tl.store(to_weight + part, for_weight, mask=column[None, :] < dim)
    tl.store(to_bias + part, for_bias, mask=column[None, :] < dim)
