"""Keys: who may read, and who may write.

A key file has one key a line, `read KEY` or `write KEY`; a write key may read too. Lines that are empty or begin with #
are passed over. Keys are compared in constant time, all of them, so that the time says nothing about them.

A header is bytes. A key with other than ASCII characters arrives as UTF-8 (curl) or as Latin-1 (browsers, Python); both
are accepted.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
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

    def right_of(self, key: bytes) -> Right | None:
        """What a key, as it came in a header, allows; None if it is not one of them."""
        may_write = _is_among(key, self.write)
        may_read = _is_among(key, self.read)
        return "write" if may_write else "read" if may_read else None


def holder_of(key: bytes) -> str:
    """A name for the holder of a key that does not reveal the key; both forms of a key have the same name."""
    try:
        text = key.decode("utf-8")
    except UnicodeDecodeError:
        text = key.decode("latin-1")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_among(key: bytes, keys: tuple[str, ...]) -> bool:
    equal = [hmac.compare_digest(key, form) for known in keys for form in _forms(known)]
    return any(equal)


@lru_cache(maxsize=1024)
def _forms(key: str) -> tuple[bytes, bytes]:
    """The encodings of a key in a header; a key that is not Latin-1 can only come as UTF-8."""
    written = key.encode()
    try:
        return written, key.encode("latin-1")
    except UnicodeEncodeError:
        return written, written


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
    if not match[2].isprintable():
        raise UnseenError(f"{path}: line {number}: the key has a character that no header can carry")
    if len(match[2]) < SHORTEST_KEY:
        raise UnseenError(f"{path}: line {number}: the key is shorter than {SHORTEST_KEY} characters")
    return match[1], match[2]
