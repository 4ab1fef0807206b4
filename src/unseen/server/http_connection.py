"""One connection: uvicorn's reading and writing of HTTP, with a bound on everything that a client can make us wait for.

uvicorn parses requests (httptools), runs them and writes their answers. What is ours:

- address and headers are bounded in length and number, trailers and the frames of chunks in length (`chunks`);
- chunked bodies, whose parts may be tiny, are parsed in pieces, and connections take turns (`connection_watch`);
- a request is read only when the one before it has been answered; what was sent ahead waits in the socket;
- a client that is slow to send, or to read its answer, is given up (`connection_watch`);
- what is no HTTP is answered in our shape.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from unseen.server.chunks import Chunks
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
MOST_AT_ONCE = 8 << 10
"""Bytes of a chunked body that are parsed before it is somebody else's turn: a few milliseconds at most."""
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
        self._head_bytes = self._body_left = 0
        """Bytes of the head so far, and of a body of known length that are still to come."""
        self._chunks: Chunks | None = None
        """The frames of the body, if it is chunked."""
        self._taken = 0
        """Bytes that were received and are in memory still."""
        self._pieces: list[bytes] = []
        """Pieces of a body that nobody has been given yet."""
        self._held = b""
        """What came after a request that is not answered yet, or has to wait for its turn."""
        self._unread: tuple[float, int] | None = None
        """Since when the client has read too little of an answer, and how much was unsent then."""
        self._closing_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        if not self._watch.enter(self):
            self._refuse(busy())

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has disconnected."""
        self._watch.leave(self)
        self._watch.incoming -= self._taken
        self._taken, self._held = 0, b""
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take received bytes; those of a later request wait until this one is answered."""
        self.heard = self.loop.time()
        if not self._is_discarded():
            self._taken += len(data)
            self._watch.incoming += len(data)
        if self._watch.has_too_much and not self._held:
            self._refuse(busy())
        elif self._held:
            self._held += data
        elif self._is_in_chunks:
            self._wait_for_turn(data)
        else:
            self._parse(data)

    def _is_discarded(self) -> bool:
        """Whether the bytes belong to a request that was answered before all of it had arrived."""
        return self.phase is Phase.BODY and self.cycle is not None and self.cycle.response_complete

    def _parse(self, data: bytes) -> None:
        self._parse_pieces(data)
        self._hand_over_body()

    def _parse_pieces(self, data: bytes) -> None:
        position = 0
        while position < len(data) and not self.transport.is_closing():
            if self.phase is Phase.ANSWER:
                self._hold(data[position:])
                return
            if self._is_in_chunks and position:
                self._wait_for_turn(data[position:])
                return
            position = self._parse_piece(data, position)

    def _parse_piece(self, data: bytes, position: int) -> int:
        """Parse up to the end of the head or of the body, or one piece of a chunked body; the place reached."""
        try:
            end = self._end_of_piece(data, position)
        except Problem as problem:
            self._refuse(problem)
            return len(data)
        super().data_received(data[position:end])
        if not self.transport.is_closing():
            self._check_parsed(end - position)
        return end

    def _hold(self, data: bytes) -> None:
        """Keep what came until it can be parsed, and read no more meanwhile."""
        self._held = data
        self.flow.hold()  # type: ignore[attr-defined]

    def _wait_for_turn(self, data: bytes) -> None:
        self._hold(data)
        self._watch.take_turn(self)

    @property
    def _is_in_chunks(self) -> bool:
        return self.phase is Phase.BODY and self._chunks is not None

    def _end_of_piece(self, data: bytes, position: int) -> int:
        """Where what is parsed next ends: with the head, the body or a piece of it, but not behind the request."""
        if self.phase is not Phase.BODY:
            found = data.find(_END, position)
            return len(data) if found < 0 else found + len(_END)
        if self._chunks is None:
            return min(len(data), position + self._body_left)
        return self._chunks.end_in(data, position, min(len(data), position + MOST_AT_ONCE))

    def _check_parsed(self, size: int) -> None:
        if self.phase is Phase.HEAD:
            self._head_bytes += size
            self._check_head()
        elif self._is_in_chunks and self._chunks is not None and self._chunks.is_over:
            self._refuse(bad_request("the chunks of the body do not end where they should"))

    def _check_head(self) -> None:
        """Refuse an address or headers as soon as they are too long or too many."""
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
        if self.phase is Phase.ANSWER:  # the parser sees the end of the body elsewhere than we do
            self._refuse(bad_request("the chunks of the body do not end where they should"))
            raise _Refused
        super().on_message_begin()
        self._enter(Phase.HEAD)
        self._head_bytes = 0
        self.scope["unseen.watch"] = self._watch  # type: ignore[typeddict-unknown-key]

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer; one too many ends the parsing, however many more there are."""
        if len(self.headers) > MOST_HEADERS:
            self._refuse(Problem(431, "too_large", _TOO_MANY))
            raise _Refused
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The body comes next."""
        self._enter(Phase.BODY)
        lengths = [value for name, value in self.headers if name == b"content-length"]
        is_chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
        self._chunks = Chunks() if is_chunked else None
        self._body_left = int(lengths[0]) if lengths else 0
        self._check_head()
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        self.headers = []  # trailers would be added to those that the request is judged by

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self.transport.is_closing():
            return
        if self._chunks is None:
            self._body_left -= len(body)
        self._pieces.append(body)

    def _hand_over_body(self) -> None:
        """Pass all pieces of the body on at once: one by one, each would copy those before it."""
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

    def go_on(self) -> None:
        """Parse the next piece of the buffer, and resume reading if that was all."""
        self._parse_held()
        if not self._held and not self.transport.is_closing():
            is_full = self.cycle is not None and len(self.cycle.body) > HIGH_WATER_LIMIT
            self.flow.let_go(reads=not is_full)  # type: ignore[attr-defined]

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
        """Answer input that is not HTTP, unless it has been refused already."""
        if not self.transport.is_closing():
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


class _Refused(Exception):
    """Raised to the parser, which passes it on as an error of its own: it need not parse the rest."""


class _Flow(FlowControl):
    """uvicorn's flow control, in which reading stays off while a later request is held back."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._holds = False

    def hold(self) -> None:
        """Read no more."""
        self._holds = True
        self.pause_reading()

    def let_go(self, *, reads: bool = True) -> None:
        """Read on, at once or when the body that is there has been taken."""
        self._holds = False
        if reads:
            self.resume_reading()

    def resume_reading(self) -> None:
        """Read on, unless reading is held."""
        if not self._holds:
            super().resume_reading()
