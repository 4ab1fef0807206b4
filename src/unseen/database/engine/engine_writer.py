"""The process that owns the store for reading and writing.

It has two connections: one for work, one thing after the other, and one for what must not wait behind a long update:
checkpoints, labels, names of graphs. When the second one ends, so does the process, whatever it is doing.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from unseen.database.engine.child import leave, limit_memory
from unseen.database.engine.operations import Operations, carried_out
from unseen.database.engine.wire_errors import packed

if TYPE_CHECKING:
    from unseen.database.engine.frames import Channel, Header


def write(channels: list[Channel], settings: dict[str, Any]) -> None:
    """Do what is asked until a connection ends."""
    work, beside = channels
    try:
        operations = Operations(settings["path"])
    except (OSError, RuntimeError) as error:
        work.send({"error": packed(error)})
        return
    work.send({"ready": True})
    threading.Thread(target=_serve_beside, args=(beside, operations), daemon=True).start()
    _serve(work, operations)


def _serve_beside(channel: Channel, operations: Operations) -> None:
    try:
        _serve(channel, operations)
    except MemoryError:  # an update has left none, not even for a message: it is over its limit
        os.abort()
    finally:
        leave()


def _serve(channel: Channel, operations: Operations) -> None:
    while True:
        header, body = channel.receive()
        try:
            told, result = _done(operations, header, body)
        except Exception as error:  # noqa: BLE001 - whoever asked has to hear of it
            told, result = {"error": packed(error)}, b""
        channel.send(told, result)


def _done(operations: Operations, header: Header, body: bytes) -> tuple[Header, bytes]:
    """Carry out one operation, with as much memory as it may take."""
    if "memory" in header:
        limit_memory(header["memory"])
    try:
        result, lines = carried_out(operations, header, body)
    finally:
        if "memory" in header:
            limit_memory(None)
    return {"result": result}, lines
