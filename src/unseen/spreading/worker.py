"""One worker of a crew: a process that is made ready once, then does one piece of work after the other."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Trouble:
    """The error of a worker: a message for the user, or a trace of the program.

    A text, because errors themselves do not all travel between processes.
    """

    message: str
    is_mendable: bool


class Worker:
    """What Ray runs; `references` lead to what makes the work, and to what is shared by all workers of a machine."""

    def __init__(self, threads: int, references: list[Any]) -> None:
        for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ[name] = str(threads)  # before anything is imported that reads them
        self._references = references
        self._work: Any = None

    def ready(self) -> Trouble | None:
        """Prepare the work; returns the error, if any."""
        import ray

        def made() -> None:
            make, *shared = (ray.get(reference) for reference in self._references)
            self._work = make(*shared)

        trouble: Trouble | None = _caught(made)
        return trouble

    def do(self, piece: Any) -> Any:
        """The result of a piece, or its error."""
        return _caught(lambda: self._work(piece))


def _caught(work: Callable[[], Any]) -> Any:
    """What work returns, or its error."""
    from unseen.errors import UnseenError

    try:
        return work()
    except UnseenError as error:
        return Trouble(str(error), is_mendable=True)
    except Exception:  # noqa: BLE001 - it is raised again where the work was given out
        return Trouble(traceback.format_exc(), is_mendable=False)
