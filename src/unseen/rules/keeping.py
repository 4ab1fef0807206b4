"""Where what a graph teaches is kept between two programs: beside a database, or in the cache of the user.

That is its rules (`RULES`), and what it adds to the weights of a model (`WEIGHTS`). A database keeps both.
Those of files go to `rules/` and `weights/` in the cache folder, under the checksum of the graph.
That folder is `UNSEEN_CACHE`, or `unseen` in the system's folder for caches; an empty `UNSEEN_CACHE` turns it off.
Those of a graph that came from neither are not kept. Files are replaced in one step: two programs at once do no harm.
If a file is damaged, or cannot be read or written, all is found out anew, and nobody hears of it.

Those of the embedded graph come with the package (`tools/shipped_rules.py` writes them).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from unseen.errors import UnseenError
from unseen.rules.fingerprints import checksum_of
from unseen.rules.origins import has_source, source_of
from unseen.rules.rule_set import Rules

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

SETTING = "UNSEEN_CACHE"
RULES, WEIGHTS = "rules", "weights"
SUFFIX = ".safetensors"
MOST_BYTES = 1 << 30
"""Of all files of a kind in the cache folder; those that were not used for longest make room."""


class Savable(Protocol):
    """What is kept in a file."""

    def save(self, path: Path) -> None:
        """Write all of it to one file."""


def place_of(graph: KnowledgeGraph, kind: str = RULES) -> Path | None:
    """The file for the rules of a graph, or for what it adds to weights; None if nothing is to be kept."""
    if not has_source(graph):
        return None
    database, folder = source_of(graph), cache_folder()
    if database is not None:
        return database / f"{kind}{SUFFIX}"
    return None if folder is None else folder / kind / f"{checksum_of(graph)}{SUFFIX}"


def cache_folder() -> Path | None:
    """The folder of the user for what can be rebuilt; None if there is to be none."""
    named = os.environ.get(SETTING)
    if named is not None:
        return Path(named) if named else None
    with suppress(RuntimeError):  # nobody's home is known
        return _system_cache() / "unseen"
    return None


def _system_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / ".cache"


def kept_rules(place: Path | None) -> Rules | None:
    """The rules of a file, of any graph; None if the file has none, or none that can be used."""
    if place is None:
        return None
    with suppress(UnseenError, OSError):
        found = Rules.load(place)
        with suppress(OSError):
            os.utime(place)
        return found
    return None


def shipped_rules(graph: KnowledgeGraph) -> Rules | None:
    """The shipped rules of an embedded graph; None for any other graph."""
    place = shipped_place(graph) if has_source(graph) else None
    if place is None or not place.is_file():
        return None
    with suppress(UnseenError, OSError):
        return Rules.load(place)
    return None


def shipped_place(graph: KnowledgeGraph, kind: str = RULES) -> Path:
    """The file of the package that holds the rules of an embedded graph, or what it adds to weights."""
    return Path(str(resources.files("unseen.data") / kind / f"{checksum_of(graph)}{SUFFIX}"))


def keep(found: Savable, place: Path | None) -> None:
    """Write something to its file, if that is possible."""
    if place is None:
        return
    is_cached = place.stem not in (RULES, WEIGHTS)
    with suppress(UnseenError, OSError):
        if is_cached:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        found.save(place)
        if is_cached:
            _make_room(place.parent)


def _make_room(folder: Path) -> None:
    """Remove the least recently used files until the rest is small enough, and remnants of crashes."""
    found = [(path.stat(), path) for path in folder.iterdir() if path.is_file()]
    found.sort(key=lambda entry: -entry[0].st_mtime)
    total = 0
    for status, path in found:
        total += status.st_size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
