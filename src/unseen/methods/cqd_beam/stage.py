"""One stage of a batch: the memberships of all entities in many expressions, one block of entities after the other.

The heads of every projection are known (an anchor, or a beam); what comes out are blocks [expression, block] that are
used and forgotten. Equal atoms of different queries are computed once. Memory: a block, never all entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unseen.logic.algebra import Anchor, Project, Query
from unseen.logic.stopping import check_stop
from unseen.methods.cqd_beam.atoms import KNOWN_SPREAD, Atoms
from unseen.methods.cqd_beam.beams import Beams
from unseen.methods.cqd_beam.expressions import Expressions, leaves_of
from unseen.methods.cqd_beam.graph_links import GraphLinks
from unseen.methods.cqd_beam.known_answers import KnownAnswers
from unseen.methods.cqd_beam.options import BeamOptions


class Stage:
    """Expressions on one graph; its blocks can be walked more than once and are the same each time."""

    @torch.no_grad()
    def __init__(self, links: GraphLinks, options: BeamOptions, beams: Beams, queries: Sequence[Query]) -> None:
        self.links, self.options = links, options
        leaves = leaves_of(queries)
        anchored = [leaf for leaf in leaves if isinstance(leaf, Project) and isinstance(leaf.source, Anchor)]
        inner = [leaf for leaf in leaves if isinstance(leaf, Project) and not isinstance(leaf.source, Anchor)]
        alone = [leaf for leaf in leaves if isinstance(leaf, Anchor)]
        self.atoms = [*self._anchored(anchored), *self._inner(inner, beams)]
        self.alone: Int[Tensor, " anchor"] = self._ids([leaf.entity for leaf in alone])
        self.known: KnownAnswers | None = None
        self.expressions = Expressions.of(queries, [*anchored, *inner, *alone], links.device)

    @property
    def block_size(self) -> int:
        """How many entities a block should have."""
        heads = max((min(512, len(atoms.heads)) for atoms in self.atoms), default=1)
        return self.links.block_size(max(heads, len(self.expressions.leaves), self.expressions.count))

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Float[Tensor, "row block"]]]:
        """The first entity of every block and the memberships of its entities."""
        for start, stop in self.links.blocks(size or self.block_size):
            check_stop()
            yield start, self.values(start, stop)

    @torch.no_grad()
    def values(self, start: int, stop: int) -> Float[Tensor, "row block"]:
        """Memberships of a range of entities in all expressions."""
        parts = [atoms.reached(start, stop) for atoms in self.atoms]
        if len(self.alone):
            parts.append((self.alone.unsqueeze(1) == torch.arange(start, stop, device=self.links.device)).float())
        leaves = parts[0] if len(parts) == 1 else torch.cat(parts)
        values = self.expressions.values(leaves, self.options.operators, self.options.negation)
        return values if self.known is None else self.known.lift_(values, start)

    def with_known_answers(self, queries: Sequence[Query]) -> Stage:
        """This stage, whose expressions are these queries, with what the graph itself answers never lost."""
        if self.options.known_facts and self.options.beam:
            self.known = KnownAnswers(self.links.graph, queries, KNOWN_SPREAD)
        return self

    def _anchored(self, projections: Sequence[Project]) -> list[Atoms]:
        """Projections from one entity each, which is certain."""
        if not projections:
            return []
        heads = self._ids([projection.source.entity for projection in projections]).unsqueeze(1)  # type: ignore[attr-defined]
        certain = torch.ones(heads.shape, device=self.links.device)
        return [Atoms.of(self.links, self.options, heads, certain, self._relations(projections))]

    def _inner(self, projections: Sequence[Project], beams: Beams) -> list[Atoms]:
        """Projections from the beams of inner variables."""
        if not projections:
            return []
        heads = beams.of([projection.source for projection in projections])
        return [Atoms.of(self.links, self.options, *heads, self._relations(projections))]

    def _relations(self, projections: Sequence[Project]) -> Int[Tensor, " projection"]:
        return self._ids([projection.relation for projection in projections])

    def _ids(self, values: Sequence[str | int]) -> Int[Tensor, " _"]:
        return torch.tensor([int(value) for value in values], dtype=torch.int64, device=self.links.device)
