"""Loops as machine code, and the cores that they may use.

Machine code is kept on disk. numba takes it for current as long as the function's own file is unchanged, but constants
and functions of other files are compiled in too. So what a function refers to is a part of what its code is kept under.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

PLAIN = (int, float, str, bytes, tuple, type(None))


def compiled(function: Callable[..., Any]) -> Any:
    """The function as machine code that releases the interpreter lock, kept on disk where a folder can be written."""
    try:
        made = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function": no folder can be written
        return numba.njit(nogil=True)(function)
    kept = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if kept is not None:  # None where compiling is switched off
        kept._source_stamp = (kept._source_stamp, meaning_of(function))
    return made


def meaning_of(function: Callable[..., Any]) -> str:
    """A short text that changes with a function, with the constants it refers to, and with the functions it calls."""
    digest, seen = hashlib.blake2b(digest_size=16), {function}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        constants = [value for value in one.__code__.co_consts if isinstance(value, PLAIN)]
        digest.update(one.__code__.co_code + repr(constants).encode())
        for name in sorted(_names(one.__code__)):
            value = one.__globals__.get(name)
            called = getattr(value, "py_func", None)
            if called is not None and called not in seen:
                seen.add(called)
                waiting.append(called)
            elif isinstance(value, PLAIN):
                digest.update(f"{name}={value!r};".encode())
    return digest.hexdigest()


def _names(code: CodeType) -> set[str]:
    """The global names of a function and of those defined in it."""
    inner = (_names(one) for one in code.co_consts if hasattr(one, "co_names"))
    return set(code.co_names).union(*inner)


def inner(function: Callable[..., Any]) -> Any:
    """A part of compiled functions, which Python itself does not call: it takes half the time to compile."""
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
