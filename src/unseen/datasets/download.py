"""Public datasets by name: fetched whole, checked, and continued where a connection broke off.

A file grows beside its place as `NAME.part` and takes its name only when it is complete and its checksum is right.
Where no checksum has been published, that of the first download is kept beside the file as `NAME.sha256`, and any later
copy must have the same.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unseen.errors import DatasetError, UnknownMethod

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Progress = Callable[[int, int], None]

TIMEOUT_SECONDS = 30
ATTEMPTS = 5
CHUNK_BYTES = 1 << 18
_INDUCTIVE = "https://zenodo.org/record/7306046/files"
_FREEBASE = "https://github.com/DeepGraphLearning/KnowledgeGraphEmbedding/raw/master/data/FB15k-237"


@dataclass(frozen=True)
class RemoteFile:
    """One file: where it is, what to call it, and its checksum as `md5:...` or `sha256:...`, if published."""

    url: str
    name: str
    checksum: str | None = None


@dataclass(frozen=True)
class PublicSet:
    """A public dataset: its files, and what to do with them."""

    title: str
    files: tuple[RemoteFile, ...]
    next_step: str


def _inductive(name: str, md5: str) -> PublicSet:
    title = "the paper's benchmark on ogbl-wikikg2" if name == "wikikg" else f"the paper's benchmark, ratio {name} %"
    file = RemoteFile(f"{_INDUCTIVE}/{name}.zip", f"{name}.zip", f"md5:{md5}")
    return PublicSet(f"InductiveQE: {title}", (file,), f"unseen dataset import {{folder}}/{name}.zip -o {name}")


_INDUCTIVE_MD5 = {
    "106": "6f9a1dcf22108074fb94a05b8377a173",
    "113": "e4ea60448e918c62779cfa757a096aa9",
    "122": "272d2cc1e3f98f76d02daaf066f9d653",
    "134": "cd8028c9674dc81f38cd17b03af43fe1",
    "150": "61b545de8e5cdb04832f27842d8c0175",
    "175": "29ee1dbed7662740a2f001a0c6df8911",
    "217": "9fde4563c619dc4d2b81af200cf7bc6b",
    "300": "4db5c172acf83f676c9cf6589e033d7e",
    "550": "e78bb9a7de9bd55813bb17f57941303c",
    "wikikg": "fa30b189436ab46a2ff083dd6a5e6e0b",
}
_FREEBASE_SHA256 = {
    "train.txt": "6e4c2782169af21e9743f3b1d200886f5d595bf6bc504ec1351720949c5cdfae",
    "valid.txt": "cf6309010852f6a8d47a45df830a426415d1ee6f7a3970a8376ff1fb81db4a5c",
    "test.txt": "5711cf41623ceb4eacc50eb6108a3ca6565c7492e3caaf82a3e355cc660d1574",
}
SETS = {
    **{f"inductiveqe-{name}": _inductive(name, md5) for name, md5 in _INDUCTIVE_MD5.items()},
    "fb15k-237": PublicSet(
        "FB15k-237: 310,116 triples of Freebase, the graph under the paper's benchmark",
        tuple(RemoteFile(f"{_FREEBASE}/{name}", name, f"sha256:{sha}") for name, sha in _FREEBASE_SHA256.items()),
        "unseen split {folder}/train.txt {folder}/valid.txt {folder}/test.txt --ratio 175 -o my-175",
    ),
    "betae": PublicSet(
        "BetaE and Query2Box queries on FB15k, FB15k-237 and NELL995",
        (
            RemoteFile(
                "http://snap.stanford.edu/betae/KG_data.zip", "KG_data.zip", "md5:d54f92e2e6a64d7f525b8fe366ab3f50"
            ),
        ),
        "unseen dataset import {folder}/KG_data.zip --folder FB15k-237-betae -o fb15k-237-betae",
    ),
    "ogbl-wikikg2": PublicSet(
        "ogbl-wikikg2: 17 million triples of Wikidata",
        (RemoteFile("http://snap.stanford.edu/ogb/data/linkproppred/wikikg-v2.zip", "wikikg-v2.zip"),),
        "unseen convert {folder}/wikikg-v2.zip {folder}/wikikg2.parquet",
    ),
}
"""Every public dataset that can be fetched by name."""


def download(name: str, folder: Path, progress: Progress | None = None) -> list[Path]:
    """Fetch all files of a public dataset into a folder; those already there and right are left as they are."""
    if name not in SETS:
        raise UnknownMethod("public dataset", name, sorted(SETS))
    return [fetch(file, folder, progress) for file in SETS[name].files]


def fetch(file: RemoteFile, folder: Path, progress: Progress | None = None) -> Path:
    """Fetch one file: afterwards it is there, complete and checked, or an error says why not."""
    target = folder / file.name
    wanted = file.checksum or _noted_checksum(target)
    try:
        if not target.exists():
            part = _fetched(file, target, progress)
            found = _check(part, wanted, file.url)
            if wanted is None:
                _note(target).write_text(f"{found}  {target.name}\n", encoding="utf-8")
            part.replace(target)
            _tag(target).unlink(missing_ok=True)
        elif wanted is not None and _checksum(target, wanted) != wanted:
            problem = "already exists with a wrong checksum: remove it to fetch it again"
            raise DatasetError(problem, path=target)
    except OSError as error:
        raise DatasetError(f"cannot be written: {error.strerror or error}", path=target) from None
    return target


def _fetched(file: RemoteFile, target: Path, progress: Progress | None) -> Path:
    """The complete `.part` file; a connection that breaks off is taken up again a few times."""
    part = target.with_name(target.name + ".part")
    for attempt in range(ATTEMPTS):
        before = part.stat().st_size if part.exists() else 0
        if _transfer(file.url, part, progress):
            return part
        if part.stat().st_size == before:
            time.sleep(min(2**attempt * 0.1, 5))
    size = part.stat().st_size
    raise DatasetError(
        f"the connection broke off {ATTEMPTS} times, last after {size:,} bytes; the same command continues from there",
        path=file.url,
    )


def _transfer(url: str, part: Path, progress: Progress | None) -> bool:
    """Add what is missing to a partial file; whether it is complete now."""
    start = part.stat().st_size if part.exists() else 0
    try:
        with _open(url, start, _tag(part.with_suffix(""))) as response:
            resumed = response.status == 206 and _first_byte(response) == start
            total = _total(response, start if resumed else 0)
            part.parent.mkdir(parents=True, exist_ok=True)
            _remember_tag(response, _tag(part.with_suffix("")))
            with part.open("ab" if resumed else "wb") as stream:
                return _copy(response, stream, start if resumed else 0, total, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:
            return _after_the_end(error, part, start)
        raise DatasetError(f"the server answers {error.code} ({error.reason})", path=url) from None
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        if not part.exists():
            raise DatasetError(_unreachable(url, error), path=url) from None
        return False
    except urllib.error.URLError as error:
        raise DatasetError(_unreachable(url, error.reason), path=url) from None


def _open(url: str, start: int, tag: Path) -> Any:
    """The server's answer, from byte `start` on if it can; from the beginning if the file has changed since."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise DatasetError("only http and https addresses can be fetched", path=url)
    request = urllib.request.Request(url, headers={"User-Agent": "unseen"})  # noqa: S310  # checked above
    if start:
        request.add_header("Range", f"bytes={start}-")
        if tag.exists():
            request.add_header("If-Range", tag.read_text(encoding="utf-8").strip())
    return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310


