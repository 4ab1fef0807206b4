"""Starting and ending a process of the engine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = (
    "import json, sys; from importlib import import_module; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "import_module(sys.argv.pop(1)).main()"
)
ENGINE = "unseen.database.engine.child"
BUFFER = 1 << 20
"""Bytes that a connection holds, so that most messages are one write and one read."""
_REASONS = {
    signal.SIGSEGV: ("nesting", "it is nested too deeply for the engine"),
    signal.SIGBUS: ("nesting", "it is nested too deeply for the engine"),
    signal.SIGABRT: ("memory", "it needs more than {megabytes:,} MB of memory"),
}


@dataclass(frozen=True)
class Child:
    """A running process and the server's ends of its connections."""

    process: subprocess.Popen[bytes]
    connections: tuple[socket.socket, ...]

    @classmethod
    def start(
        cls,
        kind: str,
        settings: dict[str, Any],
        connections: int = 1,
        *,
        module: str = ENGINE,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """A new process; it runs no site or user code, only `main` of a module of this package.

        `environment` is what it has instead of the environment of this process.
        """
        pairs = [socket.socketpair() for _ in range(connections)]
        for pair in pairs:
            for end in pair:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        numbers = [theirs.fileno() for _, theirs in pairs]
        options = json.dumps({**settings, "parent": os.getpid()})
        command = [sys.executable, "-I", "-S", "-c", _CODE, json.dumps(sys.path), module, kind, options]
        try:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, with words of our own
                [*command, *map(str, numbers)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=numbers,
                env={**os.environ, "MALLOC_ARENA_MAX": "2"} if environment is None else environment,
            )
        except OSError:
            for ours, _ in pairs:
                ours.close()
            raise
        finally:
            for _, theirs in pairs:
                theirs.close()
        return cls(process, tuple(ours for ours, _ in pairs))

    def kill(self) -> None:
        """End it at once."""
        if self.process.returncode is None:
            self.process.kill()
        for connection in self.connections:
            connection.close()

    def why_it_ended(self, megabytes: int) -> tuple[str, str]:
        """Cause and reason in words, once the process has ended."""
        code = self.process.returncode
        found = _REASONS.get(signal.Signals(-code)) if code is not None and code < 0 else None
        cause, reason = found or ("crash", "it was ended from outside, or has failed")
        return cause, reason.format(megabytes=megabytes)
