"""What the triples say when they cannot be read or written, in the words of our errors."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from unseen.errors import DatabaseDamaged, DatabaseError, DiskFull, EngineLost, shorten

if TYPE_CHECKING:
    from pathlib import Path

_NO_SPACE = re.compile("No space left on device|Disk quota exceeded")
_CORRUPTION = re.compile("Corruption|checksum mismatch|invalid data", re.IGNORECASE)


def is_storage_failure(error: BaseException) -> bool:
    """Whether the disk or the engine failed, not the request."""
    if isinstance(error, RuntimeError):
        return error.args[:1] != () and str(error).startswith(("Corruption", "IO error"))
    return isinstance(error, OSError | EngineLost)


def is_full(error: BaseException) -> bool:
    """Whether there was no space."""
    number = error.errno if isinstance(error, OSError) else None
    return number in (errno.ENOSPC, errno.EDQUOT) or _NO_SPACE.search(str(error)) is not None


def explained(error: BaseException, path: Path | None, what: str) -> DatabaseError:
    """The error for a failure of the triples; `what` says what could not be done."""
    if isinstance(error, DatabaseError):
        return error
    if is_full(error):
        return DiskFull(path or "the database")
    text = shorten(" ".join(str(error).split()), 300)
    if _CORRUPTION.search(text):
        return DatabaseDamaged(f"{what}: the triples are damaged ({text}). Restore a backup", path=path)
    return DatabaseError(f"{what}: {text}", path=path)
