"""The time that a slice of work has."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class TimeOver(Exception):
    """The slice is over; what was done is kept. Never seen by a user."""


@dataclass(frozen=True)
class Clock:
    """A deadline; `now` can be set for tests."""

    minutes: float | None = None
    now: Callable[[], float] = time.monotonic
    start: float = field(default=math.nan)

    def __post_init__(self) -> None:
        if math.isnan(self.start):
            object.__setattr__(self, "start", self.now())

    @property
    def minutes_left(self) -> float | None:
        """None is as many as it takes."""
        return None if self.minutes is None else max(0.0, self.minutes - (self.now() - self.start) / 60)

    @property
    def is_over(self) -> bool:
        """Whether nothing more should be begun."""
        left = self.minutes_left
        return left is not None and left <= 0

    def check(self) -> None:
        """Stop here if the time is over."""
        if self.is_over:
            raise TimeOver
