"""A whole layer of message passing as one compiled pass, for answering on the CPU.

A tile is a few nodes of one degree. For each of its rows (a node and a column of the batch) the statistics of all
messages are made in registers and written to a small table [x ; mean ; max ; min ; std]; that table times one matrix is
the update. Because the nodes of a tile have one degree, the three scales of PNA are one matrix too:

    y = x W_x + F (W_1 + s W_s + W_i / s) + b                      5 dim -> dim, in place of 5 dim -> 3 dim

which is a third of the products, at the price of making that matrix once for each degree. Nothing but the new state is
written to memory, and no more than `TILE_ROWS` rows are under way, so everything but the gathered rows stays in the
second-level cache.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner
from unseen.nn.kernels.cpu_loops import U, reordered
from unseen.nn.kernels.cpu_vectors import (
    UNIT,
    add,
    filled,
    larger,
    load,
    multiply,
    multiply_add,
    smaller,
    square_root,
    store,
    subtract,
)

STATISTICS, FEATURES = U(4), U(5)
ROWS_AT_ONCE = U(4)
"""Rows that are multiplied together, so that a loaded weight is used more than once."""
TILE_ROWS = U(32)


@inner
@no_type_check
def fold_edges(row, edges, span, low, tables, width):
    """Sum, sum of squares, maximum and minimum of the boundary and the messages of a node, for columns from `low`."""
    source, relation = edges
    x, w, boundary = tables
    total = load(boundary, row, low, width)
    squares, largest, least = multiply(total, total), total, total
    for edge in range(span[0], span[1]):
        message = multiply(load(x, U(source[edge]), low, width), load(w, U(relation[edge]), low, width))
        total = add(total, message)
        squares = multiply_add(message, message, squares)
        largest = larger(message, largest)
        least = smaller(message, least)
    return total, squares, largest, least


@inner
@no_type_check
def write_features(place, column, dim, found, own, share, smallest, features, width):
    """One row of the table of features, for some columns: [x ; mean ; max ; min ; std]."""
    total, squares, largest, least = found
    mean = multiply(total, filled(share, width))
    variance = subtract(multiply(squares, filled(share, width)), multiply(mean, mean))
    store(features, place, column, own)
    store(features, place, column + dim, mean)
    store(features, place, column + U(2) * dim, largest)
    store(features, place, column + U(3) * dim, least)
    store(features, place, column + U(4) * dim, square_root(larger(variance, filled(smallest, width))))


@inner
@no_type_check
def scale_weight(weight, up, down, result):
    """The matrix of all nodes of one degree, from [x ; 1 ; s ; 1/s] blocks of rows."""
    dim = U(result.shape[1])
    for k in range(dim):
        for c in range(dim):
            result[k, c] = weight[k, c]
    for plain in range(dim, FEATURES * dim):
        amplified = plain + STATISTICS * dim
        attenuated = amplified + STATISTICS * dim
        for c in range(dim):
            result[plain, c] = weight[plain, c] + up * weight[amplified, c] + down * weight[attenuated, c]


@inner
@no_type_check
def multiply_rows(features, weight, bias, rows, products, width):
    """The product of some rows (rounded up to whole groups) and a matrix, with one more row added."""
    lanes = U(UNIT * len(width))
    one, two, three = U(1), U(2), U(3)
    for column in range(U(0), U(weight.shape[1]), lanes):
        start = load(bias, U(0), column, width)
        for row in range(U(0), rows, ROWS_AT_ONCE):
            first, second, third, fourth = start, start, start, start
            for k in range(U(weight.shape[0])):
                values = load(weight, k, column, width)
                first = multiply_add(filled(features[row, k], width), values, first)
                second = multiply_add(filled(features[row + one, k], width), values, second)
                third = multiply_add(filled(features[row + two, k], width), values, third)
                fourth = multiply_add(filled(features[row + three, k], width), values, fourth)
            store(products, row, column, first)
            store(products, row + one, column, second)
            store(products, row + two, column, third)
            store(products, row + three, column, fourth)


@reordered
@no_type_check
def write_state(products, place, norm, constants, x, row, low, state):
    """The next state of a row: x + relu(layer_norm(y))."""
    dim = U(products.shape[1])
    nothing, one, number, epsilon = constants
    total, squares = nothing, nothing
    for c in range(dim):
        total += products[place, c]
    mean = total / number
    for c in range(dim):
        centred = products[place, c] - mean
        squares += centred * centred
    scale = one / np.sqrt(squares / number + epsilon)
    for c in range(dim):
        raised = (products[place, c] - mean) * scale * norm[U(0), c] + norm[U(1), c]
        state[row, low + c] = x[row, low + c] + (raised if raised > nothing else nothing)


@inner
@no_type_check
def same_degree(begin, most, order, degrees):
    """Where the nodes end that have the degree of the first one, at most `most` places on."""
    degree, end = degrees[U(order[begin])], begin + U(1)
    while end < most and degrees[U(order[end])] == degree:
        end += U(1)
    return end, degree


@inner
@no_type_check
def fill_tile(nodes, offsets, edges, tables, share, smallest, features, width):
    """The features of all rows of some nodes; how many rows that is."""
    x = tables[0]
    dim, columns, lanes = U(features.shape[1]) // FEATURES, U(x.shape[1]), U(UNIT * len(width))
    place = U(0)
    for i in range(U(len(nodes))):
        node = U(nodes[i])
        span = (offsets[node], offsets[node + U(1)])
        for low in range(U(0), columns, lanes):
            found, own = fold_edges(node, edges, span, low, tables, width), load(x, node, low, width)
            write_features(place + low // dim, low % dim, dim, found, own, share[node], smallest, features, width)
        place += columns // dim
    return place


@compiled
@no_type_check
def layer_pass(first, last, by_degree, offsets, edges, tables, scales, weights, constants, state, width):
    """The next state of some nodes in their order by degree."""
    order, degrees = by_degree
    x, number = tables[0], tables[0].dtype.type
    share, up, down = scales
    weight, bias, norm = weights
    dim, columns = U(weight.shape[1]), U(x.shape[1])
    for_norm = (number(0), number(1), number(dim), constants[1])
    most = max(U(1), TILE_ROWS // (columns // dim))
    rows = (most * (columns // dim) + ROWS_AT_ONCE - U(1)) // ROWS_AT_ONCE * ROWS_AT_ONCE
    features, products = np.zeros((rows, FEATURES * dim), x.dtype), np.empty((rows, dim), x.dtype)
    scaled, known = np.empty((FEATURES * dim, dim), x.dtype), np.int64(-1)
    begin = U(first)
    while begin < U(last):
        end, degree = same_degree(begin, min(begin + most, U(last)), order, degrees)
        if degree != known:
            scale_weight(weight, up[order[begin]], down[order[begin]], scaled)
            known = np.int64(degree)
        found = fill_tile(order[begin:end], offsets, edges, tables, share, constants[0], features, width)
        multiply_rows(features, scaled, bias, found, products, width)
        for place in range(found):
            node, low = U(order[begin + place // (columns // dim)]), place % (columns // dim) * dim
            write_state(products, place, norm, for_norm, x, node, low, state)
        begin = end


@reordered
@no_type_check
def score(products, place, of_query, column, output, bias):
    """One logit from the products of its row."""
    total, nothing = bias, bias - bias
    for c in range(U(products.shape[1])):
        value = products[place, c] + of_query[column, c]
        total += (value if value > nothing else nothing) * output[c]
    return total


@compiled
@no_type_check
def readout_pass(first, last, state, hidden, of_query, output, bias, logits, width):
    """The logits output · relu(state hidden + of_query) + bias of the rows `first` … `last` (node and column)."""
    dim, batch = U(hidden.shape[0]), U(of_query.shape[0])
    held, products = np.zeros((TILE_ROWS, dim), state.dtype), np.empty((TILE_ROWS, U(hidden.shape[1])), state.dtype)
    nothing = np.zeros((1, hidden.shape[1]), state.dtype)
    for begin in range(U(first), U(last), TILE_ROWS):
        end = min(begin + TILE_ROWS, U(last))
        for row in range(begin, end):
            for c in range(dim):
                held[row - begin, c] = state[row, c]
        multiply_rows(held, hidden, nothing, end - begin, products, width)
        for row in range(begin, end):
            logits[row] = score(products, row - begin, of_query, row % batch, output, bias)
