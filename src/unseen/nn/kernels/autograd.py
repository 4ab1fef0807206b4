"""How gradients flow in every implementation: the forward pass keeps where extremes were for the backward pass.

With g = g_sum[v] + 2 m g_square[v] for every kept edge (u, r, v), the gradients of x[u] and w[r] are sums of g * w[r]
and g * x[u] (DistMult; TransE: of g; RotatE: of g times the other's conjugate), over edges by source and by relation.
The extremes add one term per node and column, at the edge that attained them, so they cost nodes, not edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.autograd.function import once_differentiable

from unseen.nn.kernels.definitions import Inputs, Message, Results, Wanted
from unseen.nn.kernels.edge_views import EdgeViews


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be computed, apart from the tensors."""

    edges: EdgeViews
    edge_mask: Bool[Tensor, " edge"] | None
    message: Message
    wanted: Wanted


class Arguments(NamedTuple):
    """Position of the edge that attains the maximum and the minimum, int32 [node, batch, dim]; -1 for the boundary."""

    maximum: Tensor | None
    minimum: Tensor | None


Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


@runtime_checkable
class Backend(Protocol):
    """Kernels on contiguous tensors."""

    def takes(self, x: Tensor, message: str) -> bool:
        """Whether the kernels compute on such tensors."""
        ...

    def forward(self, task: Task, inputs: Inputs, track: bool) -> tuple[Results, Arguments]:
        """The statistics, and where extremes are attained if `track`."""
        ...

    def backward(
        self, task: Task, inputs: Inputs, arguments: Arguments, gradients: Results, needed: tuple[bool, bool, bool]
    ) -> Gradients:
        """Gradients of x, relation and boundary from those of the statistics; None where nothing is needed or flows."""
        ...


def differentiable(backend: Backend, task: Task, inputs: Inputs) -> Results:
    """The statistics of a backend, as a differentiable function of its inputs."""
    x, relation, boundary = (value.contiguous() for value in inputs)
    if torch.is_grad_enabled() and any(value.requires_grad for value in inputs):
        results: Results = _Differentiable.apply(x, relation, boundary, backend, task)  # type: ignore[no-untyped-call]
        return results
    return backend.forward(task, (x, relation, boundary), False)[0]


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, relation: Tensor, boundary: Tensor, backend: Backend, task: Task) -> Results:
        ctx.set_materialize_grads(False)
        results, arguments = backend.forward(task, (x, relation, boundary), True)
        ctx.save_for_backward(x, relation, boundary, *arguments)
        ctx.backend, ctx.task = backend, task
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        x, relation, boundary, *arguments = ctx.saved_tensors
        total, squares, maximum, minimum = (None if value is None else value.contiguous() for value in gradients)
        found = ctx.backend.backward(
            ctx.task,
            (x, relation, boundary),
            Arguments(*arguments),
            (total, squares, maximum, minimum),
            tuple(ctx.needs_input_grad[:3]),
        )
        return (*found, None, None)
