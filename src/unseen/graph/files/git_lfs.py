"""Pointers of Git LFS: the few lines that stand in a checkout for a file that was not fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

POINTER_START = b"version https://git-lfs.github.com/spec/"
LARGEST_POINTER = 1024
"""Bytes: the specification allows no larger ones."""
POINTER_PROBLEM = "is a Git LFS pointer, not the data: run `git lfs pull` in the repository that it comes from"


def is_pointer(content: bytes) -> bool:
    """Whether the bytes of a file are a pointer."""
    return len(content) <= LARGEST_POINTER and content.startswith(POINTER_START)


def is_pointer_file(path: Path) -> bool:
    """Whether a file is a pointer; False if it cannot be read, so that reading it reports the error."""
    try:
        with path.open("rb") as stream:
            return is_pointer(stream.read(LARGEST_POINTER + 1))
    except OSError:
        return False
