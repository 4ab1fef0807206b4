"""A server in a process of its own, so that its memory and its files can be watched from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from unseen.database import Database

SCRIPT = """
import json, sys
from unseen.database import Database
from unseen.database.engine.process_triples import ProcessTriples
from unseen.server import run
from unseen.server.server_settings import ConnectionLimits, Limits, ServerSettings

asked = json.loads(sys.argv[2])
settings = ServerSettings(
    port=0, model=asked["model"],
    limits=Limits(**asked["limits"]), connections=ConnectionLimits(**asked["connections"]),
    shutdown_seconds=2,
)
run.serve(Database(sys.argv[1], ProcessTriples), settings, quiet=True, ready=lambda port: print(port, flush=True))
run.leave_if_stuck()
"""


@dataclass(frozen=True)
class Served:
    """A server of another process."""

    process: int
    port: int

    def get(self, address: str, timeout: float = 60.0) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", address)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    @property
    def megabytes(self) -> float:
        """Memory that the process takes."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return pages * 4096 / 1e6

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process}/fd").iterdir()))


@contextmanager
def serving(
    path: Path, triples: Any, *, limits: Any = None, connections: Any = None, model: str = "exact"
) -> Iterator[Served]:
    """Serve a new database with some triples; afterwards the process has ended."""
    with Database.create(path) as database:
        database.add(triples)
    asked = json.dumps({"limits": limits or {}, "connections": connections or {}, "model": model})
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield Served(process.pid, int(process.stdout.readline()))
        assert process.poll() is None, "the server died"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
