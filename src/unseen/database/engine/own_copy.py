"""A reader's own copy of a checkpoint, which small changes are applied to: hard links of what never changes."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph

from unseen.database.engine.operations import quads_of

LEAST_PRIORITY = 19


def opened_copy(checkpoint: str, copy: str) -> Any:
    """A store with the contents of a checkpoint that may be changed; what was at the path before is deleted."""
    shutil.rmtree(copy, ignore_errors=True)
    os.mkdir(copy, 0o700)  # noqa: PTH102 - paths are text here
    for entry in os.scandir(checkpoint):
        place = os.link if entry.name.endswith(".sst") else shutil.copyfile
        place(entry.path, f"{copy}/{entry.name}")
    store = pyoxigraph.Store(copy)
    _let_background_wait()
    return store


def apply(store: Any, gone: bytes, there: bytes) -> None:
    """Make lines of N-Triples be gone, and others be there."""
    for quad in quads_of(gone):
        store.remove(quad)
    store.extend(quads_of(there))


def _let_background_wait() -> None:
    """RocksDB tidies up in threads of its own; queries come first."""
    main = str(os.getpid())
    with suppress(OSError):  # another kind of system
        for thread in Path("/proc/self/task").iterdir():
            if thread.name != main and (thread / "comm").read_text().startswith("rocksdb"):
                os.setpriority(os.PRIO_PROCESS, int(thread.name), LEAST_PRIORITY)
