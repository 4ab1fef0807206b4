"""Files as streams of bytes: decompressed, counted for progress, refused in one line when they cannot be read."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from unseen.errors import GraphError, shorten
from unseen.graph.files.formats import format_of, is_compressed
from unseen.graph.files.git_lfs import POINTER_PROBLEM, is_pointer_file
from unseen.graph.files.parquet_folders import with_parts
from unseen.graph.files.unpacking import Allowance, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from unseen.graph.files.parquet_folders import Fixed

    Progress = Callable[[int, int], None]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PROGRESS_STEP = 1 << 20
_NOT_TEXT = {
    b"PK\x03\x04": "is a zip archive; unpack it first",
    b"PK\x05\x06": "is a zip archive; unpack it first",
    b"\x1f\x8b": "is compressed with gzip; give it a name that ends in .gz",
    b"BZh91AY&SY": "is compressed with bzip2; unpack it first",
    b"\xfd7zX": "is compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"PAR1\x15": "is a Parquet file; give it a name that ends in .parquet",
    b"\xff\xfe": "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)",
}


class Meter:
    """How many bytes of how many have been read, over several files; the figure never goes back."""

    def __init__(self, total: int, report: Progress | None) -> None:
        self.total, self.report = total, report
        self._before = self._reported = 0

    def reached(self, position: int) -> None:
        """Note a position in the current file."""
        done = min(self._before + position, self.total)
        if self.report is not None and done >= self._reported + PROGRESS_STEP:
            self._reported = done
            self.report(done, self.total)

    def finished(self, size: int) -> None:
        """Note the end of the current file, of `size` bytes."""
        self._before += size
        self._reported = min(self._before, self.total)
        if self.report is not None:
            self.report(self._reported, self.total)


@dataclass(frozen=True)
class Source:
    """One file to read, as often as needed."""

    path: Path
    size: int
    meter: Meter
    fixed: Fixed = ()
    """Columns of a table that have one value in all rows, and are not in the file."""

    @property
    def format(self) -> str:
        """What its name says it holds."""
        return format_of(self.path)

    def allowance(self) -> Allowance:
        """How much may come out of it when it is unpacked."""
        return Allowance(self.path, self.size)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes, decompressed; whatever goes wrong while they are read becomes one `GraphError`."""
        with reading(self.path), self.path.open("rb", buffering=0) as raw:
            plain = io.BufferedReader(_Counted(raw, self), 1 << 18)
            if not is_compressed(self.path):
                yield plain
                return
            if plain.peek(2)[:2] not in (b"\x1f\x8b", b""):
                raise GraphError("is not compressed with gzip although its name ends in .gz; rename it", path=self.path)
            with gzip.GzipFile(fileobj=plain, mode="rb") as unpacked:
                yield bounded(unpacked, self.allowance())  # type: ignore[arg-type]  # a BinaryIO in all but name

    @contextmanager
    def open_native(self, block_bytes: int = 0) -> Iterator[tuple[pa.NativeFile, Callable[[], int]]]:
        """Its bytes, decompressed, and how many of the file have been read, to be asked after each block.

        For Arrow, whose threads go on reading after an error: no Python stands between them and the file.
        """
        with pa.OSFile(os.fsencode(self.path)) as raw:
            if not is_compressed(self.path):
                yield raw, raw.tell
                return
            allowance, blocks = self.allowance(), count()
            with pa.CompressedInputStream(raw, "gzip") as unpacked:

                def position() -> int:
                    allowance.reach(next(blocks) * block_bytes)
                    return int(raw.tell())

                yield unpacked, position

    @contextmanager
    def open_text(self) -> Iterator[BinaryIO]:
        """Its bytes after any byte order mark; what is plainly not UTF-8 text, or nothing at all, is refused."""
        with self.open() as stream:
            start: bytes = stream.peek(16)[:16]  # type: ignore[attr-defined]
            if not start:
                raise GraphError("the file is empty", path=self.path)
            for magic, problem in _NOT_TEXT.items():
                if start.startswith(magic):
                    raise GraphError(problem, path=self.path)
            if start.startswith(BYTE_ORDER_MARK):
                stream.read(len(BYTE_ORDER_MARK))
            yield stream


def sources_of(paths: list[Path], progress: Progress | None) -> list[Source]:
    """All files to read, those of folders too, checked before the first is opened."""
    parts = [part for path in paths for part in _parts(path)]
    sizes = [_size_of(path) for path, _ in parts]
    meter = Meter(sum(sizes), progress)
    return [Source(path, size, meter, fixed) for (path, fixed), size in zip(parts, sizes, strict=True)]


def _parts(path: Path) -> list[tuple[Path, Fixed]]:
    if "\0" in str(path):
        raise GraphError("a file name cannot hold a NUL", path=shorten(str(path)))
    with reading(path):
        return with_parts(path)


def _size_of(path: Path) -> int:
    with reading(path):
        size = path.stat().st_size
        if not path.is_file():
            raise GraphError("is not a regular file; copy it to one first", path=path)
        if is_pointer_file(path):
            raise GraphError(POINTER_PROBLEM, path=path)
    format_of(path)
    return size


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What the system says about a file, as one `GraphError`."""
    try:
        yield
    except FileNotFoundError:
        raise GraphError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise GraphError("is a directory; name the files in it", path=path) from None
    except PermissionError:
        raise GraphError("may not be read: permission denied", path=path) from None
    except EOFError:
        raise GraphError("the gzip file is truncated; copy or download it again", path=path) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise GraphError(f"the gzip file is damaged ({error}); copy or download it again", path=path) from None
    except OSError as error:
        raise GraphError(f"could not be read: {error.strerror or error}", path=path) from error


class _Counted(io.RawIOBase):
    """A raw file that tells the meter how many of its bytes were read."""

    def __init__(self, raw: io.FileIO, source: Source) -> None:
        self._raw, self._source, self._count = raw, source, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int | None:  # type: ignore[override]
        read = self._raw.readinto(buffer)
        self._count += read or 0
        self._source.meter.reached(min(self._count, self._source.size))
        return read
