"""What answering on a graph takes: said before it is tried, so that a large graph gets a message and not a crash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from unseen.errors import TooLarge
from unseen.graph import KnowledgeGraph
from unseen.graph.control_groups import memory_groups
from unseen.methods.fuzzy_gnn.neural_projector import NUMBERS_TO_ANSWER
from unseen.nn.kernels.cpu_layer import UNIT

if TYPE_CHECKING:
    from unseen.methods.zero_shot.zero_shot import ZeroShotShape

BYTES_OF_EDGE = 2 * 3 * 24
"""Two directions, by target, source and relation: five int32 columns and a share of the key each."""
BYTES_IN_ANY_CASE = 150_000_000
"""Compiled loops, weights, and what one frontier takes."""
NUMBERS_IN_ONE_PASS = 4
"""float32 numbers for each (node, dim) where a layer is one pass: the boundary, a state, the next one, a readout."""
EXACT = "use --method exact, which takes no more than the graph"
OTHERS = "use --method edge-type, which predicts with far less, or exact"


def bytes_needed(graph: KnowledgeGraph, shape: ZeroShotShape, device: torch.device | None = None) -> int:
    """About how much memory one projection of one set takes, the sorted edges included."""
    cells = shape.dim * (len(graph.connected_entities) + 2 * graph.vocabulary.num_directed_relations)
    is_one_pass = (device is None or device.type == "cpu") and shape.message == "distmult" and shape.dim % UNIT == 0
    numbers = NUMBERS_IN_ONE_PASS if is_one_pass else NUMBERS_TO_ANSWER
    return BYTES_OF_EDGE * graph.num_triples + 4 * numbers * cells


def bytes_free(device: torch.device | None = None) -> int | None:
    """Memory that the device, or else this machine, could still give; None where it does not say.

    In a container that is what the container may still take.
    """
    if device is not None and device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    rooms = [_machine_room(), *(max(0, group.limit - group.used) for group in memory_groups())]
    return min((room for room in rooms if room is not None), default=None)


def check_memory(
    graph: KnowledgeGraph, shape: ZeroShotShape, device: torch.device | None = None, remedy: str = OTHERS
) -> None:
    """Refuse a graph that is too large for the machine, and say what would work."""
    check_room("the zero-shot model needs", bytes_needed(graph, shape, device), graph, device, remedy)


def check_room(
    who: str, needed: int, graph: KnowledgeGraph, device: torch.device | None = None, remedy: str = OTHERS
) -> None:
    """Raise an error if less memory is free than is needed."""
    free = bytes_free(device)
    if free is not None and needed > free:
        raise TooLarge(
            f"{who} about {needed / 2**30:.1f} GiB for a graph of {graph.num_triples:,} triples, "
            f"and {free / 2**30:.1f} GiB are free; {remedy}"
        )


def _machine_room() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
        return found["MemAvailable"] * 1024
    except (OSError, KeyError, ValueError, IndexError):
        names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") if "SC_AVPHYS_PAGES" in names else None
