"""What can go wrong in training.

```
UnseenError
└── TrainingError            a run that cannot start, go on or be opened
    ├── ConfigError          a setting that does not exist or does not fit
    ├── RunFolderError       a run folder that is missing, taken, damaged or of another method
    └── Diverged             the loss is no longer a number
```
"""

from __future__ import annotations

from pathlib import Path

from unseen.errors import UnseenError


class TrainingError(UnseenError):
    """A run that cannot start, go on or be opened."""


class ConfigError(TrainingError):
    """A setting that does not exist or does not fit."""


class RunFolderError(TrainingError):
    """A run folder that is missing, taken, damaged or of another method."""

    def __init__(self, problem: str, *, path: str | Path) -> None:
        self.problem, self.path = problem, Path(path)
        super().__init__(f"{path}: {problem}")


class Diverged(TrainingError):
    """The loss is no longer a number; the batch that did it is saved."""

    def __init__(self, step: int, saved: Path) -> None:
        self.step, self.saved = step, saved
        super().__init__(
            f"the loss of step {step} is not a finite number; its batch is in {saved}, and the weights before it are "
            "the last checkpoint. A smaller --learning-rate or a --clip-norm usually helps"
        )
