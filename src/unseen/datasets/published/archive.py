"""A published dataset as a set of files, whether in a folder or in a zip archive; nothing is ever unpacked to disk.

An archive is checked as a whole before anything is read: names that lead out of it, links, repeated names, encryption
and contents a hundred times as large as the archive are refused.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from unseen.datasets.pickles.restricted import Pickled
from unseen.errors import DatasetError
from unseen.graph.files.git_lfs import POINTER_PROBLEM, is_pointer, is_pointer_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST_EXPANSION = 100
"""How many times its own size an archive may hold; the published ones hold about three times."""

FREE_SIZE = 1 << 24
"""Bytes that any archive may hold, however small it is."""

MOST_MEMBERS = 100_000


class Archive:
    """The files of one dataset, by name; `where` is the folder they lie in."""

    def __init__(self, where: Path, names: dict[str, str], load: Callable[[str], bytes]) -> None:
        self.where, self._names, self._load = where, names, load

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def first(self, *names: str) -> str | None:
        """The first of some names that there is a file of."""
        return next((name for name in names if name in self), None)

    def path(self, name: str) -> Path:
        """What to call a file in a message."""
        return self.where / name

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        if name not in self:
            raise DatasetError(f"{name} is missing", path=self.where)
        content = self._load(self._names[name])
        if is_pointer(content):
            raise DatasetError(POINTER_PROBLEM, path=self.path(name))
        return content

    def pickled(self, name: str) -> Pickled:
        """A file as plain data; a pickle that is more than that is refused."""
        return Pickled(self.read(name), self.path(name))


def open_archives(path: Path) -> dict[str, Archive]:
    """Every folder with files in a folder or zip archive, by its name inside; "" is the outermost."""
    if path.is_dir():
        try:
            return _folders_of_disk(path)
        except OSError as error:
            raise DatasetError(f"cannot be read: {error.strerror or error}", path=path) from None
    if not path.is_file():
        raise DatasetError("there is no such file or folder", path=path)
    if is_pointer_file(path):
        raise DatasetError(POINTER_PROBLEM, path=path)
    return _folders_of_zip(path)


def _folders_of_disk(path: Path) -> dict[str, Archive]:
    folders = [path, *sorted(inner for inner in path.iterdir() if inner.is_dir())]
    return {
        "" if folder == path else folder.name: Archive(
            folder, {file.name: str(file) for file in sorted(folder.iterdir()) if file.is_file()}, _read_file
        )
        for folder in folders
    }


def _read_file(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}", path=name) from None


def _folders_of_zip(path: Path) -> dict[str, Archive]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            _check_members(archive.infolist(), path)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise DatasetError(f"is not a complete zip archive: {error}; download it again", path=path) from None
    folders: dict[str, dict[str, str]] = {"": {}}
    for info in members:
        inside = PurePosixPath(info.filename)
        folder = "" if str(inside.parent) == "." else str(inside.parent)
        folders.setdefault(folder, {})[inside.name] = info.filename
    return {folder: Archive(path / folder, names, _member_reader(path)) for folder, names in folders.items()}


def _check_members(members: list[zipfile.ZipInfo], path: Path) -> None:
    """Refuse an archive that is out to do harm."""
    names = [info.filename for info in members]
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        raise DatasetError("is refused: too many files, or one name twice", path=path)
    for info in members:
        problem = _member_problem(info)
        if problem:
            raise DatasetError(f"is refused: {info.filename!r} {problem}", path=path)
    total, own = sum(info.file_size for info in members), path.stat().st_size
    if total > FREE_SIZE + LARGEST_EXPANSION * own:
        raise DatasetError(f"is refused: {own:,} bytes would become {total:,}, as in a zip bomb", path=path)


def _member_problem(info: zipfile.ZipInfo) -> str | None:
    name = info.orig_filename
    if "\0" in name or "\\" in name or name.startswith("/") or ":" in name or ".." in name.split("/"):
        return "leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    return "is encrypted" if info.flag_bits & 1 else None


def _member_reader(path: Path) -> Callable[[str], bytes]:
    def load(name: str) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive:
                return archive.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise DatasetError(f"is damaged: {error}; download the archive again", path=path / name) from None

    return load
