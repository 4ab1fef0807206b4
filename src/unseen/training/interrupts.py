"""Ctrl-C as a wish that is granted between two steps, when everything can be saved."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopWish:
    """Whether someone asked to stop; a second wish is not waited for."""

    def __init__(self) -> None:
        self.is_set = False

    def receive(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True


@contextmanager
def catching_interrupts() -> Iterator[StopWish]:
    """A wish that Ctrl-C and SIGTERM set while the block runs; outside the main thread nothing is caught."""
    wish = StopWish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.signal(number, wish.receive) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
