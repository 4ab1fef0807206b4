"""Clients that are slow to send, or do not read: they are given up, and everyone else is answered meanwhile."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.attack.limited_server import Served, serving
from tests.attack.raw import exchange, request, status_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches /proc")

EACH = int(os.environ.get("UNSEEN_SLOW_CONNECTIONS", "360")) // 6
"""Connections of each kind; the full size is 2,000 in all."""
SHORT = {"head_seconds": 2.0, "body_seconds": 2.0, "idle_seconds": 2.0, "unread_seconds": 2.0}
TRIPLES = [(f"entity number {i}", f"relation {i % 7}", f"entity number {i * 7 % 3000}") for i in range(3000)]
LARGE = f"/query?query={quote('SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 12000')}"
LARGER = LARGE.replace("12000", "30000")
HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
KINDS: dict[str, tuple[bytes, bytes]] = {
    "silent": (b"", b""),
    "half a head": (b"GET /healthz HTTP/1.1\r\nHost: local", b"h"),
    "half a body": (HEAD + b"Content-Length: 1000\r\n\r\nASK", b" "),
    "trailers without end": (CHUNKED + b"6\r\nASK {}\r\n0\r\n", b"X-Trailer: y\r\n"),
    "requests without reading": (b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100, b""),
    "a large answer without reading": (f"GET {LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), b""),
}
"""What is sent first, and what drips afterwards."""


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """This process has one end of every connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


