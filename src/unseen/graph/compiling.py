"""Loops as machine code, and the cores that they may use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code that releases the interpreter lock, kept on disk where a folder can be written."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function": no folder can be written
        return numba.njit(nogil=True)(function)


def inner(function: Callable[..., Any]) -> Any:
    """A part of compiled functions, which Python itself does not call: it takes half the time to compile."""
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
