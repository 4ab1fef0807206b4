"""Results on their way to clients, documents on their way to the writer: small ones in memory, larger ones in files.

Files that clients read have no name any more. All of them count against one limit, those that are being written too.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

CHUNK = 1 << 17
"""Bytes of a file that are sent at a time; the next ones are read when these have left."""


class Spool:
    """The folder of a running server inside of its database: checkpoints, and results until they are sent."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self._most = folder, most
        self.held = 0
        """Bytes in files that clients have not read yet, or that wait for the writer."""
        self._count = 0
        shutil.rmtree(folder, ignore_errors=True)  # what a server that was killed has left
        folder.mkdir(mode=0o700)

    def path(self, kind: str, suffix: str = "") -> Path:
        """A name that nothing has."""
        self._count += 1
        return self.folder / f"{kind}-{self._count}{suffix}"

    @property
    def room(self) -> int:
        """Bytes that may still be written."""
        return max(0, self._most - self.held)

    def is_over(self, writing: int) -> bool:
        """Whether files that are held and so many bytes that are being written are too much together."""
        return self.held + writing > self._most

    @contextmanager
    def kept(self, path: Path) -> Iterator[None]:
        """Count a file as long as it is needed, and delete it then."""
        size = path.stat().st_size
        self.held += size
        try:
            yield
        finally:
            self.held -= size
            path.unlink(missing_ok=True)

    def taken(self, path: Path, size: int) -> Spooled:
        """A file that is written; from now on only whoever holds it can read it."""
        file = path.open("rb")
        path.unlink()
        self.held += size
        return Spooled(file, size, self)

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Spooled:
    """A result in a file."""

    file: BinaryIO
    size: int
    spool: Spool

    def close(self) -> None:
        """Give the room back."""
        if not self.file.closed:
            self.file.close()
            self.spool.held -= self.size


class SpooledResponse(Response):
    """An answer from a file, sent as fast as the client reads."""

    def __init__(self, result: Spooled, media_type: str) -> None:
        super().__init__(media_type=media_type, headers={"content-length": str(result.size)})
        self.result = result

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        """Send the answer; back-pressure is that of `send`."""
        try:
            start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            await send(start)
            while data := self.result.file.read(CHUNK):
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.result.close()

    def __del__(self) -> None:
        """An answer that was never begun gives its room back too."""
        with suppress(AttributeError):
            self.result.close()
