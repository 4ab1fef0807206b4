"""The definition in plain torch: every message is written out, [edge, batch, dim]. Slow, large, and easy to check."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unseen.nn.kernels.definitions import Inputs, Message, Results, Wanted
from unseen.nn.kernels.edge_views import EdgeViews


def statistics(
    edges: EdgeViews,
    inputs: Inputs,
    edge_mask: Bool[Tensor, " edge"] | None,
    message: Message,
    wanted: Wanted,
) -> Results:
    """Statistics of the boundary and the messages of each node; torch differentiates them.

    The candidates of all nodes stand in one tensor, boundaries first, then kept edges in canonical order: the first
    candidate that attains an extreme is the one with the smallest index.
    """
    x, relation, boundary = inputs
    view = edges.by_target
    kept = torch.arange(edges.num_edges, device=x.device) if edge_mask is None else edge_mask.nonzero().flatten()
    messages = messages_of(message, x[view.source[kept]], relation[view.relation[kept]])
    values = torch.cat([boundary, messages])
    owners = torch.cat([torch.arange(len(x), device=x.device), view.target[kept].long()])
    return (
        _sum(values, owners, len(x)) if wanted.sum else None,
        _sum(values * values, owners, len(x)) if wanted.square_sum else None,
        _extreme(values, owners, len(x), "amax") if wanted.maximum else None,
        _extreme(values, owners, len(x), "amin") if wanted.minimum else None,
    )


def messages_of(
    message: Message, x: Float[Tensor, "edge batch dim"], relation: Float[Tensor, "edge batch dim"]
) -> Float[Tensor, "edge batch dim"]:
    """One message per edge, from the source's row and the relation's row."""
    if message == "distmult":
        return x * relation
    if message == "transe":
        return x + relation
    (real, imaginary), (cosine, sine) = x.chunk(2, dim=-1), relation.chunk(2, dim=-1)
    return torch.cat([real * cosine - imaginary * sine, real * sine + imaginary * cosine], dim=-1)


def _sum(
    values: Float[Tensor, "candidate batch dim"], owners: Int[Tensor, " candidate"], size: int
) -> Float[Tensor, "node batch dim"]:
    return values.new_zeros(size, *values.shape[1:]).index_add(0, owners, values)


def _extreme(
    values: Float[Tensor, "candidate batch dim"], owners: Int[Tensor, " candidate"], size: int, reduce: str
) -> Float[Tensor, "node batch dim"]:
    """The extreme of each owner's values, taken from the first of them that attains it."""
    index = owners[:, None, None].expand(values.shape)
    fixed = values.detach()
    extreme = fixed[:size].scatter_reduce(0, index, fixed, reduce)
    order = torch.arange(len(values), device=values.device)[:, None, None]
    candidate = torch.where(fixed == extreme[owners], order, len(values))
    first = torch.full(extreme.shape, len(values), device=values.device).scatter_reduce(0, index, candidate, "amin")
    return values.gather(0, first)
