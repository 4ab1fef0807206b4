"""How many missing links an answer needs, for whole tables of queries.

A min-plus pass over the query tree: an anchor costs 0; a projection takes the cheapest source, plus 1 if the edge is
missing from the observed graph; *and* adds, *or* takes the least, *not* only says who is in. 0 is an easy answer, the
number of positive links is one that nothing but prediction reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.answering import check_slots
from unseen.datasets.edge_index import EdgeIndex, index_of
from unseen.datasets.program import ANCHOR, BOTH, COMPLEMENT, PROJECT, STEP, answering_program, stack_depth
from unseen.datasets.shared_work import batches, in_threads
from unseen.graph.compiling import compiled, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.query_table import Ragged
    from unseen.graph import KnowledgeGraph
    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]
    Costs = NDArray[np.uint8]

NO_ANSWER = 255
"""The hardness of an entity that does not answer the query in the complete graph."""
BATCH = 512
_MOST = 254


def table_hardness(
    complete: KnowledgeGraph, observed: KnowledgeGraph, shape: Shape, slots: Ids, answers: Ragged
) -> Costs:
    """The hardness of every answer, one for each of `answers.values`; `NO_ANSWER` where it is none."""
    operations = answering_program(shape)
    program = operations, stack_depth(operations)
    index, queries = index_of(complete, observed), np.ascontiguousarray(slots, np.int32)
    result = np.empty(len(answers.values), np.uint8)
    check_slots(queries, index, shape)

    def fill(rows: slice) -> None:
        offsets = answers.offsets[rows.start : rows.stop + 1]
        _table_costs(index, program, queries[rows], (offsets, answers.values), result)

    in_threads(fill, batches(len(queries), BATCH))
    return result


@inner
def _reach(index: EdgeIndex, group: int, cost: int, result: Costs) -> None:
    """Lower the cost of what a group leads to: by an observed edge to `cost`, by a missing one to one more."""
    start, missing, end = index.group_start[group], index.group_missing[group], index.group_start[group + 1]
    for position in range(start, end):
        price = min(cost + (position >= missing), _MOST)
        target = index.targets[position]
        result[target] = min(result[target], price)


@inner
def _project(index: EdgeIndex, relation: int, source: Costs, result: Costs) -> None:
    result.fill(NO_ANSWER)
    for position in range(index.relation_groups[relation], index.relation_groups[relation + 1]):
        group = index.relation_members[position]
        cost = source[index.group_entity[group]]
        if cost != NO_ANSWER:
            _reach(index, group, cost, result)


@compiled
def _step(index: EdgeIndex, entity: int, relation: int, result: Costs) -> None:
    result.fill(NO_ANSWER)
    for group in range(index.entity_groups[entity], index.entity_groups[entity + 1]):
        if index.group_relation[group] == relation:
            _reach(index, group, 0, result)


@inner
def _join(operation: int, left: Costs, right: Costs) -> None:
    for entity in range(len(left)):
        if operation != BOTH:
            left[entity] = min(left[entity], right[entity])
        elif max(left[entity], right[entity]) == NO_ANSWER:
            left[entity] = NO_ANSWER
        else:
            left[entity] = min(int(left[entity]) + int(right[entity]), _MOST)


@inner
def _complement(index: EdgeIndex, costs: Costs) -> None:
    for entity in range(len(costs)):
        connected = index.entity_groups[entity] != index.entity_groups[entity + 1]
        costs[entity] = 0 if connected and costs[entity] == NO_ANSWER else NO_ANSWER


@compiled
def _run(index: EdgeIndex, program: Ids, slots: Ids, stack: Costs) -> None:
    """Leave the costs of one query in `stack[0]`; the last place of the stack is spare."""
    top, spare = -1, stack.shape[0] - 1
    for row in range(len(program)):
        operation, first, second = program[row, 0], program[row, 1], program[row, 2]
        if operation == STEP:
            top += 1
            _step(index, slots[first], slots[second], stack[top])
        elif operation == ANCHOR:
            top += 1
            stack[top].fill(NO_ANSWER)
            stack[top, slots[first]] = 0
        elif operation == PROJECT:
            _project(index, slots[first], stack[top], stack[spare])
            for entity in range(stack.shape[1]):
                stack[top, entity] = stack[spare, entity]
        elif operation == COMPLEMENT:
            _complement(index, stack[top])
        else:
            top -= 1
            _join(operation, stack[top], stack[top + 1])


@compiled
def _table_costs(
    index: EdgeIndex, program: tuple[Ids, int], slots: Ids, answers: tuple[NDArray[np.int64], Ids], result: Costs
) -> None:
    """Fill `result` with the costs of the wanted answers of each query."""
    operations, depth = program
    offsets, values = answers
    stack = np.zeros((depth + 1, len(index.entity_groups) - 1), np.uint8)
    for query in range(len(slots)):
        _run(index, operations, slots[query], stack)
        for position in range(offsets[query], offsets[query + 1]):
            result[position] = stack[0, values[position]]
