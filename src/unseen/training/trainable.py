"""What the loop asks of a method, and the methods it can make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from unseen.methods.gnn_qe import Answering, Architecture, GnnQe, Objective
from unseen.training.config import GnnQeConfig, TrainingConfig
from unseen.training.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query


class Trainable(Protocol):
    """A method with weights (a torch module) that learns from queries and their answers."""

    def prepare(
        self,
        graph: KnowledgeGraph,
        queries: Sequence[Query],
        answers: Sequence[NDArray[np.integer[Any]]],
        whole_batch: Sequence[Query] | None = None,
    ) -> Any:
        """What the host has to do for a batch; `whole_batch` if `queries` are one process's share of it."""
        ...

    def losses(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss of each query of a prepared batch; all randomness comes from `generator`."""
        ...


def chosen_device(wanted: str, local_rank: int = 0) -> torch.device:
    """The device of a name; `auto` is this process's GPU if there is one."""
    import torch

    if wanted == "auto":
        return torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ConfigError(f"there is no device {wanted!r}: use auto, cpu, cuda or cuda:1") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"the device {wanted} is asked for, but torch finds no GPU here")
    return torch.device("cuda", local_rank) if wanted == "cuda" else device


def make_method(config: TrainingConfig, relation_names: Sequence[str], *, known_facts: bool = True) -> GnnQe:
    """A method with fresh weights, as the settings and their seed say."""
    import torch

    if not isinstance(config, GnnQeConfig):
        raise ConfigError(f"no method is trained with {type(config).__name__}")
    memory = int(config.memory_gib * 2**30) or None
    shape = Architecture(
        config.dim,
        config.layers,
        config.hidden_dim,
        config.message,  # type: ignore[arg-type]
        config.relation_rank,
        config.relation_dropout,
    )
    answering = Answering(known_facts, config.ceiling, config.sharpness)
    objective = Objective(config.traversal_dropout, config.edge_dropout, config.temperature)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return GnnQe(relation_names, shape, objective, answering=answering, memory=memory)
