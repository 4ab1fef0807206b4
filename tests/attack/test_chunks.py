"""Chunked bodies: their frames are followed by their lengths, and nobody waits for one that is made of tiny parts."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attack.limited_server import Served, serving
from tests.attack.raw import exchange, status_of
from tests.attack.serving import SLACK
from tests.conftest import FAMILY
from unseen.server.chunks import MOST_FRAME_BYTES, Chunks
from unseen.server.problems import Problem

HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
CHUNKED = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
MEGABYTE = 1_000_000
BODIES = {
    "blank lines in one chunk": b"%x\r\n" % MEGABYTE + b"\r\n\r\n" * (MEGABYTE // 4) + b"\r\n0\r\n\r\n",
    "chunks of one byte": b"1\r\n \r\n" * (MEGABYTE // 6) + b"0\r\n\r\n",
    "chunks of six bytes": b"6\r\n      \r\n" * (MEGABYTE // 11) + b"0\r\n\r\n",
    "chunks of six bytes like heads": b"6\r\n\r\n\r\n\r\n\r\n" * (MEGABYTE // 11) + b"0\r\n\r\n",
}


def chunked(parts: list[bytes], *, extension: bytes = b"", trailers: bytes = b"") -> bytes:
    frames = [b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts if part]
    return b"".join(frames) + b"0" + extension + b"\r\n" + trailers + b"\r\n"


PARTS = st.lists(st.binary(min_size=1, max_size=40) | st.sampled_from([b"\r\n\r\n", b"0\r\n\r\n", b"\n"]), max_size=6)


@given(
    parts=PARTS,
    extension=st.sampled_from([b"", b";a=b", b" ;x"]),
    trailers=st.sampled_from([b"", b"X: y\r\n", b"X: y\r\nZ: \r\n"]),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_a_body_ends_where_its_lengths_say(
    parts: list[bytes], extension: bytes, trailers: bytes, cuts: list[int]
) -> None:
    body = chunked(parts, extension=extension, trailers=trailers)
    data = body + b"GET / HTTP/1.1\r\n\r\n"
    chunks, position, turn = Chunks(), 0, 0
    while not chunks.is_over:
        position = chunks.end_in(data, position, min(len(data), position + cuts[turn % len(cuts)]))
        turn += 1
    assert position == len(body)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"1\r\nx\r\n" * 40_000, 400),
        (b"x\r\n", 400),
        (b"6\r\nASK {}\r\n0\r\nX: " + b"y" * 2 * MOST_FRAME_BYTES, 431),
        (b"100000\r\n" + b"y" * 0x100000 + b"\r\n0\r\nX: " + b"y" * 2 * MOST_FRAME_BYTES, 431),
        (b"6;" + b"y" * 2 * MOST_FRAME_BYTES, 431),
    ],
    ids=["tiny", "no number", "trailer", "trailer of a large body", "extension"],
)
def test_frames_without_a_body_are_refused(data: bytes, status: int) -> None:
    with pytest.raises(Problem) as refused:
        Chunks().end_in(data, 0, len(data))
    assert refused.value.status == status


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("chunks") / "x.db", FAMILY, limits={"query_bytes": 2 << 20}) as served:
        yield served


def test_chunks_of_lines_are_read(server: Served) -> None:
    """As a client sends them that writes line by line."""
    lines = [b"ASK {", *(b"# a comment that is not long\r\n" for _ in range(3000)), b"}"]
    answer = exchange(server.port, CHUNKED + chunked([lines[0] + b"\n", *lines[1:]]))
    assert (status_of(answer), b"true" in answer) == (200, True)


def test_requests_behind_a_chunked_one_are_answered_in_order(server: Served) -> None:
    one = CHUNKED.replace(b"Connection: close\r\n", b"")
    asks = [chunked([b"ASK", b" {}"]), chunked([b"SELECT (1 AS ?x)", b" {\r\n\r\n}"], trailers=b"X: y\r\n")]
    sent = b"".join(one + body for body in asks * 10) + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    answer = exchange(server.port, sent + b"Connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 21
    assert [b"true" in part for part in answer.split(b"HTTP/1.1 200")[1:21]] == [True, False] * 10


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_the_health_is_told_while_ten_clients_send_bodies_of_tiny_parts(server: Served, body: bytes) -> None:
    def send() -> None:
        with contextlib.suppress(ConnectionError):  # refused half-way
            exchange(server.port, CHUNKED + body, timeout=120)

    server.get("/healthz")
    senders = [threading.Thread(target=send) for _ in range(10)]
    for sender in senders:
        sender.start()
    waits = []
    while any(sender.is_alive() for sender in senders):
        began = time.monotonic()
        assert server.get("/healthz", 120)[0] == 200
        waits.append(time.monotonic() - began)
        time.sleep(0.01)
    assert max(waits) < 0.2 + SLACK


def test_headers_without_number_are_not_parsed_to_their_end(server: Served) -> None:
    """A quarter of a megabyte of headers comes at once; two hundred are looked at."""
    answers = []

    def send() -> None:
        address = ("127.0.0.1", server.port)
        with contextlib.suppress(ConnectionError), socket.create_connection(address, 60) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"a:\r\n" * 100_000)
            answers.append(status_of(connection.recv(4096)))

    senders = [threading.Thread(target=send) for _ in range(5)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert set(answers) <= {431, 0}
    assert server.get("/healthz")[0] == 200
