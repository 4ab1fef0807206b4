"""How a process of the engine begins and ends.

It has a memory limit beyond what it takes when idle (`limit_memory`), a large stack, and writes no core dumps. It ends
when its connection does: the kernel closes that when the server dies, however it dies.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.database.engine.frames import Channel, Closed

if TYPE_CHECKING:
    from collections.abc import Iterator

READER_STACK = 48 << 20
WRITER_STACK = 112 << 20
"""More than a reader's: what a reader could parse, the writer can. Linux leaves 128 MB of addresses for a stack."""
_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    """Become the process that the command line names: `reader` or `writer`, and connections by number."""
    kind, options, *numbers = sys.argv[1:]
    leave_ending_to_server()
    _set_limit(resource.RLIMIT_STACK, READER_STACK if kind == "reader" else WRITER_STACK)
    connections = [socket.socket(fileno=int(number)) for number in numbers]
    settings: dict[str, Any] = json.loads(options)
    try:
        if kind == "reader":
            end_with_server(settings["parent"], connections[0])
            from unseen.database.engine.engine_reader import read

            read(Channel(connections[0]), settings)
        else:
            from unseen.database.engine.engine_writer import write

            write([Channel(connection) for connection in connections], settings)
    except (Closed, KeyboardInterrupt):
        pass
    leave()


def leave() -> None:
    """End at once; like a crash, this loses nothing that was acknowledged."""
    os._exit(0)


def leave_ending_to_server() -> None:
    """Ignore signals that a terminal sends to all processes, and write no core dumps."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _set_limit(resource.RLIMIT_CORE, 0)


def end_with_server(parent: int, connection: socket.socket) -> None:
    """End when the thread of the server that has started this process ends, or the connection; never after it."""
    _die_with_parent(parent)
    _be_ended_first()
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()


def limit_memory(megabytes: int | None) -> None:
    """Let the process take some memory beyond what it has now; None: as much as it likes."""
    if megabytes is None:
        _set_limit(resource.RLIMIT_DATA, None)
    else:
        _set_limit(resource.RLIMIT_DATA, data_bytes() + (megabytes << 20))


@contextmanager
def unlimited_memory() -> Iterator[None]:
    """Lift the limit for a moment."""
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(None)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limits)


def data_bytes() -> int:
    """Bytes of private, writable memory of this process; what RLIMIT_DATA counts."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 256 << 20
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))


def _set_limit(which: int, soft: int | None) -> None:
    _, hard = resource.getrlimit(which)
    wanted = hard if soft is None else soft
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard) if wanted != resource.RLIM_INFINITY else hard
    resource.setrlimit(which, (wanted, hard))


def _die_with_parent(parent: int) -> None:
    """Be killed when the thread that started this process ends, also in the middle of a call of the engine."""
    try:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    except (AttributeError, OSError):  # not a Linux: the end of the connection has to do
        return
    if os.getppid() != parent:
        leave()


def _be_ended_first() -> None:
    """Where memory runs out all the same, the system ends this process before the server."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("800", encoding="ascii")


def _end_with(connection: socket.socket) -> None:
    poll = select.poll()
    poll.register(connection, getattr(select, "POLLRDHUP", select.POLLHUP))
    poll.poll()
    leave()


if __name__ == "__main__":
    main()
