"""The compiled loops that answer queries on bit sets; nothing is compiled before the first call.

A set stands twice, `sets[0]` for the complete graph and `sets[1]` for the observed one, so that one walk serves both;
it stands once, and `sets[-1]` is `sets[0]`, where nothing is missing.
The loops release the interpreter lock: plain threads run them side by side, each on its own queries. numba's own
parallel loops are not used, because their threading layers abort on concurrent or forked calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.program import ANCHOR, BOTH, COMPLEMENT, PROJECT, STEP
from unseen.graph.bisecting import place_in
from unseen.graph.compiling import compiled, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.edge_index import EdgeIndex

    Ids = NDArray[np.int32]
    Words = NDArray[np.uint64]

_ONE = np.uint64(1)


@inner
def _population(word: np.uint64) -> np.int64:
    """How many bits a word has."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def _lowest(word: np.uint64) -> np.int64:
    """The number of the lowest bit of a word that has one."""
    return np.int64(_population((word & (~word + _ONE)) - _ONE))


@compiled
def _mark(bits: Words, entity: int) -> None:
    bits[entity >> 6] |= _ONE << np.uint64(entity & 63)


@compiled
def _has(bits: Words, entity: int) -> bool:
    return bool((bits[entity >> 6] >> np.uint64(entity & 63)) & _ONE != 0)


@inner
def _clear(sets: Words) -> None:
    for graph in range(sets.shape[0]):
        for word in range(sets.shape[1]):
            sets[graph, word] = 0


@compiled
def _copy(source: Words, result: Words) -> None:
    for graph in range(source.shape[0]):
        for word in range(source.shape[1]):
            result[graph, word] = source[graph, word]


@inner
def _join(operation: int, left: Words, right: Words) -> None:
    """Keep in `left` what both sets have, or what either has."""
    for graph in range(left.shape[0]):
        for word in range(left.shape[1]):
            if operation == BOTH:
                left[graph, word] &= right[graph, word]
            else:
                left[graph, word] |= right[graph, word]


@inner
def _complement(index: EdgeIndex, sets: Words) -> None:
    """Keep the entities that are connected in each graph and not in its set."""
    for word in range(sets.shape[1]):
        sets[0, word] = index.universe[word] & ~sets[0, word]
        if len(sets) == 2:
            sets[1, word] = index.observed_universe[word] & ~sets[1, word]


@inner
def find_group(index: EdgeIndex, entity: int, relation: int) -> int:
    """The group of an entity and a directed relation, or -1."""
    low, high = index.entity_groups[entity], index.entity_groups[entity + 1]
    return place_in(index.group_relation, low, high, relation)  # type: ignore[no-any-return]


@compiled
def _spread(index: EdgeIndex, group: int, sets: Words, in_complete: bool, in_observed: bool) -> None:
    """Mark what a group leads to, in the set of either graph."""
    in_observed = in_observed and len(sets) == 2
    start, missing, end = index.group_start[group], index.group_missing[group], index.group_start[group + 1]
    for position in range(start, missing):
        target = index.targets[position]
        if in_complete:
            _mark(sets[0], target)
        if in_observed:
            _mark(sets[-1], target)
    if in_complete:
        for position in range(missing, end):
            _mark(sets[0], index.targets[position])


@inner
def _project(index: EdgeIndex, relation: int, source: Words, result: Words) -> None:
    """One step of both sets: from their members, or over the relation's groups where those are fewer."""
    _clear(result)
    members = 0
    for word in range(source.shape[1]):
        members += _population(source[0, word] | source[-1, word])
    first, last = index.relation_groups[relation], index.relation_groups[relation + 1]
    if last - first < 4 * members:
        for position in range(first, last):
            group = index.relation_members[position]
            entity = index.group_entity[group]
            complete, observed = _has(source[0], entity), _has(source[-1], entity)
            if complete or observed:
                _spread(index, group, result, complete, observed)
        return
    for word in range(source.shape[1]):
        left = source[0, word] | source[-1, word]
        while left:
            entity = word * 64 + _lowest(left)
            left &= left - _ONE
            group = find_group(index, entity, relation)
            if group >= 0:
                _spread(index, group, result, _has(source[0], entity), _has(source[-1], entity))


@compiled
def _run(index: EdgeIndex, program: Ids, slots: Ids, stack: Words) -> None:
    """Leave the answers of one query in `stack[0]`; the last place of the stack is spare."""
    top = -1
    spare = stack.shape[0] - 1
    for row in range(len(program)):
        operation, first, second = program[row, 0], program[row, 1], program[row, 2]
        if operation == STEP:
            top += 1
            _clear(stack[top])
            group = find_group(index, slots[first], slots[second])
            if group >= 0:
                _spread(index, group, stack[top], True, True)
        elif operation == ANCHOR:
            top += 1
            _clear(stack[top])
            _mark(stack[top, 0], slots[first])
            _mark(stack[top, -1], slots[first])
        elif operation == PROJECT:
            _project(index, slots[first], stack[top], stack[spare])
            _copy(stack[spare], stack[top])
        elif operation == COMPLEMENT:
            _complement(index, stack[top])
        else:
            top -= 1
            _join(operation, stack[top], stack[top + 1])


@compiled
def _tally(sets: Words, counts: NDArray[np.int64]) -> None:
    """Count the answers in the complete graph, those the observed graph misses, those the complete one refutes."""
    complete = missed = refuted = 0
    for word in range(sets.shape[1]):
        complete += _population(sets[0, word])
        missed += _population(sets[0, word] & ~sets[-1, word])
        refuted += _population(sets[-1, word] & ~sets[0, word])
    counts[0], counts[1], counts[2] = complete, missed, refuted


@compiled
def answer_bits(index: EdgeIndex, program: tuple[Ids, int], slots: Ids, bits: Words, counts: NDArray[np.int64]) -> None:
    """Fill `bits[query]` with the answers in the complete graph and those in the observed one; count them."""
    operations, depth = program
    stack = np.zeros((depth + 1, bits.shape[1], bits.shape[2]), np.uint64)
    for query in range(len(slots)):
        _run(index, operations, slots[query], stack)
        _copy(stack[0], bits[query])
        _tally(stack[0], counts[query])


@compiled
def list_bits(bits: Words, offsets: NDArray[np.int64], values: Ids) -> None:
    """Fill `values[offsets[row]:]` with the numbers of the bits of each row, ascending."""
    for row in range(len(bits)):
        position = offsets[row]
        for word in range(bits.shape[1]):
            left = bits[row, word]
            while left:
                values[position] = word * 64 + _lowest(left)
                position += 1
                left &= left - _ONE
