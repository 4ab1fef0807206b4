"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from unseen.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file when all went well; else, also on Ctrl-C, everything is as it was."""
    check_target(path)
    with writing(path):
        target = path.resolve()
        temporary = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def check_target(path: Path) -> None:
    """Refuse a path at which no file can be made or replaced."""
    with writing(path):
        target = path.resolve()
        if target.is_dir():
            raise IsADirectoryError
        if not target.parent.is_dir():
            raise FileNotFoundError
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system says about a file to be written, as one `GraphError`."""
    try:
        yield
    except IsADirectoryError:
        raise GraphError("is a directory; name a file to write", path=path) from None
    except (FileNotFoundError, NotADirectoryError):
        raise GraphError(f"there is no folder {str(path.parent)!r}; make it first", path=path) from None
    except PermissionError:
        raise GraphError("may not be written: permission denied", path=path) from None
    except OSError as error:
        raise GraphError(f"could not be written: {error.strerror or error}", path=path) from error
