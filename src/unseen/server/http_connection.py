"""One connection: uvicorn's reading and writing of HTTP, with a bound on everything that a client can make us wait for.

uvicorn parses requests (httptools), runs them and writes their answers. What is ours:

- address and headers are bounded in length and number, trailers and the frames of chunks in length;
- a request is read only when the one before it has been answered; what was sent ahead waits in the socket;
- a client that is slow to send, or to read its answer, is given up (`connection_watch`);
- what is no HTTP is answered in our shape.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from unseen.server.problems import Problem, as_bytes, bad_request, busy, described

if TYPE_CHECKING:
    import asyncio

    from unseen.server.connection_watch import ConnectionWatch

MOST_ADDRESS_BYTES = (64 << 10) - 1
"""As much as httptools takes apart; longer queries go into a body."""
MOST_HEADER_BYTES = 64 << 10
MOST_HEADERS = 200
MOST_PATH_BYTES = 4 << 10
"""The address up to its `?`, which is decoded before anyone could ask for a key."""
SECONDS_FOR_A_BODY = 10.0
"""A body that takes longer makes its connection one to be given up when others need room."""
MOST_FRAME_BYTES = 64 << 10
"""What may come between two pieces of a chunked body, or after the last one."""
LEAST_PROGRESS = 16 << 10
"""Bytes that a client has to read in the time that it has for some."""
_TOO_MANY = f"there are more than {MOST_HEADERS} headers, or they are longer than {MOST_HEADER_BYTES:,} bytes"
_END = b"\r\n\r\n"


class Phase(Enum):
    """What a connection waits for."""

    HEAD = "address and headers"
    BODY = "the body"
    ANSWER = "the answer, which is ours to give"
    IDLE = "the next request"


class HttpConnection(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, watch: ConnectionWatch, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._watch = watch
        self.phase = Phase.HEAD
        self._since = self.heard = self.loop.time()
        """When the phase began, and when the last bytes came."""
        self._head_bytes = self._frame_bytes = 0
        self._body_left: int | None = None
        """Bytes of the body that are still to come; None if it is chunked."""
        self._taken = 0
        """Bytes that were received and are in memory still."""
        self._pieces: list[bytes] = []
        """Pieces of a body that nobody has been given yet."""
        self._held = b""
        """What came after a request that is not answered yet."""
        self._unread: tuple[float, int] | None = None
        """Since when the client has read too little of an answer, and how much was unsent then."""
        self._closing_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        if not self._watch.enter(self):
            self._refuse(busy())

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._watch.leave(self)
        self._watch.incoming -= self._taken
        self._taken, self._held = 0, b""
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; what belongs to a later request waits until this one is answered."""
        self.heard = self.loop.time()
        if not self._is_discarded():
            self._taken += len(data)
            self._watch.incoming += len(data)
        if self._watch.has_too_much and not self._held:
            self._refuse(busy())
        elif self._held:
            self._held += data
        else:
            self._parse(data)

    def _is_discarded(self) -> bool:
        """Whether what comes now is the rest of a request that was answered before it had arrived."""
        return self.phase is Phase.BODY and self.cycle is not None and self.cycle.response_complete

    def _parse(self, data: bytes) -> None:
        self._parse_pieces(data)
        self._hand_over_body()

    def _parse_pieces(self, data: bytes) -> None:
        position = 0
        while position < len(data) and not self.transport.is_closing():
            if self.phase is Phase.ANSWER:
                self._held = data[position:]
                self.flow.hold()  # type: ignore[attr-defined]
                return
            end = self._end_of_piece(data, position)
            super().data_received(data[position:end])
            self._check_lengths(end - position)
            position = end

    def _end_of_piece(self, data: bytes, position: int) -> int:
        """Where what is parsed next ends: with the head, the chunk or the body, but not behind the request."""
        if self.phase is Phase.BODY and self._body_left is not None:
            return min(len(data), position + self._body_left)
        found = data.find(_END, position)
        return len(data) if found < 0 else found + len(_END)

    def _check_lengths(self, size: int) -> None:
        if self.transport.is_closing():
            return
        if self.phase is Phase.HEAD:
            self._head_bytes += size
            self._check_head()
        elif self.phase is Phase.BODY and self._body_left is None:
            self._frame_bytes += size
            if self._frame_bytes > MOST_FRAME_BYTES:
                self._refuse(Problem(431, "too_large", f"a trailer is longer than {MOST_FRAME_BYTES:,} bytes"))

    def _check_head(self) -> None:
        """Refuse address and headers that are too long, or too many, as soon as they are."""
        fields, address = self.headers or [], getattr(self, "url", b"")
        if len(address) > MOST_ADDRESS_BYTES:
            message = f"the address is longer than {MOST_ADDRESS_BYTES:,} bytes; send a query in the body"
            self._refuse(Problem(431, "too_large", message))
        elif len(address.partition(b"?")[0]) > MOST_PATH_BYTES:
            self._refuse(Problem(431, "too_large", f"the path is longer than {MOST_PATH_BYTES:,} bytes"))
        elif len(fields) > MOST_HEADERS or self._length_of(fields) > MOST_HEADER_BYTES:
            self._refuse(Problem(431, "too_large", _TOO_MANY))

    def _length_of(self, fields: list[tuple[bytes, bytes]]) -> int:
        """The length of the headers; of one that has not ended yet only what came in earlier pieces is known."""
        ended = sum(len(name) + len(value) for name, value in fields)
        return max(ended, self._head_bytes - MOST_ADDRESS_BYTES)

    def on_message_begin(self) -> None:
        """A request starts."""
        super().on_message_begin()
        self._enter(Phase.HEAD)
        self._head_bytes = 0
        self.scope["unseen.watch"] = self._watch  # type: ignore[typeddict-unknown-key]

    def on_headers_complete(self) -> None:
        """The body comes next."""
        self._enter(Phase.BODY)
        lengths = [value for name, value in self.headers if name == b"content-length"]
        is_chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
        self._body_left = None if is_chunked else int(lengths[0]) if lengths else 0
        self._frame_bytes = 0
        self._check_head()
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        self.headers = []  # trailers would be added to those that the request is judged by

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self.transport.is_closing():
            return
        self._frame_bytes = 0
        if self._body_left is not None:
            self._body_left -= len(body)
        self._pieces.append(body)

    def _hand_over_body(self) -> None:
        """Give all pieces of the body to whoever reads it, at once: one by one each would copy those before it."""
        if self._pieces:
            body, self._pieces = b"".join(self._pieces), []
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there."""
        if self.transport.is_closing():
            return
        self._hand_over_body()
        super().on_message_complete()
        if self.cycle.response_complete:
            self._rest()
        else:
            self._enter(Phase.ANSWER)

    def on_response_complete(self) -> None:
        """The answer is written."""
        super().on_response_complete()
        if self.phase is Phase.ANSWER:
            self._rest()
            self.flow.let_go()  # type: ignore[attr-defined]
            if self._held:
                self.loop.call_soon(self._parse_held)

    def _parse_held(self) -> None:
        held, self._held = self._held, b""
        if not self.transport.is_closing():
            self._parse(held)

    def _rest(self) -> None:
        self._enter(Phase.IDLE)
        self._watch.incoming -= self._taken - len(self._held)
        self._taken = len(self._held)

    def _enter(self, phase: Phase) -> None:
        self.phase, self._since = phase, self.loop.time()

    def pause_writing(self) -> None:
        """The client reads slower than we write."""
        super().pause_writing()
        self._unread = (self.loop.time(), self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._unread = None

    @property
    def unread_since(self) -> float | None:
        """Since when the client has read too little of an answer."""
        return None if self._unread is None else self._unread[0]

    def waits_since(self) -> float | None:
        """Since when a client that has to act has kept us waiting; None if it is our turn.

        Single bytes are no excuse: a head counts from its beginning, and a body from some seconds after it.
        """
        if self._unread is not None:
            return self._unread[0]
        if self.phase is Phase.ANSWER:
            return None
        grace = SECONDS_FOR_A_BODY if self.phase is Phase.BODY else 0.0
        return self.heard if self.phase is Phase.IDLE else min(self.heard, self._since + grace)

    @property
    def is_idle(self) -> bool:
        """Whether it can be closed without harm to any request."""
        return self.phase is Phase.IDLE

    def check(self, now: float) -> None:
        """Give up a client that has taken too long."""
        limits, waited = self._watch.limits, now - self._since
        if self.transport.is_closing():
            self._closing_since = self._closing_since or now
            if now - self._closing_since > limits.unread_seconds:
                self.transport.abort()
        elif self._unread is not None:
            self._check_reading(now, *self._unread)
        elif self.phase is Phase.HEAD and waited > limits.head_seconds:
            self._give_up_head()
        elif self.phase is Phase.BODY and waited > limits.body_seconds:
            self._give_up_body()
        elif self.phase is Phase.IDLE and waited > limits.idle_seconds:
            self.transport.close()

    def _check_reading(self, now: float, since: float, unsent: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left <= unsent - LEAST_PROGRESS:
            self._unread = (now, left)
        elif now - since > self._watch.limits.unread_seconds:
            self.transport.abort()

    def _give_up_head(self) -> None:
        if self._taken:
            self._refuse(Problem(408, "slow_head", "address and headers took too long to arrive"))
        else:
            self.transport.close()

    def _give_up_body(self) -> None:
        """Whoever reads the body is told (`requests.body_of`); if the answer is out already, nothing is left to say."""
        if self.cycle.response_complete:
            self.transport.abort()
        else:
            self.cycle.keep_alive = False
            self.scope["unseen.slow_body"] = True  # type: ignore[typeddict-unknown-key]
            self.cycle.message_event.set()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(bad_request(msg))

    def _refuse(self, problem: Problem) -> None:
        """Say why, and close; an answer that has begun cannot be followed by another one."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            status, body, headers = described(problem)
            content = as_bytes(body)
            lines = [f"HTTP/1.1 {status} Refused", "content-type: application/json", f"content-length: {len(content)}"]
            lines += ["connection: close", *(f"{name.lower()}: {value}" for name, value in headers.items()), "", ""]
            self.transport.write("\r\n".join(lines).encode() + content)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


class _Flow(FlowControl):
    """uvicorn's flow control, in which reading stays off while a later request is held back."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._holds = False

    def hold(self) -> None:
        """Read no more."""
        self._holds = True
        self.pause_reading()

    def let_go(self) -> None:
        """Read on."""
        self._holds = False
        self.resume_reading()

    def resume_reading(self) -> None:
        """Read on, unless reading is held."""
        if not self._holds:
            super().resume_reading()
