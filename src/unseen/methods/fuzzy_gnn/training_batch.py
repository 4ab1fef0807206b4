"""A batch of training queries, made ready on the host while the device is busy with the batch before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.logic.algebra import Anchor, Project, Query
from unseen.methods.fuzzy_gnn.batch_plan import Plan, Step
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.edge_following import Walks, upload
from unseen.methods.fuzzy_gnn.traversal_dropout import RelationTable

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReadyStep:
    """A step of a plan on the device; `values` are nodes (anchors) or the model's relations (projections)."""

    kind: type[Query]
    operands: tuple[Int[Tensor, " row"], ...]
    values: Int[Tensor, " value"]
    of_projection: tuple[Walks, RelationTable] | None = None

    @property
    def walks(self) -> Walks:
        """How to follow the relations of a projection."""
        return self._of_projection[0]

    @property
    def dropout_table(self) -> RelationTable:
        """Which rows of a projection share a relation."""
        return self._of_projection[1]

    @property
    def _of_projection(self) -> tuple[Walks, RelationTable]:
        if self.of_projection is None:
            raise TypeError(f"a step of kind {self.kind.__name__} follows no relation")
        return self.of_projection

    def parts(self, pool: Float[Tensor, "pool node"]) -> list[Float[Tensor, "row node"]]:
        """The rows of the pool that the step takes, part by part."""
        return [pool[rows] for rows in self.operands]


@dataclass(frozen=True, eq=False)
class ReadyPlan:
    """A plan on the device."""

    inner: tuple[ReadyStep, ...]
    outer: ReadyStep
    top: tuple[ReadyStep, ...]
    roots: Int[Tensor, " query"]

    @classmethod
    def of(cls, compact: CompactGraph, queries: Sequence[Query]) -> ReadyPlan:
        """The plan of queries on a graph: everything that takes the host's time, and one copy to the device."""
        plan = Plan.of(queries)
        steps = [*plan.inner, plan.outer, *plan.top]
        columns = [_columns(compact, step) for step in steps]
        flat = [column for of_step in columns for column in of_step]
        uploaded = iter(upload([*flat, plan.roots], compact.edges.device))
        ready = [_ready(step, of_step, uploaded) for step, of_step in zip(steps, columns, strict=True)]
        cut = len(plan.inner)
        return cls(tuple(ready[:cut]), ready[cut], tuple(ready[cut + 1 :]), next(uploaded))

    @property
    def projections(self) -> Iterator[ReadyStep]:
        """The steps that project: the inner ones level by level, then the outer one."""
        yield from (step for step in self.inner if step.kind is Project)
        yield self.outer


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Queries with their answers on one graph.

    `walked` is the plan whose traversal is hidden: with several processes that of the whole batch, of which `plan` is
    this process's share; else the same. `answers` are positions in the flattened matrix [query, node].
    """

    compact: CompactGraph
    plan: ReadyPlan
    walked: ReadyPlan
    answers: Int[Tensor, " answer"]

    @classmethod
    def of(
        cls,
        compact: CompactGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer]],
        whole_batch: Sequence[Query] | None = None,
    ) -> TrainingBatch:
        """`answers[i]` are the entities that answer query i; those without an edge are not looked for."""
        plan = ReadyPlan.of(compact, queries)
        walked = plan if whole_batch is None else ReadyPlan.of(compact, whole_batch)
        positions = upload([_positions(compact, answers)], compact.edges.device)[0]
        return cls(compact, plan, walked, positions)


def one_hot(nodes: Int[Tensor, " row"], num_nodes: int) -> Float[Tensor, "row node"]:
    """The sets of single nodes; the number one past the last node stands for none."""
    sets = torch.zeros(len(nodes), num_nodes + 1, device=nodes.device)
    return sets.scatter_(1, nodes[:, None], 1.0)[:, :num_nodes]


def _positions(compact: CompactGraph, answers: Sequence[NDArray[np.integer]]) -> Ids:
    rows = np.repeat(np.arange(len(answers)), [len(entities) for entities in answers])
    nodes = compact.node_of_entity[np.concatenate([np.empty(0, np.int64), *answers])]
    positions: Ids = (rows * compact.num_nodes + nodes)[nodes >= 0]
    return positions


def _columns(compact: CompactGraph, step: Step) -> list[Ids]:
    """Everything about a step that the device needs, as columns."""
    parts = list(step.operands.T)
    if step.kind is Anchor:
        nodes = compact.node_of_entity[step.values]
        return [*parts, np.where(nodes < 0, compact.num_nodes, nodes)]
    if step.kind is Project:
        relations = compact.relations_of(step.values)
        table = RelationTable.columns(relations, compact.edges.num_relations)
        return [*parts, *Walks.columns(compact, relations), *table]
    return [*parts, step.values]


def _ready(step: Step, columns: Sequence[Ids], uploaded: Iterator[Tensor]) -> ReadyStep:
    """The step from its columns on the device, which come in the order of `_columns`."""
    operands = tuple(next(uploaded) for _ in step.operands.T)
    values = next(uploaded)
    if step.kind is not Project:
        return ReadyStep(step.kind, operands, values)
    lengths = columns[len(operands) + 1]
    walks = Walks(values, next(uploaded), next(uploaded), num_pairs=int(lengths.sum()))
    num_distinct = int(columns[-2].max(initial=-1)) + 1
    table = RelationTable(next(uploaded), next(uploaded), num_distinct)
    return ReadyStep(step.kind, operands, values, (walks, table))
