"""A query that works for long lets others go first; one that a busy machine holds up does not."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.server.running import wait_until
from unseen.database.engine.deadline import Deadline
from unseen.database.engine.frames import frame
from unseen.server.reader_process import SLOW_NICENESS, Job, ReaderProcess


@contextmanager
def reader_at_work(code: str) -> Iterator[ReaderProcess]:
    """A process that stands for a reader, at a request for 100 seconds already."""
    loop, (connection, other) = asyncio.new_event_loop(), socket.socketpair()
    process = subprocess.Popen([sys.executable, "-c", code])
    child = SimpleNamespace(connections=(connection,), process=process, kill=process.kill)
    reader = ReaderProcess(loop, cast("Any", child), Path("nowhere"), lambda *_: None, lambda _: None)
    reader.job = Job({}, b"", loop.create_future(), Deadline(30.0), began=time.monotonic() - 100, used_before=0.0)
    try:
        yield reader
    finally:
        reader.close()
        process.wait()
        connection.close()
        other.close()
        loop.close()


def test_bringing_a_reader_up_to_date_is_no_work_on_its_request() -> None:
    with reader_at_work("while True: pass") as reader:
        assert reader.job is not None
        reader.tell_prefixes({})
        assert reader.is_behind
        assert reader.seconds_at_work(time.monotonic()) == reader.seconds_used() == 0.0
        reader.hear(frame({"confirmed": "open"}))
        assert not reader.is_behind
        assert time.monotonic() - reader.job.began < 50  # it had been 100
        assert reader.job.used_before is None


def priority(reader: ReaderProcess) -> int:
    return os.getpriority(os.PRIO_PROCESS, reader.pid)


def test_a_query_that_only_waits_for_a_core_keeps_its_priority() -> None:
    with reader_at_work("import time; time.sleep(100)") as reader:
        before = priority(reader)
        assert reader.seconds_at_work(time.monotonic()) >= 20
        reader.let_others_first(5.0)
        assert priority(reader) == before


def test_a_query_that_works_for_long_lets_others_go_first() -> None:
    with reader_at_work("while True: pass") as reader:
        wait_until(lambda: reader.let_others_first(0.2) or priority(reader) >= SLOW_NICENESS)
