"""The settings of a server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from unseen.api import DEFAULT_EFFORT, default_method
from unseen.database.engine.limits import EngineLimits
from unseen.errors import UnseenError
from unseen.server.keys import Keys

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1", "[::1]")


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for, and how many may wait."""

    query_bytes: int = 1 << 20
    """Largest query, question or list of names."""
    update_bytes: int = 4 << 20
    """Largest SPARQL update; more goes to /store."""
    body_bytes: int = 64 << 20
    """Largest list of triples, or graph."""
    result_bytes: int = 64 << 20
    """Largest answer to one query."""
    spool_bytes: int = 512 << 20
    """Bytes on disk of answers that clients have not read yet, all together; more are turned away."""
    seconds: float = 30.0
    """Longest time for one query or question, waiting included."""
    waiting: int = 256
    """Most requests that wait for the model, and as many for the store; more are turned away."""
    batch: int = 64
    """Most questions in one call of the model; 1 turns batching off."""
    batch_seconds: float = 2.0
    """A call of the model takes no further question beyond so many seconds, by estimate."""
    triples: int = 100_000
    """Most triples in one request."""


@dataclass(frozen=True)
class ConnectionLimits:
    """How many clients there may be at a time, and how long each may take."""

    most: int | None = None
    """Most open connections; None: half of the files that may be open, at most a thousand."""
    head_seconds: float = 20.0
    """Longest time for address and headers, from the connection or the first byte on."""
    body_seconds: float = 60.0
    """Longest time for a body."""
    idle_seconds: float = 30.0
    """Longest time between two requests."""
    unread_seconds: float = 30.0
    """Longest time in which a client reads nothing of an answer that waits for it."""
    incoming_bytes: int = 256 << 20
    """Most bytes of requests in memory, at least two of the largest; more get 503."""
    outgoing_bytes: int = 256 << 20
    """Most bytes of large answers that wait to be read, at least two of the largest; more get 503."""


@dataclass(frozen=True)
class ServerSettings:
    """Where to listen, who may come in, what predicts."""

    host: str = "127.0.0.1"
    port: int = 7878
    model: str = field(default_factory=default_method)
    keys: Keys = field(default_factory=Keys)
    origins: tuple[str, ...] = ()
    """Web origins whose pages may read answers (CORS)."""
    limits: Limits = field(default_factory=Limits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    shutdown_seconds: float = 30.0
    """How long a stopping server goes on with what it has taken."""
    engine: EngineLimits = field(default_factory=EngineLimits)
    """Memory of one exact query or update, and how many run at a time."""
    effort: str = DEFAULT_EFFORT
    """How much of a large graph the model looks at."""
    replicas: int = 0
    """Processes that predict; none: a thread of the server does."""

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.keys:
            raise UnseenError(
                f"listening on {self.host} lets others in, which needs keys: give --api-key-file, "
                "or listen on 127.0.0.1"
            )
        if not 0 <= self.port <= 65535:
            raise UnseenError(f"a port is a number up to 65535, not {self.port}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
