"""One reader as the event loop sees it: a process, its connection, and the request that it is at."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unseen.database.engine.frames import FrameBuffer, frame
from unseen.database.engine.progress import processor_seconds

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from unseen.database.engine.deadline import Deadline
    from unseen.database.engine.frames import Header
    from unseen.database.engine.process import Child
    from unseen.server.checkpoints import Checkpoint

    Reply = tuple[Header, bytes]

SLOW_NICENESS = 10


@dataclass(eq=False)
class Job:
    """One request to a reader."""

    header: Header
    body: bytes
    future: asyncio.Future[Reply]
    deadline: Deadline
    needs_store: bool = True
    gone: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has gone."""
    most_work: float | None = None
    """Processor time after which it is refused; None: only the deadline counts."""
    asked: float = field(default_factory=time.monotonic)
    watch: asyncio.Task[None] | None = None
    began: float = 0.0
    used_before: float | None = None
    """Processor time of its reader when the request was first looked at."""

    def finish(self, reply: Reply) -> None:
        """Hand over the answer."""
        self._end()
        if not self.future.done():
            self.future.set_result(reply)

    def fail(self, error: Exception) -> None:
        """Hand over an error."""
        self._end()
        if not self.future.done():
            self.future.set_exception(error)

    def _end(self) -> None:
        if self.watch is not None:
            self.watch.cancel()


@dataclass(eq=False)
class ReaderProcess:
    """A running reader; `heard` is told of each answer, `lost` of the end of the connection."""

    loop: asyncio.AbstractEventLoop
    child: Child
    copy: Path
    """Where it keeps its own copy of a checkpoint, to apply changes to."""
    heard: Callable[[ReaderProcess, Header, bytes], None]
    lost: Callable[[ReaderProcess], None]
    job: Job | None = None
    is_ready: bool = False
    is_slow: bool = False
    checkpoint: Path | None = None
    place: int = 0
    """The last change that it has been shown; see `RecentChanges`."""
    prefixes: dict[str, str] | None = None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        (self._connection,) = self.child.connections
        self._connection.setblocking(False)
        self._buffer, self._unsent = FrameBuffer(), bytearray()
        self._is_open, self._is_low = True, False
        self._unconfirmed = 0
        self.loop.add_reader(self._connection, self._readable)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self.child.process.pid

    @property
    def is_behind(self) -> bool:
        """Whether it is still opening a checkpoint or applying changes; that is no work on its request."""
        return self._unconfirmed > 0

    def show(self, checkpoint: Checkpoint) -> None:
        """Have it read from a checkpoint with all of its changes from now on."""
        self.tell_prefixes(checkpoint.prefixes)
        if self.checkpoint != checkpoint.path:
            self.checkpoint, self.place = checkpoint.path, checkpoint.place
            self._prepare({"do": "open", "path": str(checkpoint.path)})
        if self.place < checkpoint.reached:
            gone, there = checkpoint.lines_after(self.place)
            self._prepare({"do": "apply", "gone": len(gone)}, gone + there)
            self.place = checkpoint.reached

    def tell_prefixes(self, prefixes: dict[str, str]) -> None:
        """Have it know these prefixes from now on."""
        if self.prefixes is not prefixes:
            self.prefixes = prefixes
            self._prepare({"do": "open", "prefixes": prefixes})

    def _prepare(self, header: Header, body: bytes = b"") -> None:
        """Send what it confirms when it is done with it."""
        self._unconfirmed += 1
        self._send(frame(header, body))

    def _confirmed(self) -> None:
        """The work on its request begins when earlier requests are done."""
        self._unconfirmed -= 1
        if self.job is not None and not self.is_behind:
            self.job.began, self.job.used_before = time.monotonic(), None

    def begin(self, job: Job) -> None:
        """Send a request."""
        self.job, job.began = job, time.monotonic()
        self._send(frame(job.header, job.body))

    def seconds_at_work(self, now: float) -> float:
        """How long it has been at its request: processor time, or a fifth of the time that has passed."""
        if self.job is None or self.is_behind:
            return 0.0
        return max(self.seconds_used(), (now - self.job.began) / 5)

    def seconds_used(self) -> float:
        """Processor time that its request has used."""
        job = self.job
        if job is None or self.is_behind:
            return 0.0
        used = processor_seconds(self.pid, main_thread=True)  # others tidy up its copy
        if job.used_before is None:
            job.used_before = used
        return used - job.used_before

    def let_others_first(self, seconds: float) -> None:
        """Lower its priority if its request has used more processor time; if it only waits for a core, it keeps it."""
        if self.job is not None and not self._is_low and self.seconds_used() > seconds:
            self._is_low = True
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.pid, SLOW_NICENESS)

    def close(self) -> None:
        """End the process at once; `has_ended` tells when it has."""
        if self._is_open:
            self._is_open = False
            self.loop.remove_reader(self._connection)
            self.loop.remove_writer(self._connection)
        self.child.kill()

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self.child.process.poll() is not None

    def _readable(self) -> None:
        try:
            data = self._connection.recv(1 << 18)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.loop.remove_reader(self._connection)
            self.lost(self)
            return
        self.hear(data)

    def hear(self, data: bytes) -> None:
        """Take in what it has sent."""
        self._buffer.feed(data)
        while self._is_open and (found := self._buffer.take()) is not None:
            if "confirmed" in found[0]:
                self._confirmed()
            else:
                self.heard(self, *found)

    def _send(self, data: bytes) -> None:
        if not self._unsent:
            try:
                sent = self._connection.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:  # it has died: the reading side will notice
                return
            if sent == len(data):
                return
            data = data[sent:]
            self.loop.add_writer(self._connection, self._writable)
        self._unsent += data

    def _writable(self) -> None:
        try:
            sent = self._connection.send(bytes(self._unsent[: 1 << 18]))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._unsent.clear()
            sent = 0
        del self._unsent[:sent]
        if not self._unsent:
            self.loop.remove_writer(self._connection)
