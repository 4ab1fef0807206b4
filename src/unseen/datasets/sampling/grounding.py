"""Candidate queries: a shape grounded backwards from an answer, at random or in all ways.

Candidate number i has its own random stream, a function of (key, i) alone: whatever the batches and the threads, it is
the same candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.program import grounding_steps
from unseen.graph.compiling import compiled, inner
from unseen.graph.vocabulary import inverse_relation, is_inverse, undirected_relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.edge_index import EdgeIndex
    from unseen.logic.shapes import Shape

    Ids = NDArray[np.int32]
    Plan = tuple[Ids, Ids, Ids, Ids]
    Stream = tuple[np.uint64, np.int64, np.int64]

ANY, MISSING, OBSERVED = range(3)
REDRAWS = 40
"""How often a relation that leads straight back is drawn anew before the attempt is given up, as published."""


@dataclass(frozen=True)
class Grounder:
    """Draws candidate queries of one shape from one complete graph.

    The root answer is uniform over connected entities; each relation is uniform over the distinct ones that enter the
    entity at hand, unless it leads straight back; then one of its sources is uniform. The published code compared
    halves of ids in a numbering that did not suit (`compatible`), so true inverses passed.
    """

    index: EdgeIndex
    shape: Shape
    compatible: bool = False

    @cached_property
    def _steps(self) -> Ids:
        steps = grounding_steps(self.shape, across_branches=not self.compatible)
        return np.array([(step.slot, step.relation, step.at, step.after, step.positive) for step in steps], np.int32)

    @cached_property
    def _directed(self) -> tuple[Ids, Ids]:
        """For each directed relation its inverse, and its guard: two with the same guard do not follow each other."""
        count = self.index.num_directed_relations
        relations = range(count)
        inverses = np.array([inverse_relation(r) for r in relations], np.int32)
        if self.compatible:
            published = [undirected_relation(r) + is_inverse(r) * (count // 2) for r in relations]
            return inverses, np.array([r // 2 for r in published], np.int32)
        return inverses, np.array([undirected_relation(r) for r in relations], np.int32)

    @cached_property
    def roots(self) -> Ids:
        """All entities with an edge."""
        return np.flatnonzero(np.diff(self.index.entity_groups)).astype(np.int32)

    def draw(self, key: int, first: int, count: int, missing: int = -1) -> tuple[Ids, NDArray[np.bool_]]:
        """Candidates number `first` and following, and which of them could be grounded.

        With `missing`, so many of the positive links, at random, are missing edges and the others observed ones, while
        all negated links are missing: the root then tends to be an answer that only the complete graph refutes.
        """
        slots = np.zeros((count, len(self.shape.slots)), np.int32)
        grounded = np.zeros(count, bool)
        if len(self.roots):
            stream = (np.uint64(key), np.int64(first), np.int64(missing))
            _draw(self.index, (self._steps, *self._directed, self.roots), stream, slots, grounded)
        return slots, grounded

    def everything(self, limit: int) -> Ids | None:
        """All distinct candidates that can ever be drawn, sorted, or nothing if there are more than `limit` ways."""
        slots = np.zeros((len(self.roots), len(self.shape.slots)), np.int32)
        nodes = self.roots[:, None]
        inverses, guard = self._directed
        for slot, is_relation, at, after, _ in self._steps.tolist():
            here = nodes[:, at + 1]
            if not is_relation:
                slots[:, slot] = here
                nodes = np.column_stack([nodes, here])
                continue
            rows, groups, heads = self._entering(here, limit)
            if len(rows) > limit:
                return None
            slots, nodes = slots[rows], np.column_stack([nodes[rows], heads])
            slots[:, slot] = inverses[self.index.group_relation[groups]]
            if after >= 0:
                before = slots[:, self._steps[after, 0]]
                kept = (guard[slots[:, slot]] != guard[before]) | (slots[:, slot] == before)
                slots, nodes = slots[kept], nodes[kept]
        return np.unique(slots, axis=0)

    def _entering(self, entities: Ids, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Ids]:
        """Every edge into the entities: the row of the entity, the group of the edge, its head."""
        index = self.index
        starts = index.group_start[index.entity_groups[entities]]
        lengths = index.group_start[index.entity_groups[entities + 1]] - starts
        if int(lengths.sum()) > limit:
            rows = np.zeros(limit + 1, np.int64)
            return rows, rows, rows.astype(np.int32)
        rows = np.repeat(np.arange(len(entities)), lengths)
        positions = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(rows))
        groups = np.searchsorted(index.group_start, positions, side="right") - 1
        return rows, groups, index.targets[positions]


def stream_key(*parts: object) -> int:
    """64 bits that stand for the parts: the key of a random stream."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@compiled
def _mixed(value: np.uint64) -> np.uint64:
    """SplitMix64's finaliser."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inner
def _below(state: NDArray[np.uint64], bound: int) -> np.int64:
    """A number below `bound`, uniform up to 2^-32 of it; moves the state on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.int64(((_mixed(state[0]) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inner
def _draw_edge(
    index: EdgeIndex, at: int, before: int, kind: int, relations: tuple[Ids, Ids], state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Directed relation and source of an edge into `at` that does not lead straight back over `before`; or -1, -1.

    It is any edge, a missing one or an observed one, as `kind` says.
    """
    inverses, guard = relations
    first = index.entity_groups[at]
    count = index.entity_groups[at + 1] - first
    for _ in range(REDRAWS):
        group = first + _below(state, count)
        relation = inverses[index.group_relation[group]]
        start = index.group_missing[group] if kind == MISSING else index.group_start[group]
        end = index.group_missing[group] if kind == OBSERVED else index.group_start[group + 1]
        barred = before >= 0 and relation != before and guard[relation] == guard[before]
        if start < end and not barred:
            return relation, index.targets[start + _below(state, end - start)]
    return -1, -1


@inner
def _ground(
    index: EdgeIndex, plan: Plan, nodes: Ids, wanted: tuple[int, int], state: NDArray[np.uint64], slots: Ids
) -> bool:
    """Fill the slots of one candidate; `nodes[i + 1]` is the source reached by step i, `nodes[0]` the root."""
    steps, inverses, guard, roots = plan
    missing, left = wanted
    nodes[0] = roots[_below(state, len(roots))]
    for step in range(len(steps)):
        slot, at, after = steps[step, 0], steps[step, 2], steps[step, 3]
        nodes[step + 1] = slots[slot] = nodes[at + 1]
        if steps[step, 1] == 0:
            continue
        kind = ANY if missing < 0 else MISSING
        if missing >= 0 and steps[step, 4]:
            kind = MISSING if _below(state, left) < missing else OBSERVED
            missing -= kind == MISSING
            left -= 1
        before = slots[steps[after, 0]] if after >= 0 else np.int32(-1)
        slots[slot], nodes[step + 1] = _draw_edge(index, nodes[at + 1], before, kind, (inverses, guard), state)
        if slots[slot] < 0:
            return False
    return True


@compiled
def _draw(index: EdgeIndex, plan: Plan, stream: Stream, slots: Ids, grounded: NDArray[np.bool_]) -> None:
    """Fill `slots` with candidates; each restarts the random state from its own number."""
    key, first, missing = stream
    positive = plan[0][:, 4].sum()
    nodes = np.zeros(len(plan[0]) + 1, np.int32)
    state = np.zeros(1, np.uint64)
    for candidate in range(len(slots)):
        state[0] = _mixed(key ^ _mixed(np.uint64(first + candidate)))
        grounded[candidate] = _ground(index, plan, nodes, (missing, positive), state, slots[candidate])
