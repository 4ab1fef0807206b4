"""The adjacency of a large graph beside its database, so that the next program maps it and sorts nothing.

The folder `adjacency` holds one array a file and `adjacency.json`: the checksum of the graph, and one of every file. It
is written beside the old one and then put in its place. What does not fit in any way is rebuilt; where nothing can be
written, nothing is kept. Arrays are mapped so that pages come when they are touched.
"""

from __future__ import annotations

import json
import shutil
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from unseen.rules.fingerprints import checksum_of
from unseen.rules.origins import has_source, source_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Arrays = Mapping[str, NDArray[np.generic]]

FOLDER, ABOUT, VERSION = "adjacency", "adjacency.json", 1
LARGE = 1_000_000
"""Triples from which on an adjacency is kept; smaller ones are sorted in a second."""
_PIECE = 1 << 22


def adjacency_place(graph: KnowledgeGraph) -> Path | None:
    """The folder for the adjacency of a graph; None if it is not to be kept."""
    if graph.num_triples < LARGE or not has_source(graph):
        return None
    database = source_of(graph)
    return None if database is None else database / FOLDER


def kept_arrays(place: Path | None, graph: KnowledgeGraph, names: tuple[str, ...]) -> Arrays | None:
    """The arrays that were kept of this very graph, mapped; None if there are none, or none that can be trusted."""
    if place is None:
        return None
    try:
        about = json.loads((place / ABOUT).read_bytes())
        if not _is_of(about, graph) or about["files"] != _checksums(place, names):
            return None
        # copy on write: loops are compiled for arrays that can be written, and nobody writes into these
        return {name: np.asarray(np.load(place / f"{name}.npy", "c", allow_pickle=False)) for name in names}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def are_kept(place: Path | None, graph: KnowledgeGraph) -> bool:
    """Whether arrays of this very graph were kept; their content is not looked at."""
    try:
        return place is not None and _is_of(json.loads((place / ABOUT).read_bytes()), graph)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _is_of(about: Mapping[str, object], graph: KnowledgeGraph) -> bool:
    return (about["version"], about["graph"]) == (VERSION, checksum_of(graph))


def keep_arrays(place: Path | None, graph: KnowledgeGraph, arrays: Arrays) -> None:
    """Write arrays to their folder, if that is possible."""
    if place is None:
        return
    unfinished = place.with_name(f".{place.name}.part")
    with suppress(OSError):
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir()
            for name, array in arrays.items():
                np.save(unfinished / f"{name}.npy", array)
            about = {"version": VERSION, "graph": checksum_of(graph), "files": _checksums(unfinished, tuple(arrays))}
            (unfinished / ABOUT).write_text(json.dumps(about), encoding="utf-8")
            shutil.rmtree(place, ignore_errors=True)
            unfinished.rename(place)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _checksums(place: Path, names: tuple[str, ...]) -> dict[str, int]:
    with ThreadPoolExecutor(2) as pool:  # reading and counting hold no lock of Python's
        return dict(zip(names, pool.map(lambda name: _checksum(place / f"{name}.npy"), names), strict=True))


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return checksum
