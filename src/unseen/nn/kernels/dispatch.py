"""The one call for relational message passing, and the choice of who computes it."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unseen.nn.kernels import reference
from unseen.nn.kernels.autograd import Backend, Task, differentiable
from unseen.nn.kernels.definitions import (
    ALL,
    MESSAGES,
    Aggregate,
    Implementation,
    Inputs,
    Message,
    Results,
    Statistics,
    Wanted,
)
from unseen.nn.kernels.edge_views import EdgeViews

WANTED = {
    "sum": Wanted(sum=True),
    "mean": Wanted(sum=True),
    "max": Wanted(maximum=True),
    "min": Wanted(minimum=True),
}


def relational_statistics(  # noqa: PLR0913
    edges: EdgeViews,
    x: Float[Tensor, "node batch dim"],
    relation: Float[Tensor, "relation batch dim"],
    boundary: Float[Tensor, "node batch dim"],
    *,
    message: Message = "distmult",
    edge_mask: Bool[Tensor, " edge"] | None = None,
    implementation: Implementation | None = None,
) -> Statistics:
    """Sum, sum of squares, maximum and minimum of each node's messages and boundary, in one pass over the edges.

    `unseen.nn.kernels.definitions` has the equations and the rule for ties. Differentiable once, with respect to x,
    relation and boundary. Inputs are expected to be finite; a NaN shows in the sums, not always in the extremes.

    Args:
        edges: The edges, on the device of the tensors.
        x: A row per node.
        relation: A row per *directed* relation.
        boundary: One more message for each node, with or without edges.
        message: How a source's row and a relation's row make a message.
        edge_mask: True for the edges to keep, in the canonical order of `edges`, the same for the whole batch.
        implementation: `reference`, `cpu` or `gpu`; by default the fastest that takes these tensors.

    Cost: forward reads two rows of batch * dim values per edge, backward reads six (GPU) or reads four and writes two
    (CPU). Nothing of size edge * batch * dim is made, except by `reference`; two int32 per node and column are kept for
    gradients.
    """
    inputs = (x, relation, boundary)
    _check(edges, inputs, message, edge_mask)
    total, squares, maximum, minimum = _compute(edges, inputs, edge_mask, message, ALL, implementation)
    assert total is not None and squares is not None and maximum is not None and minimum is not None  # noqa: S101, PT018
    return Statistics(total, squares, maximum, minimum)


def relational_aggregate(  # noqa: PLR0913
    edges: EdgeViews,
    x: Float[Tensor, "node batch dim"],
    relation: Float[Tensor, "relation batch dim"],
    boundary: Float[Tensor, "node batch dim"],
    *,
    aggregate: Aggregate = "sum",
    message: Message = "distmult",
    edge_mask: Bool[Tensor, " edge"] | None = None,
    implementation: Implementation | None = None,
) -> Float[Tensor, "node batch dim"]:
    """One statistic alone; arguments as for `relational_statistics`. The mean counts the boundary as a message."""
    inputs = (x, relation, boundary)
    _check(edges, inputs, message, edge_mask)
    results = _compute(edges, inputs, edge_mask, message, WANTED[aggregate], implementation)
    result = next(result for result in results if result is not None)
    if aggregate == "mean":
        result = result / (degrees(edges, edge_mask) + 1).to(result.dtype)[:, None, None]
    return result


def degrees(edges: EdgeViews, edge_mask: Bool[Tensor, " edge"] | None = None) -> Int[Tensor, " node"]:
    """How many kept edges lead to each node, int32; the boundary is not counted."""
    offsets = edges.by_target.offsets
    if edge_mask is None:
        return offsets.diff()
    kept_before = torch.nn.functional.pad(edge_mask.cumsum(0, dtype=torch.int32), (1, 0))
    return kept_before[offsets.long()].diff()


def available(device: torch.device | str = "cpu") -> list[Implementation]:
    """The implementations that can run on tensors of a device, the fastest last."""
    fast: Implementation = "cpu" if torch.device(device).type == "cpu" else "gpu"
    return ["reference"] if fast == "gpu" and find_spec("triton") is None else ["reference", fast]


def _compute(
    edges: EdgeViews,
    inputs: Inputs,
    edge_mask: Tensor | None,
    message: Message,
    wanted: Wanted,
    implementation: Implementation | None,
) -> Results:
    chosen = implementation or _fastest(inputs[0], message)
    if chosen == "reference" or inputs[0].numel() == 0:
        return reference.statistics(edges, inputs, edge_mask, message, wanted)
    backend = _backend(chosen)
    if not backend.takes(inputs[0], message):
        raise ValueError(f"{chosen} does not compute {message} on {inputs[0].dtype} {list(inputs[0].shape)}")
    return differentiable(backend, Task(edges, edge_mask, message, wanted), inputs)


def _fastest(x: Tensor, message: Message) -> Implementation:
    """The fastest implementation that takes such tensors."""
    name = available(x.device)[-1]
    return name if name == "reference" or _backend(name).takes(x, message) else "reference"


def _backend(name: Implementation) -> Backend:
    """The kernels of that name; numba and triton are imported here, at first use."""
    if name == "cpu":
        from unseen.nn.kernels import cpu

        return cpu
    from unseen.nn.kernels import gpu

    return gpu


def _check(edges: EdgeViews, inputs: Inputs, message: str, edge_mask: Tensor | None) -> None:
    """Say what does not fit before a kernel would read past the end of something."""
    x, relation, boundary = inputs
    rest = tuple(x.shape[1:])
    shapes = {"x": (edges.num_nodes, *rest), "relation": (edges.num_relations, *rest), "boundary": tuple(x.shape)}
    for (name, shape), value in zip(shapes.items(), (x, relation, boundary), strict=True):
        if value.dim() != 3 or tuple(value.shape) != shape:
            raise ValueError(f"{name} has shape {tuple(value.shape)}; these edges need {shape}")
        if value.dtype != x.dtype or value.device != edges.device:
            raise ValueError(f"{name} is {value.dtype} on {value.device}, not {x.dtype} on {edges.device}")
    if message not in MESSAGES:
        raise ValueError(f"there is no message {message!r}; available: {', '.join(MESSAGES)}")
    if message == "rotate" and x.shape[2] % 2:
        raise ValueError(f"rotate needs an even dim, real parts then imaginary parts, not {x.shape[2]}")
    if edge_mask is not None and (edge_mask.shape != (edges.num_edges,) or edge_mask.dtype != torch.bool):
        raise ValueError(f"edge_mask must be bool [{edges.num_edges}], not {edge_mask.dtype} {list(edge_mask.shape)}")