def _copy(response: Any, stream: Any, done: int, total: int | None, progress: Progress | None) -> bool:
    """Copy all bytes there are; whether they are as many as announced."""
    while chunk := response.read(CHUNK_BYTES):
        stream.write(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done, total or done)
    return total is None or done == total


def _first_byte(response: Any) -> int:
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match.group(1)) if match else -1


def _total(response: Any, start: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    return start + int(length) if length.isdecimal() else None


def _after_the_end(error: urllib.error.HTTPError, part: Path, start: int) -> bool:
    """The server has nothing from that byte on: the file is complete, or the partial one is rubbish."""
    if error.headers.get("Content-Range", "") == f"bytes */{start}":
        return True
    part.write_bytes(b"")
    return False


def _unreachable(url: str, reason: object) -> str:
    return f"cannot reach {urlsplit(url).hostname} ({reason}): is there a network?"


def _check(part: Path, wanted: str | None, url: str) -> str:
    """The SHA-256 of a complete file; one with another checksum than wanted is removed and refused."""
    if wanted is not None:
        found = _checksum(part, wanted)
        if found != wanted:
            part.unlink()
            problem = f"what arrived has the checksum {found}, not {wanted}; nothing was kept"
            raise DatasetError(problem, path=url)
    return _checksum(part, "sha256:").removeprefix("sha256:")


def _checksum(path: Path, like: str) -> str:
    """The checksum of a file by the same algorithm as another one."""
    algorithm = like.partition(":")[0]
    with path.open("rb") as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"


def _note(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _noted_checksum(target: Path) -> str | None:
    """The checksum noted at the first download, if there is one."""
    note = _note(target)
    digest = note.read_text(encoding="utf-8").split() if note.is_file() else []
    return f"sha256:{digest[0]}" if digest else None


def _tag(target: Path) -> Path:
    """Where the server's mark of the version that is being fetched is kept."""
    return target.with_name(target.name + ".part.tag")


def _remember_tag(response: Any, tag: Path) -> None:
    mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if mark and not mark.startswith("W/"):
        tag.write_text(mark, encoding="utf-8")
    else:
        tag.unlink(missing_ok=True)
