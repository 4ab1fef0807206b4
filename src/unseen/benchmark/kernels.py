"""The compiled loops of answering, grounding and hardness; nothing is compiled before the first call.

Each is parallel over blocks of queries. The workqueue threading layer aborts the process when two parallel kernels run
at once, so every caller holds `LOCK`.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from unseen.benchmark.program import ANCHOR, BOTH, COMPLEMENT, EITHER, PROJECT, STEP

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK = Lock()
BLOCK = 32
UNREACHED = np.uint8(255)
"""The hardness of an entity that is no answer."""
REDRAWS = 40
"""How often a relation that leads straight back is drawn anew before the attempt is given up (as published)."""

_ONE = np.uint64(1)
_ODD = np.uint64(0x9E3779B97F4A7C15)


def _compiled(function: Callable[..., Any]) -> Any:
    return numba.njit(cache=True, nogil=True)(function)


def _parallel(function: Callable[..., Any]) -> Any:
    return numba.njit(cache=True, nogil=True, parallel=True)(function)


@_compiled
def _population(word):  # type: ignore[no-untyped-def]
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_compiled
def _lowest(word):  # type: ignore[no-untyped-def]
    """The number of the lowest bit of a word that has one."""
    return _population((word & (~word + _ONE)) - _ONE)


@_compiled
def _mark(bits, entity):  # type: ignore[no-untyped-def]
    bits[entity >> 6] |= _ONE << np.uint64(entity & 63)


@_compiled
def _has(bits, entity):  # type: ignore[no-untyped-def]
    return (bits[entity >> 6] >> np.uint64(entity & 63)) & _ONE != 0


@_compiled
def _clear(sets):  # type: ignore[no-untyped-def]
    for graph in range(sets.shape[0]):
        for word in range(sets.shape[1]):
            sets[graph, word] = 0


@_compiled
def _copy(source, result):  # type: ignore[no-untyped-def]
    for graph in range(source.shape[0]):
        for word in range(source.shape[1]):
            result[graph, word] = source[graph, word]


@_compiled
def _join(operation, left, right):  # type: ignore[no-untyped-def]
    """Keep in `left` what both sets have, or what either has."""
    for graph in range(left.shape[0]):
        for word in range(left.shape[1]):
            if operation == BOTH:
                left[graph, word] &= right[graph, word]
            else:
                left[graph, word] |= right[graph, word]


@_compiled
def _find_group(index, entity, relation):  # type: ignore[no-untyped-def]
    """The group of an entity and a directed relation, or -1."""
    low, end = index.entity_groups[entity], index.entity_groups[entity + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if index.group_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    return low if low < end and index.group_relation[low] == relation else np.int64(-1)


@_compiled
def _spread(index, group, sets, in_complete, in_observed):  # type: ignore[no-untyped-def]
    """Mark what a group leads to, in the set of either graph."""
    start, missing, end = index.group_start[group], index.group_missing[group], index.group_start[group + 1]
    for position in range(start, missing):
        target = index.targets[position]
        if in_complete:
            _mark(sets[0], target)
        if in_observed:
            _mark(sets[1], target)
    if in_complete:
        for position in range(missing, end):
            _mark(sets[0], index.targets[position])


@_compiled
def _project(index, relation, source, result):  # type: ignore[no-untyped-def]
    """One step of both sets: from their members, or over the relation's groups where those are fewer."""
    _clear(result)
    members = 0
    for word in range(source.shape[1]):
        members += _population(source[0, word] | source[1, word])
    first, last = index.relation_groups[relation], index.relation_groups[relation + 1]
    if last - first < 4 * members:
        for position in range(first, last):
            group = index.relation_members[position]
            entity = index.group_entity[group]
            complete, observed = _has(source[0], entity), _has(source[1], entity)
            if complete or observed:
                _spread(index, group, result, complete, observed)
        return
    for word in range(source.shape[1]):
        left = source[0, word] | source[1, word]
        while left:
            entity = word * 64 + _lowest(left)
            left &= left - _ONE
            group = _find_group(index, entity, relation)
            if group >= 0:
                _spread(index, group, result, _has(source[0], entity), _has(source[1], entity))


@_compiled
def _run(index, program, slots, stack, dual):  # type: ignore[no-untyped-def]
    """Leave the answers of one query in `stack[0]`: in the complete graph, and if `dual` in the observed one."""
    top = -1
    spare = stack.shape[0] - 1
    for row in range(len(program)):
        operation, first, second = program[row, 0], program[row, 1], program[row, 2]
        if operation == STEP or operation == ANCHOR:
            top += 1
            _clear(stack[top])
        if operation == ANCHOR:
            _mark(stack[top, 0], slots[first])
            if dual:
                _mark(stack[top, 1], slots[first])
        elif operation == STEP:
            group = _find_group(index, slots[first], slots[second])
            if group >= 0:
                _spread(index, group, stack[top], True, dual)
        elif operation == PROJECT:
            _project(index, slots[first], stack[top], stack[spare])
            _copy(stack[spare], stack[top])
        elif operation == BOTH or operation == EITHER:
            top -= 1
            _join(operation, stack[top], stack[top + 1])
        elif operation == COMPLEMENT:
            for word in range(stack.shape[2]):
                stack[top, 0, word] = index.universe[word] & ~stack[top, 0, word]
                if dual:
                    stack[top, 1, word] = index.observed_universe[word] & ~stack[top, 1, word]


@_parallel
def answer_bits(index, program, depth, slots, dual, bits):  # type: ignore[no-untyped-def]
    """Fill `bits[query, 0]` with the answers in the complete graph, `bits[query, 1]` with the observed ones."""
    count = len(slots)
    for block in numba.prange((count + BLOCK - 1) // BLOCK):
        stack = np.zeros((depth + 1, 2, bits.shape[2]), np.uint64)
        for query in range(block * BLOCK, min(count, (block + 1) * BLOCK)):
            _run(index, program, slots[query], stack, dual)
            _copy(stack[0], bits[query])


@_parallel
def count_bits(bits, counts):  # type: ignore[no-untyped-def]
    """Fill `counts[row]` with the number of bits of each row."""
    for row in numba.prange(len(bits)):
        total = 0
        for word in bits[row]:
            total += _population(word)
        counts[row] = total


@_parallel
def list_bits(bits, offsets, values):  # type: ignore[no-untyped-def]
    """Fill `values[offsets[row]:]` with the numbers of the bits of each row, ascending."""
    for row in numba.prange(len(bits)):
        position = offsets[row]
        for word in range(bits.shape[1]):
            left = bits[row, word]
            while left:
                values[position] = word * 64 + _lowest(left)
                position += 1
                left &= left - _ONE
