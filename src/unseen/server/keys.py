"""Keys: who may read, and who may write.

A key file has one key a line, `read KEY` or `write KEY`; a write key may read too. Lines that are empty or begin with #
are passed over. Keys are compared in constant time, all of them, so that the time says nothing about them.
"""

from __future__ import annotations

import hmac
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unseen.errors import UnseenError

if TYPE_CHECKING:
    from pathlib import Path

    Right = Literal["read", "write"]

SHORTEST_KEY = 16
_LINE = re.compile(r"(read|write)\s+(\S+)")


@dataclass(frozen=True)
class Keys:
    """The keys of a server; none means that everyone who reaches it may do everything."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.read or self.write)

    def __repr__(self) -> str:
        return f"Keys({len(self.read)} read, {len(self.write)} write)"

    def right_of(self, key: str) -> Right | None:
        """What a key allows; None if it is not one of them."""
        may_write = _is_among(key, self.write)
        may_read = _is_among(key, self.read)
        return "write" if may_write else "read" if may_read else None


def _is_among(key: str, keys: tuple[str, ...]) -> bool:
    given = key.encode("utf-8", "surrogateescape")
    equal = [hmac.compare_digest(given, known.encode()) for known in keys]
    return any(equal)


def read_keys(path: Path) -> Keys:
    """The keys of a file; a file that others can read, or a key that can be guessed, is refused."""
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnseenError(f"{path}: the key file cannot be read: {error}") from None
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        raise UnseenError(f"{path}: others can read this key file; run `chmod 600 {path}`")
    found: dict[str, list[str]] = {"read": [], "write": []}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            right, key = _parsed(line, number, path)
            found[right].append(key)
    keys = Keys(tuple(found["read"]), tuple(found["write"]))
    if not keys:
        raise UnseenError(f"{path}: no key in it; write lines `read KEY` or `write KEY`")
    return keys


def _parsed(line: str, number: int, path: Path) -> tuple[str, str]:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise UnseenError(f"{path}: line {number}: write `read KEY` or `write KEY`")
    if len(match[2]) < SHORTEST_KEY:
        raise UnseenError(f"{path}: line {number}: the key is shorter than {SHORTEST_KEY} characters")
    return match[1], match[2]
