"""A small SPARQL endpoint in a thread, which can be made to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pyoxigraph as ox

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class SmallEndpoint:
    """Statements, the queries that came, and what to do instead of answering one."""

    store: ox.Store = field(default_factory=ox.Store)
    queries: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    instead: Callable[[str], Answer | None] = lambda _: None
    url: str = ""

    def answer(self, query: str) -> Answer:
        self.queries.append(query)
        odd = self.instead(query)
        if odd is not None:
            return odd
        found = self.store.query(query)
        return 200, {}, found.serialize(format=ox.QueryResultsFormat.JSON)  # type: ignore[union-attr]

    def add(self, *lines: str) -> None:
        self.store.load("\n".join(lines).encode(), format=ox.RdfFormat.N_QUADS)


@contextmanager
def running(endpoint: SmallEndpoint) -> Iterator[SmallEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            endpoint.headers.append(dict(self.headers))
            status, headers, data = endpoint.answer(parse_qs(body)["query"][0])
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/sparql"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
