"""A real server in a thread, and the plainest of clients."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from unseen.database import Database
from unseen.database.engine.process_triples import ProcessTriples
from unseen.server.run import make_server
from unseen.server.server_settings import ServerSettings

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The one shape that every error has."""
        assert set(self.json) == {"error"}
        assert self.headers["content-type"] == "application/json"
        error: dict[str, Any] = self.json["error"]
        assert {"code", "message"} <= set(error)
        assert "Traceback" not in self.text
        return error


@dataclass(frozen=True)
class Running:
    """A running server."""

    database: Database
    port: int
    headers: dict[str, str] = field(default_factory=dict)
    stop: Callable[[], None] = lambda: None
    """Tells it to stop, and does not wait."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(
        self,
        method: str,
        address: str,
        body: bytes | str | None = None,
        headers: dict[str, str] | None = None,
        source: tuple[str, int] | None = None,
    ) -> Reply:
        """The reply to a request, which comes from another address of this machine if one is given."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=source)
        try:
            sent = body.encode() if isinstance(body, str) else body
            connection.request(method, address, sent, {**self.headers, **(headers or {})})
            reply = connection.getresponse()
            lower = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, reply.read(), lower)
        finally:
            connection.close()

    @property
    def listens(self) -> bool:
        """Whether it takes new connections."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except ConnectionRefusedError:
            return False
        return True

    def query(self, text: str, headers: dict[str, str] | None = None, **parameters: str) -> Reply:
        return self.send("GET", f"/query?{urlencode({'query': text, **parameters})}", None, headers)

    def post(self, address: str, body: Any, headers: dict[str, str] | None = None) -> Reply:
        return self.send("POST", address, json.dumps(body), {**JSON, **(headers or {})})

    def ask(self, question: str, **more: Any) -> Reply:
        return self.post("/ask", {"question": question, **more})

    def update(self, text: str) -> Reply:
        return self.send("POST", "/update", urlencode({"update": text}), FORM)


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Go on as soon as something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.002)


def readers_of(server: Running) -> list[int]:
    """The processes that answer queries; the writer is another one."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
            is_ours = b"reader" in words and str(server.database.path).encode() in b" ".join(words)
        except OSError:
            continue
        if is_ours:
            found.append(int(folder.name))
    return found


@contextmanager
def running(path: Path, triples: Any = None, settings: ServerSettings | None = None) -> Iterator[Running]:
    """Serve the database at a path, made anew if there is none; afterwards it is closed.

    Unless the settings say otherwise the edge-type heuristic predicts: most tests are not about what is predicted.
    """
    database = Database(path, ProcessTriples) if path.exists() else Database.create(path, open_triples=ProcessTriples)
    if triples is not None:
        database.add(triples)
    ready, ports = threading.Event(), []

    def listening(port: int) -> None:
        ports.append(port)
        ready.set()

    server = make_server(database, settings or ServerSettings(port=0, model="edge-type"), listening)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        assert ready.wait(60)
        yield Running(database, ports[0], stop=lambda: setattr(server, "should_exit", True))
    finally:
        server.should_exit = True
        thread.join(60)
        database.close()
