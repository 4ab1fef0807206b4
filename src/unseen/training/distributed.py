"""Several processes on one batch: `torchrun --nproc-per-node N --no-python unseen train …`.

Each process computes every N-th query of a batch; gradients are added up before each step of the optimizer, so the run
is that of one process with the same batch, up to the rounding of sums. Only the first process writes and validates.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAVING = timedelta(seconds=10)
"""How long a process that is done waits for the others."""


@dataclass(frozen=True)
class Workers:
    """This process among those that train together; one process alone by default."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @classmethod
    def joined(cls, device: str = "auto") -> Workers:
        """The processes that torchrun started, connected; without torchrun this one alone."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls()
        local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        on_gpu = device != "cpu" and torch.cuda.is_available()
        if on_gpu:
            torch.cuda.set_device(local_rank)
        if not dist.is_initialized():
            dist.init_process_group("nccl" if on_gpu else "gloo")
        return cls(dist.get_rank(), size, local_rank)

    @property
    def is_first(self) -> bool:
        """Whether this process writes and validates."""
        return self.rank == 0

    def add_up(self, tensor: Tensor) -> Tensor:
        """The sum of a tensor over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def add_up_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Add up the gradients of all processes, in one message."""
        if self.size == 1:
            return
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in trained]
        summed = self.add_up(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(summed, [gradient.numel() for gradient in gradients])
        for parameter, part in zip(trained, parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1:
            dist.barrier()

    def leave(self) -> None:
        """Close the connection when all others do: who goes first takes away what they still talk over."""
        if self.size > 1 and dist.is_initialized():
            with suppress(RuntimeError, ValueError):  # another one has ended already, or a GPU's way to talk
                dist.monitored_barrier(timeout=LEAVING)
            dist.destroy_process_group()
