"""The triples in a process of their own: what kills the engine does not kill the server, and can be started again.

An update has limits on time and memory; one that exceeds them is ended together with its process. Every other operation
has a limit on time, and may not stand still (`progress`). Everything that was committed is in the store when it is
opened again.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.engine.frames import Channel, Closed
from unseen.database.engine.limits import EngineLimits
from unseen.database.engine.process import Child
from unseen.database.engine.progress import BESIDE, Watch, patience_for
from unseen.database.engine.wire_errors import unpacked
from unseen.database.triples import Triples
from unseen.errors import DatabaseError, EngineLost

if TYPE_CHECKING:
    from unseen.database.engine.frames import Header

_ONCE = ("update", "update_with", "bulk_load", "load_into")
"""What is not asked again of a new process: whoever asked looks whether it was done."""
_DOING = {"update": "ran an update", "add": "wrote statements", "remove": "removed statements", "bulk_load": "loaded"}
_DOING |= {"update_with": "replaced a graph", "load_into": "loaded a graph", "backup": "made a copy", "dump": "dumped"}
_FROM_FILES = ("update_with", "bulk_load", "load_into")
_OF_ALL = ("dump", "count", "size", "backup", "flush")
BESIDE_AGAIN = 3
"""How often what goes on beside an update is asked again: the update may end the process, and so does recovering."""
TICK = 0.25
"""Seconds between two looks at an operation that takes its time."""
SECONDS_TO_OPEN = 600.0


class ProcessTriples(Triples):
    """A store that another process has open."""

    def __init__(self, path: Path, limits: EngineLimits | None = None) -> None:
        self.limits = limits or EngineLimits()
        self.starts = 0
        """How often the process was started."""
        self._starting, self._working, self._beside = RLock(), RLock(), RLock()
        self._child: Child | None = None
        self._is_closed = False
        super().__init__(path)

    def _open(self) -> None:
        with self._starting:
            if self._is_closed:
                raise DatabaseError("is closed", path=self.path)
            child = Child.start("writer", {"path": str(self.path.absolute())}, connections=2)
            self.starts += 1
            self._channels = [Channel(connection) for connection in child.connections]
            child.connections[0].settimeout(SECONDS_TO_OPEN)
            try:
                header, _ = self._channels[0].receive()
            except (Closed, TimeoutError):
                _end(child)
                raise DatabaseError("cannot be opened: the engine does not start", path=self.path) from None
            if "error" in header:
                _end(child)
                raise self._not_opened(unpacked(header["error"]))
            self._child = child

    def reopen(self) -> None:
        """End the process and start another one: after a failed write RocksDB takes no others."""
        with self._starting:
            self._end()
            self._open()
            self.changes += 1

    def _ensure_running(self) -> None:
        """Start the process again if it has ended."""
        with self._starting:
            if self._child is None or self._child.process.poll() is not None:
                self.reopen()

    def close(self) -> None:
        """End the process."""
        with self._starting:
            self._is_closed = True
            self._end()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            _end(child)

    @property
    def store(self) -> Any:
        """The store itself, which only its process has."""
        raise DatabaseError("the store is open in another process", path=self.path)

    def _carry_out(self, header: Header, body: bytes = b"") -> tuple[Any, bytes]:
        is_beside = header["do"] in BESIDE
        patience = 0 if header["do"] in _ONCE else BESIDE_AGAIN if is_beside else 1
        with self._beside if is_beside else self._working:
            while patience > 0:
                try:
                    return self._answered(header, body)
                except EngineLost as error:
                    patience = 0 if error.cause == "time" else patience - 1
                except MemoryError:
                    if not is_beside:
                        raise
                    patience -= 1
                    with self._working:  # the limit was that of an update: when it has ended, there is memory again
                        pass
            return self._answered(header, body)

    def _answered(self, header: Header, body: bytes) -> tuple[Any, bytes]:
        """What the process answers; one that has ended before is started again first."""
        self._ensure_running()
        with self._starting:
            child, channels = self._child, self._channels
        kind, place = header["do"], int(header["do"] in BESIDE)
        if child is None:
            raise EngineLost(_DOING.get(kind, "worked"), "it could not be started")
        if kind in ("update", "update_with"):
            header = {**header, "memory": self.limits.megabytes}
        try:
            told, result = self._awaited(child, place, channels[place], header, body)
        except TimeoutError as error:
            self._lose(child, patience=0)
            raise EngineLost(_DOING.get(kind, "worked"), str(error), cause="time") from None
        except (Closed, OSError):
            self._lose(child)
            cause, reason = child.why_it_ended(self.limits.megabytes)
            raise EngineLost(_DOING.get(kind, "worked"), reason, cause=cause) from None
        if "error" in told:
            raise unpacked(told["error"])
        return told["result"], result

    def _awaited(self, child: Child, place: int, channel: Channel, header: Header, body: bytes) -> tuple[Header, bytes]:
        """What a process answers; an error if it is over its time or stands still."""
        patience = patience_for(header["do"], self.limits, lambda: len(body) + self._size(header))
        child.connections[place].settimeout(patience.idle)
        try:
            channel.send(header, body)
        except TimeoutError:
            raise TimeoutError(f"it did nothing for {patience.idle:,.3g} seconds") from None
        watch = Watch(child.process.pid, patience)
        child.connections[place].settimeout(min(TICK, patience.seconds / 4, patience.idle / 4))
        while True:
            try:
                return channel.receive()
            except TimeoutError:
                if (complaint := watch.complaint()) is not None:
                    raise TimeoutError(complaint) from None

    def _size(self, header: Header) -> int:
        """How many bytes an operation is about: a file, or all of the store."""
        kind = header["do"]
        files = [Path(header["with"][0])] if kind in _FROM_FILES else self.path.glob("*") if kind in _OF_ALL else ()
        total = 0
        for file in files:
            with suppress(OSError):  # the store deletes some now and then
                total += file.stat().st_size
        return total

    def _lose(self, child: Child, patience: float = 0.5) -> None:
        """Make sure that a process which does not answer has ended."""
        with self._starting:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(patience)
            _end(child)
            if self._child is child:
                self._child = None

    def dump(
        self, target: Path | BinaryIO, rdf_format: Any, graph: str | None = None, *, everything: bool = False
    ) -> None:
        """Write one graph or everything; for a stream the process writes a file first."""
        if isinstance(target, Path | str):
            super().dump(Path(target), rdf_format, graph, everything=everything)
            return
        file = self.path.with_name(f"dump-{secrets.token_hex(4)}.nt")
        try:
            super().dump(file, rdf_format, graph, everything=everything)
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, target)
        finally:
            file.unlink(missing_ok=True)


def _end(child: Child) -> None:
    child.kill()
    child.process.wait()
