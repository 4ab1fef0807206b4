"""The training loop: batches, loss, Adam, validation, checkpoints.

Everything random in a step comes from the seed and the step number, so a run that was killed and resumed ends with the
same weights as one that was not (on the CPU with the same number of threads, to the bit).

While the device computes a step, the host prepares the batch of the next; it waits for the device once a step, to see
that the loss is a number before the weights change.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from unseen.errors import Diverged
from unseen.models.checkpoint import (
    Progress,
    load_checkpoint,
    load_weights,
    save_checkpoint,
    save_weights,
    write_json,
)
from unseen.training.averaging import WeightAverage
from unseen.training.batch_sources import batch_source
from unseen.training.batches import seed_of
from unseen.training.distributed import Workers
from unseen.training.event_log import EventLog
from unseen.training.interrupts import StopWish, catching_interrupts
from unseen.training.randomness import seeded
from unseen.training.schedule import learning_rate
from unseen.training.validation import Validation

if TYPE_CHECKING:
    from unseen.datasets.dataset import Dataset
    from unseen.methods.trainable import Trainable
    from unseen.methods.training_settings import TrainingConfig
    from unseen.models.run_folder import RunFolder
    from unseen.training.batches import BatchSource
    from unseen.training.validation import Measured

Report = Callable[[str, dict[str, Any]], None]
"""Called with an event (`train`, `validation`, …) and its values."""


@dataclass(frozen=True)
class Outcome:
    """Where a run stopped, and why: `finished`, `patience`, `time` or `interrupted`."""

    progress: Progress
    reason: str

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.reason in ("finished", "patience")


@dataclass(frozen=True, eq=False)
class Material:
    """What a run learns from, and what it is measured by."""

    source: BatchSource
    validation: Validation

    @classmethod
    def of(cls, method: Trainable, dataset: Dataset, config: TrainingConfig) -> Material:
        """The training and the validation queries of a dataset."""
        return cls(batch_source(method, dataset, config), Validation([dataset], config))


class Trainer:
    """One run of one method on what it learns from, from its last checkpoint on."""

    def __init__(
        self,
        method: Trainable,
        material: Material,
        config: TrainingConfig,
        folder: RunFolder,
        workers: Workers | None = None,
        report: Report | None = None,
    ) -> None:
        self.method, self.config, self.folder = method, config, folder
        self.workers = workers or Workers()
        self.log = EventLog(folder, config, self.workers.is_first, report)
        self.source, self.validation = material.source, material.validation
        fused = method.device.type == "cuda"
        self.optimizer = torch.optim.AdamW(method.parameters(), weight_decay=config.weight_decay, fused=fused)
        self.average = WeightAverage(self.optimizer, config.average)
        self.progress = load_checkpoint(folder.path, method, self.optimizer) or Progress()

    def run(self, minutes: float | None = None) -> Outcome:
        """Train until the last step, a wish to stop, or the end of the time; always leaves a checkpoint."""
        self.log.start(self.progress, self.method)
        self._begin_from_start()
        with catching_interrupts() as wish:
            reason = self._steps(wish, math.inf if minutes is None else time.monotonic() + 60 * minutes)
        self._save()
        self.log.end(self.progress, reason)
        return Outcome(self.progress, reason)

    def _begin_from_start(self) -> None:
        """Before the first step of a run that begins with given weights: these are the best until others are better."""
        path = self.folder.start_path
        if self.progress.step == 0 and path.exists():
            load_weights(path, self.method)
            self._validate()

    def _steps(self, wish: StopWish, deadline: float) -> str:
        prepared = self._prepared(self.progress.step)
        while self.progress.step < self.config.steps:
            prepared, stop = self._step(prepared, wish.is_set or time.monotonic() > deadline)
            if self._is_due(self.config.validate_every):
                self._validate()
            if self._is_due(self.config.checkpoint_every):
                self._save()
            if self.config.patience and self.progress.validations_since_best >= self.config.patience:
                return "patience"
            if stop and self.progress.step < self.config.steps:
                return "interrupted" if wish.is_set else "time"
        return "finished"

    def _step(self, prepared: Any, wants_stop: bool) -> tuple[Any, bool]:
        """One step; the prepared batch of the next one, and whether any process wants to stop."""
        begin, step = time.monotonic(), self.progress.step
        with seeded(self.method.device, seed_of(self.config.seed, step)) as generator:
            loss = self.method.losses(prepared, generator).sum() / self.config.batch_size
            loss.backward()  # type: ignore[no-untyped-call]
        following = self._prepared(step + 1)
        reduced = self.workers.add_up(torch.stack([loss.detach(), loss.new_tensor(float(wants_stop))]))
        value, stops = reduced.tolist()
        if not math.isfinite(value):
            self._give_up(step)
        norm = self._update(step)
        self.progress = replace(self.progress, step=step + 1, seconds=self.progress.seconds + time.monotonic() - begin)
        self.log.step(self.progress, value, norm, learning_rate(self.config, step))
        return following, stops > 0

    def _update(self, step: int) -> torch.Tensor:
        """Adam on the gradients of all processes; their norm, still on the device."""
        parameters = list(self.method.parameters())
        self.workers.add_up_gradients(parameters)
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.clip_norm or math.inf)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.config, step)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.average.update(step + 1)
        return norm

    def _prepared(self, step: int) -> Any:
        """This process's share of a step's batch, ready for the device."""
        return self.source.prepared(step, self.workers)

    def _is_due(self, every: int) -> bool:
        """Whether something that happens every so many steps, and after the last, happens now."""
        step = self.progress.step
        return step == self.config.steps or (every > 0 and step % every == 0)

    def _validate(self) -> None:
        """Measure on the fixed sample; keep the weights if they are the best so far."""
        if not self.validation:
            return
        self.method.eval()
        with self.average.shown():
            self._validate_shown()
        self.method.train()

    def _validate_shown(self) -> None:
        begin = time.monotonic()
        values = torch.zeros(1, dtype=torch.float64, device=self.method.device)
        measured: Measured | None = None
        if self.workers.is_first:
            measured = self.validation.measure(self.method)
            values += measured.score
        self._keep_if_best(float(self.workers.add_up(values)))
        if measured is not None:
            self.log.validation(self.progress, measured, time.monotonic() - begin)

    def _keep_if_best(self, score: float) -> None:
        before, step = self.progress, self.progress.step
        if before.best_score is not None and score <= before.best_score:
            self.progress = replace(before, validations_since_best=before.validations_since_best + 1)
            return
        self.progress = replace(before, best_score=score, best_step=step, validations_since_best=0)
        if self.workers.is_first:
            save_weights(self.folder.path / "best.safetensors", self.method)

    def _save(self) -> None:
        if self.workers.is_first:
            save_checkpoint(self.folder.path, self.progress, self.method, self.optimizer)
        self.workers.wait()

    def _give_up(self, step: int) -> None:
        """Save the batch and the weights before it, then stop."""
        path = self.folder.path / f"diverged-{step:08d}.json"
        if self.workers.is_first:
            write_json(path, {"step": step, "batch": self.source.to_json(step)})
        self._save()
        raise Diverged(step, path)
