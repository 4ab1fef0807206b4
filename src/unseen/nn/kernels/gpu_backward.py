"""The triton kernels of the backward pass: by source or relation, of the extremes, and sums of parts.

Programs and grid are those of the forward pass.
"""

from __future__ import annotations

from typing import no_type_check

import triton.language as tl

from unseen.nn.kernels.gpu_forward import jit, pairing


@jit
@no_type_check
def backward_pass(
    own,
    other,
    sums,
    squares,
    result,
    parts,
    chunks,
    other_of,
    target_of,
    keep,
    cols,
    dim,
    MESSAGE: tl.constexpr,
    SUM: tl.constexpr,
    SQUARES: tl.constexpr,
    MASKED: tl.constexpr,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """Gradient of the row that owns a chunk, from those of sum and sum of squares at the edges' targets.

    All three messages are symmetric in the source's and the relation's row, so that this serves both.
    """
    chunk = tl.program_id(0)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    row = tl.load(chunks + 4 * chunk).to(tl.int64)
    start = tl.load(chunks + 4 * chunk + 1)
    end = tl.load(chunks + 4 * chunk + 2)
    slot = tl.load(chunks + 4 * chunk + 3).to(tl.int64)
    real, imaginary, across, sign = pairing(c, dim)
    a = tl.load(own + row * cols + c, mask=inside, other=0).to(NUMBER)
    a_across = a
    if MESSAGE == "rotate":
        a_across = tl.load(own + row * cols + across, mask=inside, other=0).to(NUMBER)
    gradient = tl.zeros([COLUMNS], NUMBER)
    begin = start
    while begin < end:
        for step in tl.static_range(UNROLL):
            edge = begin + step
            kept = edge < end
            if MASKED:
                kept = kept & (tl.load(keep + edge, mask=kept, other=0) != 0)
            b = other + tl.load(other_of + edge, mask=kept, other=0).to(tl.int64) * cols
            target = tl.load(target_of + edge, mask=kept, other=0).to(tl.int64) * cols
            here = inside & kept
            if MESSAGE == "rotate":
                cosine = tl.load(b + real, mask=here, other=0).to(NUMBER)
                sine = tl.load(b + imaginary, mask=here, other=0).to(NUMBER) * sign.to(NUMBER)
                m = a * cosine + a_across * sine
                n = a_across * cosine - a * sine
                g = message_gradient(m, sums, squares, target, c, here, SUM, SQUARES, NUMBER)
                h = message_gradient(n, sums, squares, target, across, here, SUM, SQUARES, NUMBER)
                gradient += g * cosine - h * sine
            else:
                value = tl.load(b + c, mask=here, other=0).to(NUMBER)
                m = a * value if MESSAGE == "distmult" else a + value
                g = message_gradient(m, sums, squares, target, c, here, SUM, SQUARES, NUMBER)
                gradient += g * value if MESSAGE == "distmult" else g
        begin += UNROLL
    if slot < 0:
        tl.store(result + row * cols + c, gradient, mask=inside)
    else:
        tl.store(parts + slot * cols + c, gradient, mask=inside)


@jit
@no_type_check
def message_gradient(m, sums, squares, target, c, here, SUM: tl.constexpr, SQUARES: tl.constexpr, NUMBER: tl.constexpr):
    """Gradient of one edge's message m, from the rows of gradients of its target (pointers); 0 outside."""
    g = tl.zeros_like(m)
    if SUM:
        g += tl.load(sums + target + c, mask=here, other=0).to(NUMBER)
    if SQUARES:
        g += (m + m) * tl.load(squares + target + c, mask=here, other=0).to(NUMBER)
    return g


@jit
@no_type_check
def add_parts(
    result,
    parts,
    split_rows,
    split_offsets,
    cols,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """The result of a split row: the sum of its parts, always in the same order."""
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    row = tl.load(split_rows + tl.program_id(0)).to(tl.int64)
    start = tl.load(split_offsets + tl.program_id(0))
    end = tl.load(split_offsets + tl.program_id(0) + 1)
    total = tl.zeros([COLUMNS], NUMBER)
    begin = start
    while begin < end:
        for step in tl.static_range(UNROLL):
            at = (begin + step).to(tl.int64) * cols + c
            total += tl.load(parts + at, mask=inside & (begin + step < end), other=0)
        begin += UNROLL
    tl.store(result + row * cols + c, total, mask=inside)


@jit
@no_type_check
def node_pass(
    x,
    w,
    boundary,
    sums,
    squares,
    largest,
    least,
    largest_at,
    least_at,
    for_x,
    for_w,
    for_boundary,
    source,
    relation,
    cols,
    dim,
    MESSAGE: tl.constexpr,
    SUM: tl.constexpr,
    SQUARES: tl.constexpr,
    MAXIMUM: tl.constexpr,
    MINIMUM: tl.constexpr,
    FOR_X: tl.constexpr,
    FOR_W: tl.constexpr,
    FOR_BOUNDARY: tl.constexpr,
    NUMBER: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """What costs nodes and not edges: the extremes' gradients, added where they were attained, and the boundary's.

    Several nodes may add to one row of x or w at the same time; the order of these additions is not fixed.
    """
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < cols
    at = row * cols + c
    gradient = tl.zeros([COLUMNS], NUMBER)
    if FOR_BOUNDARY:
        if SUM:
            gradient += tl.load(sums + at, mask=inside, other=0).to(NUMBER)
        if SQUARES:
            value = tl.load(boundary + at, mask=inside, other=0).to(NUMBER)
            gradient += (value + value) * tl.load(squares + at, mask=inside, other=0).to(NUMBER)
    if MAXIMUM:
        g = tl.load(largest + at, mask=inside, other=0).to(NUMBER)
        edge = tl.load(largest_at + at, mask=inside, other=-1)
        scatter(x, w, for_x, for_w, source, relation, edge, g, c, cols, dim, MESSAGE, FOR_X, FOR_W, NUMBER)
        gradient += tl.where(edge < 0, g, 0)
    if MINIMUM:
        g = tl.load(least + at, mask=inside, other=0).to(NUMBER)
        edge = tl.load(least_at + at, mask=inside, other=-1)
        scatter(x, w, for_x, for_w, source, relation, edge, g, c, cols, dim, MESSAGE, FOR_X, FOR_W, NUMBER)
        gradient += tl.where(edge < 0, g, 0)
    if FOR_BOUNDARY:
        tl.store(for_boundary + at, gradient, mask=inside)


@jit
@no_type_check
def scatter(
    x,
    w,
    for_x,
    for_w,
    source,
    relation,
    edge,
    g,
    c,
    cols,
    dim,
    MESSAGE: tl.constexpr,
    FOR_X: tl.constexpr,
    FOR_W: tl.constexpr,
    NUMBER: tl.constexpr,
):
    """Add the gradient g of messages to the rows that made them; `edge` says which, column by column, -1 for none."""
    here = edge >= 0
    u = tl.load(source + edge, mask=here, other=0).to(tl.int64) * cols
    r = tl.load(relation + edge, mask=here, other=0).to(tl.int64) * cols
    if MESSAGE == "rotate":
        real, imaginary, across, sign = pairing(c, dim)
        signed = sign.to(NUMBER) * g
        if FOR_X:
            cosine = tl.load(w + r + real, mask=here, other=0).to(NUMBER)
            sine = tl.load(w + r + imaginary, mask=here, other=0).to(NUMBER)
            tl.atomic_add(for_x + u + c, g * cosine, mask=here, sem="relaxed")
            tl.atomic_add(for_x + u + across, signed * sine, mask=here, sem="relaxed")
        if FOR_W:
            mine = tl.load(x + u + c, mask=here, other=0).to(NUMBER)
            theirs = tl.load(x + u + across, mask=here, other=0).to(NUMBER)
            tl.atomic_add(for_w + r + real, g * mine, mask=here, sem="relaxed")
            tl.atomic_add(for_w + r + imaginary, signed * theirs, mask=here, sem="relaxed")
    else:
        if FOR_X:
            factor = g * 0 + 1
            if MESSAGE == "distmult":
                factor = tl.load(w + r + c, mask=here, other=0).to(NUMBER)
            tl.atomic_add(for_x + u + c, g * factor, mask=here, sem="relaxed")
        if FOR_W:
            factor = g * 0 + 1
            if MESSAGE == "distmult":
                factor = tl.load(x + u + c, mask=here, other=0).to(NUMBER)
            tl.atomic_add(for_w + r + c, g * factor, mask=here, sem="relaxed")
