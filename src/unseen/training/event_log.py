"""What a run says while it runs: lines of `metrics.jsonl`, TensorBoard if wanted, and the caller's progress display."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from unseen.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

    from unseen.methods.training_settings import TrainingConfig
    from unseen.models.checkpoint import Progress
    from unseen.models.run_folder import RunFolder
    from unseen.training.validation import Measured


class EventLog:
    """Events of the first process; silent in the others."""

    def __init__(
        self,
        folder: RunFolder,
        config: TrainingConfig,
        is_first: bool,
        report: Callable[[str, dict[str, Any]], None] | None,
    ) -> None:
        self.folder, self.config, self.is_first, self.report = folder, config, is_first, report
        self._losses: list[float] = []
        self._since = 0.0
        self._tensorboard = _tensorboard(folder) if config.tensorboard and is_first else None

    def start(self, progress: Progress, model: nn.Module) -> None:
        """The run begins, or resumes at a step; events after that step will be logged again."""
        if self.is_first:
            self.folder.forget_after(progress.step)
        device = next(model.parameters()).device
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
        parameters = sum(parameter.numel() for parameter in model.parameters())
        self._since = progress.seconds
        about = {"device": name, "threads": torch.get_num_threads(), "parameters": parameters}
        self._say("start", step=progress.step, steps=self.config.steps, **about)

    def step(self, progress: Progress, loss: float, norm: Tensor, rate: float) -> None:
        """One step is done; every `log_every` of them make a line."""
        self._losses.append(loss)
        if progress.step % self.config.log_every and progress.step != self.config.steps:
            return
        speed = len(self._losses) / max(progress.seconds - self._since, 1e-9)
        values: dict[str, Any] = {
            "step": progress.step,
            "loss": sum(self._losses) / len(self._losses),
            "gradient_norm": float(norm),
            "learning_rate": rate,
            "steps_per_second": speed,
            "seconds": progress.seconds,
        }
        if torch.cuda.is_available():
            values["peak_memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
        self._losses, self._since = [], progress.seconds
        self._say("train", **values)

    def validation(self, progress: Progress, found: Measured, seconds: float) -> None:
        """What a validation found: averages, and one number a type."""
        is_best = progress.best_step == progress.step
        numbers = {**found.averages, "types": dict(found.types), **found.more}
        self._say("validation", step=progress.step, score=found.score, is_best=is_best, **numbers, duration=seconds)

    def end(self, progress: Progress, reason: str) -> None:
        """The run stops."""
        best = {"best_step": progress.best_step, "best_score": progress.best_score}
        self._say("end", step=progress.step, reason=reason, seconds=progress.seconds, **best)
        if self._tensorboard is not None:
            self._tensorboard.close()

    def _say(self, event: str, **values: Any) -> None:
        if not self.is_first:
            return
        self.folder.log(event, time=time.time(), **values)
        if self._tensorboard is not None:
            for name, value in values.items():
                if isinstance(value, float):
                    self._tensorboard.add_scalar(f"{event}/{name}", value, values["step"])
        if self.report is not None:
            self.report(event, values)


def _tensorboard(folder: RunFolder) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise TrainingError("TensorBoard logs need the package tensorboard: pip install tensorboard") from None
    return SummaryWriter(str(folder.path / "tensorboard"))  # type: ignore[no-untyped-call, unused-ignore]
