"""Starting and stopping a server: uvicorn, one process, logs of one JSON line each."""

from __future__ import annotations

import gc
import json
import logging
import math
import os
import signal
import sys
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from unseen.errors import UnseenError
from unseen.server.app import make_app
from unseen.server.connection_watch import MOST_BY_DEFAULT, ConnectionWatch, allow_open_files
from unseen.server.http_connection import HttpConnection
from unseen.server.workers import THREADS
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unseen.database import Database
    from unseen.server.server_settings import ServerSettings

OTHER_FILES = 1024
"""Open files that are no connections, most of them the store's."""
USUAL_COLLECTIONS = (700, 10, 10)
"""Thresholds of the garbage collector in a server."""


def serve(
    database: Database,
    settings: ServerSettings,
    *,
    quiet: bool = False,
    ready: Callable[[int], None] = lambda _: None,
) -> None:
    """Serve a database until stopped (Ctrl-C, SIGTERM); then finish accepted requests and close it.

    `ready` is called with the port when the server listens.
    """
    server = None
    allow_open_files(2 * (settings.connections.most or MOST_BY_DEFAULT) + OTHER_FILES)
    try:
        with _logs(logging.WARNING if quiet else logging.INFO), _ended_by_signal():
            server = make_server(database, settings, ready)
            with _start_forgotten_by_collector():
                server.run()
    except (KeyboardInterrupt, SystemExit):  # uvicorn has stopped in order, and says why
        if server is not None and not server.started:
            where = f"{settings.host}:{settings.port}"
            raise UnseenError(f"cannot listen on {where}; is another server there? Try --port") from None
    finally:
        if not database.close(patience=1.0):
            leave()


@contextmanager
def _start_forgotten_by_collector() -> Iterator[None]:
    """What is in memory now stays: looking through it for garbage again and again would hold up requests.

    What requests leave behind is collected as often as Python does by itself; a command may have asked for less.
    """
    threshold = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


def leave_if_stuck() -> None:
    """End the process at once if a thread of the server, which Python would wait for, cannot be ended."""
    if any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
        leave()


def leave() -> None:
    """End the process at once; like a crash, it loses nothing that was acknowledged."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """SIGTERM, which uvicorn passes on after it has stopped, ends the block instead of the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def make_server(database: Database, settings: ServerSettings, ready: Callable[[int], None]) -> uvicorn.Server:
    """A server that has not been started; in a thread other than the main one it leaves signals alone."""
    return _Server(_config(database, settings), ready)


@contextmanager
def _logs(level: int) -> Iterator[None]:
    """One JSON line for each request (at level INFO) and event, on standard error, while the block runs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    levels = {"unseen.server": level, "uvicorn": logging.WARNING}
    loggers = [logging.getLogger(name) for name in levels]
    before = [(logger, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(levels[logger.name])
        logger.propagate = False
    try:
        yield
    finally:
        for logger, old_level, propagate in before:
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = propagate


class _Server(uvicorn.Server):
    """uvicorn that says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            self._ready(self.servers[0].sockets[0].getsockname()[1])


class _JsonLines(logging.Formatter):
    """Log records as JSON lines; ours are JSON already. The time comes first."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        fields = {"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"), "level": record.levelname.lower()}
        try:
            said = json.loads(message)
        except ValueError:
            said = {"event": "message", "message": message}
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields | said)


def _config(database: Database, settings: ServerSettings) -> uvicorn.Config:
    return uvicorn.Config(
        make_app(database, settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        headers=[
            ("server", f"unseen/{__version__}"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "same-origin"),
        ],
        timeout_keep_alive=math.ceil(settings.connections.idle_seconds),
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
        http=_protocol(settings),
        lifespan="on",
        backlog=512,
        ws="none",
    )


def _protocol(settings: ServerSettings) -> Any:
    """What reads HTTP: our connections, which one watch looks after."""
    limits = settings.limits
    watch = ConnectionWatch(settings.connections, largest_body=limits.body_bytes, largest_answer=limits.result_bytes)
    return partial(HttpConnection, watch=watch)