OPEN: list[socket.socket] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def connected(server: Served, first: bytes) -> socket.socket:
    connection = socket.socket()
    OPEN.append(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", server.port))
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        connection.send(first)
    return connection


def is_over(connection: socket.socket) -> bool:
    """Whether the server has ended a connection; what it has sent stays unread."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


class Asking:
    """Someone who asks for the health again and again while others do harm; counts what came late or not at all."""

    def __init__(self, server: Served) -> None:
        self.server, self.times, self.failures = server, [], []  # type: ignore[var-annotated]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._stop.wait(0.1):
            began = time.monotonic()
            try:
                status, _ = self.server.get("/healthz", 120)
                if status != 200:
                    self.failures.append(str(status))
            except OSError as error:
                self.failures.append(repr(error))
            self.times.append(time.monotonic() - began)


def until(condition: Callable[[], bool], seconds: float, each: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        each()
        time.sleep(0.2)


def test_slow_connections_are_given_up_while_others_are_answered(tmp_path: Path) -> None:
    connections, limits = {**SHORT, "most": 6 * EACH + 100}, {"seconds": 300}
    with serving(tmp_path / "x.db", TRIPLES, connections=connections, limits=limits) as server:
        assert server.get("/query?query=ASK%7B%7D")[0] == 200
        exchange(server.port, request("GET", LARGE, {}))
        memory, files = server.megabytes, server.open_files
        with Asking(server) as asking:
            open_ones = []
            for first, drip in KINDS.values():
                open_ones += [(connected(server, first), drip) for _ in range(EACH)]

            def drip() -> None:
                for connection, dripped in open_ones:
                    with contextlib.suppress(OSError):
                        connection.send(dripped)

            until(lambda: server.open_files <= files + 3, 120 + EACH, drip)
        assert not asking.failures
        assert len(asking.times) >= 5
        until(lambda: server.megabytes < memory + 60, 30)
        assert server.get("/query?query=ASK%7B%7D")[0] == 200


def test_above_the_cap_the_longest_silence_makes_room(tmp_path: Path) -> None:
    with serving(tmp_path / "x.db", TRIPLES[:10], connections={"most": 20}) as server:
        files = server.open_files
        silent = [connected(server, b"GET /heal") for _ in range(60)]
        time.sleep(1.5)
        assert server.open_files <= files + 30
        for _ in range(10):
            assert server.get("/healthz")[0] == 200
        refused = [connection for connection in silent if is_over(connection)]
        assert len(refused) >= 40


def test_idle_connections_make_room_at_once(tmp_path: Path) -> None:
    with serving(tmp_path / "x.db", TRIPLES[:10], connections={"most": 20}) as server:
        for _ in range(60):
            connection = connected(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.settimeout(30)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        assert server.get("/healthz")[0] == 200


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("plain") / "x.db", TRIPLES[:10]) as server:
        yield server


def test_pipelined_requests_are_answered_in_order_one_at_a_time(plain: Served) -> None:
    one = HEAD + b"Content-Length: %d\r\n\r\n%s"
    sent = b"".join(
        one % (len(body), body) for body in (b"ASK {}", b"SELECT (1 AS ?x) {}", b"ASK { :no :no :no }") * 20
    )
    answer = exchange(plain.port, sent + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 61
    order = [b"true" in part for part in answer.split(b"HTTP/1.1 200")[1:61]]
    assert order == [True, False, False] * 20


def test_a_chunked_body_in_small_pieces_is_read(plain: Served) -> None:
    pieces = b"".join(b"1\r\n%c\r\n" % sign for sign in b"ASK {\r\n\r\n}")
    sent = CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + pieces + b"0\r\nX-Trailer: y\r\n\r\n"
    assert status_of(exchange(plain.port, sent)) == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (CHUNKED + b"6\r\nASK {}\r\n0\r\n" + b"X-Trailer: y\r\n" * 20_000, 431),
        (CHUNKED + b"6\r\nASK {}\r\n0\r\nX: " + b"x" * 300_000, 431),
        (CHUNKED + b"6;" + b"x" * 300_000, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"%41" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
    ],
    ids=["trailers", "trailer", "extension", "headers", "header", "path"],
)
def test_what_is_around_a_body_is_bounded(plain: Served, sent: bytes, status: int) -> None:
    answer = exchange(plain.port, sent)
    assert status_of(answer) in (status, 0)  # a reset may overtake the answer
    assert plain.get("/healthz")[0] == 200


def test_trailers_are_no_headers(plain: Served) -> None:
    """What comes after the body cannot change what the request is judged by."""
    sent = CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\nAccept: text/csv\r\n\r\n")
    sent += b"1b\r\nSELECT (1 AS ?x) WHERE {  }\r\n0\r\nAccept: application/json\r\nHost: evil\r\n\r\n"
    answer = exchange(plain.port, sent)
    assert status_of(answer) == 200
    assert b"text/csv" in answer


def test_answers_that_nobody_reads_take_bounded_memory(tmp_path: Path) -> None:
    """Forty large answers, of which memory holds a few; whoever reads is answered."""
    limits = {"outgoing_bytes": 1, "unread_seconds": 30.0}
    with serving(tmp_path / "x.db", TRIPLES, connections=limits, limits={"result_bytes": 20 << 20}) as server:
        whole = exchange(server.port, request("GET", LARGER, {}), timeout=120)
        assert len(whole) > 10_000_000
        memory = server.megabytes
        for _ in range(20):
            connected(server, f"GET {LARGER} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        highest = 0.0
        for _ in range(20):
            time.sleep(0.2)
            highest = max(highest, server.megabytes)
            assert server.get("/healthz")[0] == 200
        for _ in range(40):  # a busy machine may refuse some
            answer = exchange(server.port, request("GET", LARGER, {}), timeout=120)
            if status_of(answer) == 200 and len(answer) == len(whole):
                break
            time.sleep(0.5)
        else:
            pytest.fail("nobody was answered")
        assert highest < memory + 150  # all twenty are 220


def test_single_bytes_do_not_hold_a_place(tmp_path: Path) -> None:
    """Connections that send a byte now and then make room for one that asks."""
    with serving(tmp_path / "x.db", TRIPLES[:3], connections={"most": 12, "head_seconds": 60.0}) as server:
        dripping = [connected(server, b"GET /healthz HTTP/1.1\r\nX: ") for _ in range(20)]
        for _ in range(5):
            time.sleep(0.5)
            for one in dripping:
                with contextlib.suppress(OSError):
                    one.sendall(b"x")
        assert server.get("/query?query=ASK%7B%7D")[0] == 200
