"""One training step of GNN-QE in two channels: symbolic sets say which edges to hide, fuzzy sets are learned from.

Both channels run the same plan (`batch_plan`). Inner projections run without gradients; all outermost projections
run in one call, with gradients. The sets that inner projections give may be those of answering with known facts: what
visible edges lead to, and what is predicted beside it, so that the outermost ones learn from what they will be given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unseen.logic.algebra import Anchor, And, Not, Project
from unseen.logic.fuzzy import PRODUCT
from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
from unseen.methods.fuzzy_gnn.edge_following import follow
from unseen.methods.fuzzy_gnn.training_batch import ReadyPlan, ReadyStep, one_hot
from unseen.methods.fuzzy_gnn.traversal_dropout import traversal_mask, walked_edges

LOGIC = PRODUCT

TRACE = 1e-6
Believed = tuple[float, float]
"""How much of what is predicted counts beside what edges say: its largest membership, and its sharpness."""
Masks = list[Bool[Tensor, " edge"] | None]
Step = Callable[[ReadyStep, Tensor], Tensor]
ProjectNodes = Callable[[CompactGraph, Tensor, Tensor, Tensor | None], Tensor]


def visible_edges(compact: CompactGraph, plan: ReadyPlan, dropout: float, generator: torch.Generator) -> Masks:
    """The edges that each projection of the plan may see: the inner ones level by level, then the outer one.

    `dropout` is the probability that an edge on a walk is hidden.
    """
    if not dropout:
        return [None for _ in plan.projections]
    masks: Masks = []

    def hide(step: ReadyStep, sets: Tensor) -> None:
        walked = walked_edges(compact, sets, step.dropout_table)
        masks.append(traversal_mask(compact, walked, dropout, generator))

    def project(step: ReadyStep, sets: Tensor) -> Tensor:
        hide(step, sets)
        return follow(compact, sets, step.walks)

    pool = _run(compact, plan.inner, _nothing(compact), project)
    hide(plan.outer, plan.outer.parts(pool)[0])
    return masks


def execute_plan(
    compact: CompactGraph,
    plan: ReadyPlan,
    masks: Masks,
    project_nodes: ProjectNodes,
    beside_facts: Believed | None = None,
) -> Float[Tensor, "query node"]:
    """Memberships in the answers of every query, with gradients to the outermost projections only.

    With `beside_facts` inner projections follow the edges that they may see, too.
    """
    of_level = iter(masks)

    def project(step: ReadyStep, sets: Tensor) -> Tensor:
        visible = next(of_level)
        predicted = project_nodes(compact, sets, step.values, visible)
        if beside_facts is None:
            return predicted
        return torch.maximum(follow(compact, sets, step.walks, visible), believed(predicted, beside_facts))

    with torch.no_grad():
        pool = _run(compact, plan.inner, _nothing(compact), project)
    outer = project_nodes(compact, plan.outer.parts(pool)[0], plan.outer.values, masks[-1])
    return _run(compact, plan.top, outer, project)[plan.roots]


def known_answers(compact: CompactGraph, plan: ReadyPlan, masks: Masks) -> Float[Tensor, "query node"]:
    """Which nodes answer each query by following visible edges alone: 1 or 0."""
    of_level = iter(masks)

    def project(step: ReadyStep, sets: Tensor) -> Tensor:
        return follow(compact, sets, step.walks, next(of_level))

    with torch.no_grad():
        pool = _run(compact, plan.inner, _nothing(compact), project)
        outer = follow(compact, plan.outer.parts(pool)[0], plan.outer.walks, masks[-1])
        return _run(compact, plan.top, outer, project)[plan.roots]


def believed(predicted: Float[Tensor, "row node"], how: Believed) -> Float[Tensor, "row node"]:
    """Predicted memberships as they count beside known facts: to a power, and at most so large.

    A trace of the membership itself stays, so that what is unlikely keeps its order in products of many parts, where
    powers alone would all round to zero.
    """
    ceiling, sharpness = how
    return ceiling / (1 + TRACE) * (predicted**sharpness + TRACE * predicted)


def _run(compact: CompactGraph, steps: Sequence[ReadyStep], pool: Tensor, project: Step) -> Float[Tensor, "pool node"]:
    """The pool with the results of all steps appended."""
    for step in steps:
        if step.kind is Anchor:
            found = one_hot(step.values, compact.num_nodes)
        elif step.kind is Project:
            found = project(step, step.parts(pool)[0])
        else:
            found = _combine(step, pool)
        pool = torch.cat([pool, found])
    return pool


def _combine(step: ReadyStep, pool: Float[Tensor, "pool node"]) -> Float[Tensor, "row node"]:
    """One logical operator on whole matrices: row i of the result comes from row i of every part."""
    parts = step.parts(pool)
    if step.kind is Not:
        return LOGIC.negation(parts[0])
    return reduce(LOGIC.both if step.kind is And else LOGIC.either, parts)


def _nothing(compact: CompactGraph) -> Float[Tensor, "0 node"]:
    return torch.zeros(0, compact.num_nodes, device=compact.edges.device)
