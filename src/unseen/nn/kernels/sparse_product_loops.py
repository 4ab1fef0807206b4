"""The compiled loop of products with sparse tables: chunks of entries, one row of x added for each."""

from __future__ import annotations

from typing import no_type_check

from unseen.graph.compiling import compiled


@compiled
@no_type_check
def product_pass(first, last, chunks, other, weights, x, result, parts):
    """The sums of chunks `first` … `last` - 1, into whole rows of the result or into slots."""
    width = x.shape[1]
    weighted = len(weights) > 0
    for chunk in range(first, last):
        row, begin, end, slot = chunks[chunk, 0], chunks[chunk, 1], chunks[chunk, 2], chunks[chunk, 3]
        target = result[row] if slot < 0 else parts[slot]
        for c in range(width):
            target[c] = 0
        for place in range(begin, end):
            source = x[other[place]]
            if weighted:
                weight = weights[place]
                if weight != 0:
                    for c in range(width):
                        target[c] += weight * source[c]
            else:
                for c in range(width):
                    target[c] += source[c]
