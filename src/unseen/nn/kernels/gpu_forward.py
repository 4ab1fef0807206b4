"""The triton kernels of the forward pass. Nothing is compiled before the first launch.

One program treats one chunk of edges and `COLUMNS` columns. Chunks are the fast axis of the grid: all nodes of one
block of columns are treated before the next block, so that the rows in use, a few megabytes, stay in the second-level
cache, and the relations' rows, in constant use, in the first. Loops over edges are unrolled `UNROLL` times to have as
many rows on their way at once; they are `while` loops because triton's interpreter cannot count to a loaded number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, no_type_check

import triton
import triton.language as tl


def jit(function: Callable[..., Any]) -> Any:
    """A kernel, or a part of one."""
    return triton.jit(function)


@jit
@no_type_check
def pairing(c, dim):
    """For `rotate`: the columns of each column's real, imaginary and other part, and the sign of the latter's term."""
    half = dim // 2
    is_real = c % dim < half
    other = tl.where(is_real, c + half, c - half)
    return tl.where(is_real, c, other), tl.where(is_real, other, c), other, tl.where(is_real, -1.0, 1.0)


@jit
@no_type_check
def message_of(a, b, c, dim, inside, MESSAGE: tl.constexpr, NUMBER: tl.constexpr):
    """The message of rows a and b (pointers) at columns c; 0 outside."""
    if MESSAGE == "rotate":
        real, imaginary, other, sign = pairing(c, dim)
        mine = tl.load(a + c, mask=inside, other=0).to(NUMBER)
        theirs = tl.load(a + other, mask=inside, other=0).to(NUMBER)
        cosine = tl.load(b + real, mask=inside, other=0).to(NUMBER)
        sine = tl.load(b + imaginary, mask=inside, other=0).to(NUMBER)
        return mine * cosine + sign.to(NUMBER) * theirs * sine
    left = tl.load(a + c, mask=inside, other=0).to(NUMBER)
    right = tl.load(b + c, mask=inside, other=0).to(NUMBER)
    if MESSAGE == "transe":
        return left + right
    return left * right


@jit
@no_type_check
def forward_pass(
    x,
    w,
    boundary,
    total_out,
    squares_out,
    largest_out,
    least_out,
    largest_at_out,
    least_at_out,
    parts,
    parts_at,
    part_size,
    chunks,
    source,
    relation,
    keep,
    cols,
    dim,
    MESSAGE: tl.constexpr,
    SUM: tl.constexpr,
    SQUARES: tl.constexpr,
    MAXIMUM: tl.constexpr,
    MINIMUM: tl.constexpr,
    TRACK: tl.constexpr,
    MASKED: tl.constexpr,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """Statistics of one chunk: the row's result if the row is whole, else a part without the boundary."""
    chunk = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    row = tl.load(chunks + 4 * chunk).to(tl.int64)
    start = tl.load(chunks + 4 * chunk + 1)
    end = tl.load(chunks + 4 * chunk + 2)
    slot = tl.load(chunks + 4 * chunk + 3).to(tl.int64)
    whole = slot < 0
    value = tl.load(boundary + row * cols + c, mask=inside & whole, other=0).to(NUMBER)
    total = value
    squares = value * value
    largest = tl.where(whole, value, float("-inf"))
    least = tl.where(whole, value, float("inf"))
    largest_at = tl.where(whole, tl.full([COLUMNS], -1, tl.int32), start)
    least_at = largest_at
    begin = start
    while begin < end:
        for step in tl.static_range(UNROLL):
            edge = begin + step
            kept = edge < end
            if MASKED:
                kept = kept & (tl.load(keep + edge, mask=kept, other=0) != 0)
            u = tl.load(source + edge, mask=kept, other=0).to(tl.int64)
            r = tl.load(relation + edge, mask=kept, other=0).to(tl.int64)
            m = message_of(x + u * cols, w + r * cols, c, dim, inside & kept, MESSAGE, NUMBER)
            total += m
            squares += m * m
            higher = (m > largest) & kept
            lower = (m < least) & kept
            largest = tl.where(higher, m, largest)
            least = tl.where(lower, m, least)
            if TRACK:
                largest_at = tl.where(higher, edge, largest_at)
                least_at = tl.where(lower, edge, least_at)
        begin += UNROLL
    if whole:
        at = row * cols + c
        if SUM:
            tl.store(total_out + at, total, mask=inside)
        if SQUARES:
            tl.store(squares_out + at, squares, mask=inside)
        if MAXIMUM:
            tl.store(largest_out + at, largest, mask=inside)
            if TRACK:
                tl.store(largest_at_out + at, largest_at, mask=inside)
        if MINIMUM:
            tl.store(least_out + at, least, mask=inside)
            if TRACK:
                tl.store(least_at_out + at, least_at, mask=inside)
    else:
        part = parts + slot * cols + c
        tl.store(part, total, mask=inside)
        tl.store(part + part_size, squares, mask=inside)
        tl.store(part + part_size + part_size, largest, mask=inside)
        tl.store(part + part_size + part_size + part_size, least, mask=inside)
        if TRACK:
            part_at = parts_at + slot * cols + c
            tl.store(part_at, largest_at, mask=inside)
            tl.store(part_at + part_size, least_at, mask=inside)


