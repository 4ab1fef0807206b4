"""Compiled loops on several of Python's threads: pieces of work that each thread takes one at a time.

As many threads as torch uses. Unlike torch's own, they wait for one another at the end only, so that a thread that
loses its core to another program does not hold up the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import torch


def spread(kernel: Callable[..., None], pieces: Sequence[tuple[Any, ...]], operands: tuple[Any, ...]) -> None:
    """Call the kernel once for each piece of work, on several threads."""
    if len(pieces) <= 1 or torch.get_num_threads() == 1:
        for piece in pieces:
            kernel(*piece, *operands)
    else:
        pool = _threads(torch.get_num_threads(), os.getpid())
        list(pool.map(lambda piece: kernel(*piece, *operands), pieces))


@lru_cache(maxsize=4)
def _threads(count: int, _process: int) -> ThreadPoolExecutor:
    """Threads that wait for work; a forked process makes its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="unseen-kernel")
