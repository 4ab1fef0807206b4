"""The atoms of a stage: projections from as many heads each, whose tails are computed block by block.

The membership of tail t in a projection by r from heads h of membership m_h is

    max over h of  m_h (*) p_r(h, t)

or, with `heads="any"`, 1 - product over h of (1 - m_h (*) p_r(h, t)), as if heads were independent reasons. Here (*) is
the logic's conjunction and p the membership of the link: with known facts 1 for an observed one and at most `ceiling`
for others. Observed ones are told apart by up to a thousandth, so that a beam that cannot hold all of them keeps those
that the method finds likelier too. Cost: heads x dim x entities; memory: one part of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.logic.fuzzy import LOGICS, PRODUCT, Logic
from unseen.methods.cqd_beam.graph_links import GraphLinks
from unseen.methods.cqd_beam.memberships import RowScales, min_max, softmax, unscaled
from unseen.methods.cqd_beam.options import BeamOptions

KNOWN_SPREAD = 1e-3
"""How far below 1 the membership of an observed link may lie."""
ALMOST_ONE = 1 - 2**-20
"""Largest membership whose complement still has a logarithm."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """`count` projections of `width` heads each; columns have count x width rows, projection by projection."""

    links: GraphLinks
    options: BeamOptions
    width: int
    towards: Float[Tensor, "row dim"]
    scales: RowScales
    heads: Float[Tensor, " row"]
    """Memberships of the heads."""
    keys: Int[Tensor, " row"] | None
    """Where the observed links of each row are, with known facts."""

    @classmethod
    def of(
        cls,
        links: GraphLinks,
        options: BeamOptions,
        entities: Int[Tensor, "projection head"],
        memberships: Float[Tensor, "projection head"],
        relations: Int[Tensor, " projection"],
    ) -> Atoms:
        """Everything about the rows that does not depend on the block."""
        heads, steps = entities.reshape(-1), relations.repeat_interleave(entities.shape[1])
        towards = links.scores.towards(heads, steps)
        keys = links.facts.observed.keys(heads, steps)
        scales = _scales(links, options, towards, steps, keys)
        known = keys if options.known_facts else None
        return cls(links, options, entities.shape[1], towards, scales, memberships.reshape(-1), known)

    @property
    def count(self) -> int:
        """How many projections."""
        return len(self.heads) // self.width

    @property
    def logic(self) -> Logic:
        """What joins head and link."""
        return LOGICS[self.options.logic]

    def reached(self, start: int, stop: int) -> Float[Tensor, "projection block"]:
        """Memberships of a block of entities; 0 where they are not candidates."""
        if not self.links.facts.candidates_in(start, stop):
            return torch.zeros(self.count, stop - start, device=self.links.device)
        step = max(1, self.links.most_cells // (stop - start) // self.width)
        parts = [self._best(first, min(first + step, self.count), start, stop) for first in range(0, self.count, step)]
        values = parts[0] if len(parts) == 1 else torch.cat(parts)
        return self.links.only_candidates_(values, start, 0.0)

    def _best(self, first: int, last: int, start: int, stop: int) -> Float[Tensor, "some block"]:
        """For some projections: all their heads together, as many of them at a time as there is room for."""
        part = min(self.width, max(1, self.links.most_cells // (stop - start)))
        parts = (
            self.carried(self._rows(first, last, head, head + part), start, stop).view(last - first, -1, stop - start)
            for head in range(0, self.width, part)
        )
        if self.width == 1:
            return next(parts).squeeze(1)
        if self.options.heads == "any":
            return (
                reduce(torch.add, (found.clamp_(max=ALMOST_ONE).neg_().log1p_().sum(1) for found in parts))
                .expm1_()
                .neg_()
            )
        return reduce(torch.maximum, (found.amax(dim=1) for found in parts))

    def carried(self, rows: Tensor | slice, start: int, stop: int) -> Float[Tensor, "some block"]:
        """For some rows: the head's membership joined with that of the link to every entity of the block."""
        link = self.scales.apply_(self.links.logits(self.towards[rows], start, stop), rows)
        heads = self.heads[rows].unsqueeze(1)
        if self.keys is None:
            return self._joined(link, heads, 1.0)
        row, place = self.links.facts.observed.tails(self.keys[rows], start, stop)
        known = (row, place)
        certain = self.logic.both(1 - KNOWN_SPREAD * (1 - link[known]), heads[row, 0])
        joined = self._joined(link, heads, self.options.ceiling)
        joined[known] = certain
        return joined

    def _joined(self, link: Tensor, heads: Tensor, ceiling: float) -> Tensor:
        """Memberships of links, at most `ceiling`, joined with those of their heads; product logic takes one pass."""
        if self.logic is PRODUCT:
            return link.mul_(ceiling * heads)
        return self.logic.both(link.mul_(ceiling) if ceiling < 1 else link, heads)

    def _rows(self, first: int, last: int, head: int, end: int) -> Tensor | slice:
        """The rows of some projections, of some of their heads."""
        if self.width <= end - head:
            return slice(first * self.width, last * self.width)
        projections = torch.arange(first, last, device=self.links.device)
        heads = torch.arange(head, min(end, self.width), device=self.links.device)
        return (projections.unsqueeze(1) * self.width + heads).reshape(-1)


def _in_parts(links: GraphLinks, towards: Tensor, measure: Callable[[Tensor, slice], RowScales]) -> RowScales:
    """The scales of all rows, measured as many rows at a time as there is room for with the smallest block."""
    most = max(1, links.most_cells // links.smallest_block)
    parts = [slice(first, first + most) for first in range(0, len(towards), most)]
    found = [measure(towards[part], part) for part in parts]
    columns = (torch.cat([getattr(scales, name) for scales in found]) for name in ("factor", "shift"))
    return RowScales(found[0].scale, *columns)


def _scales(links: GraphLinks, options: BeamOptions, towards: Tensor, relations: Tensor, keys: Tensor) -> RowScales:
    """The scale of each row; min-max and softmax look at all candidates for it."""
    count, device = len(towards), links.device
    if options.scale == "min-max":
        return _in_parts(links, towards, lambda part, _: min_max(links.candidate_logits(part), len(part), device))
    if options.scale == "softmax":
        degrees = links.facts.observed.degrees(keys).float()
        return _in_parts(
            links, towards, lambda part, rows: softmax(links.candidate_logits(part), degrees[rows], device)
        )
    if options.scale == "calibrated" and links.affine is not None:
        return RowScales("calibrated", links.affine[0, relations], links.affine[1, relations])
    return unscaled("sigmoid", count, device)
