"""How much of a graph the network looks at for one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.errors import UnseenError

if TYPE_CHECKING:
    import torch

    from unseen.graph import KnowledgeGraph

FULL = "full"
EFFORTS = ("fast", "normal", FULL)


@dataclass(frozen=True)
class Budget:
    """The limits of one projection."""

    triples: int
    """Graphs of at most so many triples are read as a whole."""
    nodes: int
    """Entities of a frontier."""
    edges: int
    """Directed edges of those that are not hubs."""
    touched: int
    """Entities that are met while a frontier is looked for."""
    looks: int
    """Edges that are looked at meanwhile."""


BUDGETS = {
    "fast": Budget(50_000, 4_000, 150_000, 1 << 15, 100_000),
    "normal": Budget(400_000, 16_000, 600_000, 1 << 16, 400_000),
}


def checked_effort(effort: str) -> str:
    """The name, checked to be one of `EFFORTS`."""
    if effort not in EFFORTS:
        raise UnseenError(f"there is no effort {effort!r}: choose one of {', '.join(EFFORTS)}")
    return effort


def budget_for(graph: KnowledgeGraph, effort: str, device: torch.device) -> Budget | None:
    """The limits for a graph; None if all of it is read: a small graph, a GPU, or full effort."""
    budget = BUDGETS.get(checked_effort(effort))
    return None if budget is None or device.type != "cpu" or graph.num_triples <= budget.triples else budget
