"""A real `unseen serve` to attack: its process tree, its memory, and a poller that asks for its health all the time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.attack.memory_group import LimitedGroup

SLACK = float(os.environ.get("UNSEEN_TEST_SLACK", "1.8"))
"""Seconds that a busy test machine may add to an answer; 0 on an idle one."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CODE = "from unseen.cli.main import run; run()"


@dataclass
class Served:
    """A running server in a process of its own."""

    pid: int
    port: int
    health: list[float] = field(default_factory=list)
    """Seconds of each answer of /healthz."""
    failed: list[str] = field(default_factory=list)
    """What /healthz answered when it was not 200."""
    most_memory: int = 0

    def send(
        self, method: str, address: str, body: bytes | None = None, media_type: str = "", seconds: float = 60
    ) -> tuple[int, bytes]:
        """Status and body of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, address, body, {"Content-Type": media_type} if media_type else {})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def ask(self, route: str, text: str, seconds: float = 60) -> tuple[int, bytes]:
        """Send a query or an update."""
        kind = "query" if route == "/query" else "update"
        return self.send("POST", route, text.encode(), f"application/sparql-{kind}", seconds)

    def count(self) -> int:
        """How many triples the default graph has, asked exactly; on a busy machine more than once."""
        status, body = 504, b""
        deadline = time.monotonic() + 60
        while status in (503, 504) and time.monotonic() < deadline:
            status, body = self.ask("/query", "SELECT (COUNT(*) AS ?n) {?s ?p ?o}")
        assert status == 200, body
        return int(json.loads(body)["results"]["bindings"][0]["n"]["value"])

    def processes(self) -> list[int]:
        """The server and everything that it has started."""
        found, parents = [self.pid], _parents()
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def memory(self) -> int:
        """Bytes of memory of all its processes; what they share counts for each."""
        return sum(_resident(pid) for pid in self.processes())

    def watch(self, stopped: threading.Event) -> None:
        """Ask for its health, and measure its memory, until told to stop."""
        while not stopped.wait(0.05):
            began = time.perf_counter()
            try:
                status, body = self.send("GET", "/healthz", seconds=30)
                if status != 200:
                    self.failed.append(f"{status} {body[:200]!r}")
            except (OSError, HTTPException) as error:
                self.failed.append(repr(error))
            self.health.append(time.perf_counter() - began)
            self.most_memory = max(self.most_memory, self.memory())


@contextmanager
def served(source: Path | str, *options: str, group: LimitedGroup | None = None) -> Iterator[Served]:
    """Serve a database or a graph, in a control group if there is one, and watch it."""
    words = ["serve", str(source), "--port", "0", "--model", "edge-type", "--quiet", *options]
    command = [sys.executable, "-c", _CODE, *words]
    process = subprocess.Popen(group.command(command) if group else command, stderr=subprocess.PIPE, text=True)
    stopped = threading.Event()
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if "listening on" in line:
                break
        else:
            raise AssertionError(f"the server did not start: {line}")
        server = Served(process.pid, int(line.split()[2].rpartition(":")[2]))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        watching = threading.Thread(target=server.watch, args=(stopped,))
        watching.start()
        try:
            yield server
        finally:
            stopped.set()
            watching.join()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _parents() -> dict[int, int]:
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            found[int(folder.name)] = int(fields[1])
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0