@jit
@no_type_check
def combine_pass(
    boundary,
    total_out,
    squares_out,
    largest_out,
    least_out,
    largest_at_out,
    least_at_out,
    parts,
    parts_at,
    part_size,
    split_rows,
    split_offsets,
    cols,
    SUM: tl.constexpr,
    SQUARES: tl.constexpr,
    MAXIMUM: tl.constexpr,
    MINIMUM: tl.constexpr,
    TRACK: tl.constexpr,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """The result of a split row from the boundary and its parts, in order, so that the first of equal extremes wins."""
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    row = tl.load(split_rows + tl.program_id(0)).to(tl.int64)
    start, end = tl.load(split_offsets + tl.program_id(0)), tl.load(split_offsets + tl.program_id(0) + 1)
    value = tl.load(boundary + row * cols + c, mask=inside, other=0).to(NUMBER)
    total = value
    squares = value * value
    largest = value
    least = value
    largest_at = tl.full([COLUMNS], -1, tl.int32)
    least_at = tl.full([COLUMNS], -1, tl.int32)
    begin = start
    while begin < end:
        for step in tl.static_range(UNROLL):
            here = inside & (begin + step < end)
            at = (begin + step).to(tl.int64) * cols + c
            part = parts + at
            total += tl.load(part, mask=here, other=0)
            squares += tl.load(part + part_size, mask=here, other=0)
            high = tl.load(part + part_size + part_size, mask=here, other=float("-inf"))
            low = tl.load(part + part_size + part_size + part_size, mask=here, other=float("inf"))
            if TRACK:
                high_at = tl.load(parts_at + at, mask=here, other=-1)
                low_at = tl.load(parts_at + at + part_size, mask=here, other=-1)
                largest_at = tl.where(high > largest, high_at, largest_at)
                least_at = tl.where(low < least, low_at, least_at)
            largest = tl.where(high > largest, high, largest)
            least = tl.where(low < least, low, least)
        begin += UNROLL
    at = row * cols + c
    if SUM:
        tl.store(total_out + at, total, mask=inside)
    if SQUARES:
        tl.store(squares_out + at, squares, mask=inside)
    if MAXIMUM:
        tl.store(largest_out + at, largest, mask=inside)
        if TRACK:
            tl.store(largest_at_out + at, largest_at, mask=inside)
    if MINIMUM:
        tl.store(least_out + at, least, mask=inside)
        if TRACK:
            tl.store(least_at_out + at, least_at, mask=inside)
