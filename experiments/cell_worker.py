"""A process that runs tasks: `python -m experiments.cell_worker`, told by its standard input, one JSON line each.

In: first the workspace, the minutes and the share of the device, then tasks. Out: events of cells, and
`{"event": "idle"}` after every task. The end of its input is the wish to stop, also when whoever started it is dead:
training then leaves a checkpoint, a measurement the types that it has.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from typing import Any

from experiments.clock import Clock
from experiments.grid import Cell, Task
from experiments.running import CellRunner
from experiments.workspace import Workspace

CHATTER = ("train", "calibration")
"""Events of which the display needs one now and then."""


def main() -> None:
    """Run tasks until there are no more."""
    orders: queue.Queue[dict[str, Any] | None] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    first = orders.get()
    if first is None:
        return
    workspace = Workspace.from_json(first["workspace"])
    share_device(workspace.device, first.get("share", 1.0))
    runner = CellRunner(workspace, Clock(first["minutes"]), _tell)
    with contextlib.suppress(KeyboardInterrupt):
        while (order := orders.get()) is not None:
            task = Task(order["ratio"], order["method"], tuple(order["whats"]), order.get("alone", False))
            finished = runner.run(task)
            free_device()
            _say({"event": "idle", "finished": finished})


def share_device(device: str, share: float) -> None:
    """Take no more than a share of a GPU's memory; networks size their work by it."""
    import torch

    if device != "cpu" and torch.cuda.is_available() and share < 1:
        number = torch.device(device).index if device != "auto" else None
        torch.cuda.set_per_process_memory_fraction(share, number)


def free_device() -> None:
    """Give back what the last method held: the process beside may need it."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def _listen(orders: queue.Queue[dict[str, Any] | None]) -> None:
    """Hand orders over; when there will be no more, wake the main thread as Ctrl-C would."""
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put(None)
    os.kill(os.getpid(), signal.SIGINT)


def _tell(cell: Cell, event: str, values: dict[str, Any]) -> None:
    if event == "progress" and values.get("event") in CHATTER and values.get("step", 0) % 100:
        return
    shown = {key: value for key, value in values.items() if isinstance(value, str | int | float)}
    _say({"event": event, "cell": [cell.ratio, cell.method, cell.what], "values": shown})


def _say(message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
