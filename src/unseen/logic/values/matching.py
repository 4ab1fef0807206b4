"""Which texts a regular expression fits: RE2's expressions, in pieces between which the work can be stopped.

RE2 takes time in proportion to the text times the size of the expression. A few signs may stand for a hundred thousand
states (`(a?){1000}`), so an expression that is too large for the longest of the texts is refused.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import QueryRefused
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_WORK = 200_000_000
"""States times bytes of one text: about a second."""
FIRST_PIECE, PIECE_SECONDS = 1 << 16, 0.02
"""Bytes that are looked at first, and about how long a piece may take."""
_ANYTHING, _CLASS, _UNICODE_CLASS = 10, 50, 2000
"""States of `.`, of `[...]`, and of a class that only Unicode's tables say."""
_PARTS = re.compile(
    r"(?P<unicode>\\[pP](?:\{[^}]*\}|.))"
    r"|\\.|(?P<class>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])"
    r"|(?P<open>\((?:\?[^):]*[:)>])?)|(?P<close>\))"
    r"|\{(?P<least>\d+)(?P<to>,(?P<most>\d*))?\}|[*+?]|(?P<any>\.)|.",
    re.DOTALL,
)


def matched(texts: pa.Array, pattern: str, flags: str) -> pa.Array:
    """For each text, whether some of it fits; null for null."""
    if set(flags) - set("ims"):
        raise QueryRefused(f"the flags {flags!r} of a regular expression are not supported: only i, m and s are")
    inner = "".join(flag for flag in flags if flag in "ms")
    whole, ignore_case = f"(?{inner}){pattern}" if inner else pattern, "i" in flags
    sizes = pc.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False)
    try:
        _check_work(pattern, int(sizes.max(initial=0)))
        return pa.chunked_array(
            [pc.match_substring_regex(piece, whole, ignore_case=ignore_case) for piece in _pieces(texts, sizes)],
            pa.bool_(),
        ).combine_chunks()
    except pa.ArrowInvalid as error:
        problem = str(error).partition(":")[2].strip() or str(error)
        raise QueryRefused(f"{_short(pattern)} is not a regular expression: {problem}") from None


def _pieces(texts: pa.Array, sizes: np.ndarray) -> Iterator[pa.Array]:
    """The texts in pieces that take about the same time, whatever the expression."""
    ends, start, wanted = np.cumsum(sizes), 0, FIRST_PIECE
    while start < len(texts):
        check_stop()
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + wanted, side="right")))
        began = time.perf_counter()
        yield texts.slice(start, end - start)
        start, wanted = end, wanted * 2 if time.perf_counter() - began < PIECE_SECONDS else max(1, wanted // 2)


def _check_work(pattern: str, longest: int) -> None:
    states = states_of(pattern)
    if states * longest > MOST_WORK:
        reason = f"it has about {states:,} states, and texts here have up to {longest:,} bytes"
        raise QueryRefused(f"{_short(pattern)} is too large: {reason}")


def states_of(pattern: str) -> int:
    """About how many states an expression has: what is repeated counts as often as it may be."""
    open_groups, last = [0], 0
    for part in _PARTS.finditer(pattern):
        found = part.groupdict()
        if found["least"] is not None:
            times = max(1, int(found["least"][:9]) + bool(found["to"]), int((found["most"] or "0")[:9]))
            open_groups[-1] += last * (times - 1)
            last *= times
        elif found["open"] is not None:
            open_groups.append(0)
            last = 0
        elif found["close"] is not None and len(open_groups) > 1:
            last = open_groups.pop() + 1
            open_groups[-1] += last
        elif part.group() not in ("*", "+", "?"):
            last = _states(found, part.group())
            open_groups[-1] += last
    return sum(open_groups)


def _states(found: dict[str, str | None], text: str) -> int:
    if found["unicode"]:
        return _UNICODE_CLASS
    if found["class"]:
        return _CLASS + _UNICODE_CLASS * len(re.findall(r"\\[pP]", text))
    return _ANYTHING if found["any"] else len(text.encode("utf-8", "replace"))


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 100 else f"{pattern[:100]}…")
