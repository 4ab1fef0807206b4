"""The graph as arrays on disk, mapped into memory: 1 M triples are there in a tenth of a second.

`heads.npy`, `relations.npy`, `tails.npy` are int32; `by_head.*.npy` and `by_tail.*.npy` the same edges in the orders in
which they are looked up, if they are many; `entities.arrow` and `relations.arrow` hold keys and labels;
a graph with values also has the files of `value_snapshots`;
`snapshot.json` the counts, the prefixes and a checksum of every file. A snapshot is written beside the old one, and
only then put in its place. All checksums are compared before anything of it is used (a second for 1.5 GB); a snapshot
in which one does not fit is made again from the triples.
"""

from __future__ import annotations

import os
import shutil
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.database.folder import as_json, read_json, sync_folder
from unseen.database.value_snapshots import read_values, write_values
from unseen.errors import DatabaseDamaged, DatabaseError
from unseen.graph import KnowledgeGraph
from unseen.graph.arrow_arrays import TEXT
from unseen.graph.attributes import NO_ATTRIBUTES
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes
from unseen.graph.sorted_edges import SortedEdges
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS = ("heads", "relations", "tails")
VIEWS, VIEW_COLUMNS = ("by_head", "by_tail"), ("offsets", "sources", "targets")
SORTED_FROM = 100_000
"""Triples from which on sorted edges are kept; fewer are sorted in no time."""
_SCHEMA = pa.schema([("key", TEXT), ("label", TEXT)])
_PIECE = 1 << 20


class SnapshotWithoutChecksums(DatabaseError):
    """A snapshot of format 1, which cannot be verified."""


class SnapshotWithoutValues(DatabaseError):
    """A snapshot that was written before graphs had values; `graph` is what it has."""

    def __init__(self, graph: KnowledgeGraph, path: Path) -> None:
        self.graph = graph
        super().__init__("says nothing about values", path=path)


def write_snapshot(graph: KnowledgeGraph, path: Path) -> None:
    """Write a graph into a folder, completely or not at all."""
    unfinished = path.with_name(f".{path.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir()
        for column in COLUMNS:
            np.save(unfinished / f"{column}.npy", getattr(graph, column))
        if graph.num_triples >= SORTED_FROM:
            _write_views(graph, unfinished)
        names = {"entities": graph.vocabulary.entities, "relations": graph.vocabulary.relations}
        for kind, column_names in names.items():
            _write_names(column_names, unfinished / f"{kind}.arrow")
        described = {**_description(graph), "values": write_values(graph.attributes, unfinished)}
        (unfinished / "snapshot.json").write_bytes(as_json({**described, "files": _checksums(unfinished)}))
        sync_files(unfinished)
        shutil.rmtree(path, ignore_errors=True)
        unfinished.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise DatabaseError(f"could not be written: {error.strerror or error}", path=path) from error


def read_snapshot(path: Path) -> KnowledgeGraph:
    """The graph of a folder; columns and names stay on disk until they are used."""
    try:
        described = read_json(path / "snapshot.json", remedy="")
        _verify(path, described)
        prefixes = Prefixes(described["prefixes"])
        entities, relations = (
            _read_names(kind, path / f"{file}.arrow", prefixes)
            for kind, file in (("entity", "entities"), ("relation", "relations"))
        )
        attributes = read_values(path, described["values"], prefixes) if described.get("values") else NO_ATTRIBUTES
        heads, ids, tails = (_mapped(path / f"{column}.npy") for column in COLUMNS)
        if not len(heads) == len(ids) == len(tails):
            raise DatabaseDamaged("is damaged: its columns differ in length", path=path)
        graph = KnowledgeGraph.of_checked(
            (heads, ids, tails), Vocabulary(entities, relations), _read_views(path), attributes
        )
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise DatabaseDamaged(f"is damaged: {error}", path=path) from error
    if graph.num_triples != described["triples"]:
        raise DatabaseDamaged("is damaged: some triples are missing", path=path)
    if "values" not in described:
        raise SnapshotWithoutValues(graph, path)
    return graph


def _write_views(graph: KnowledgeGraph, path: Path) -> None:
    for name in VIEWS:
        view = getattr(graph, name)
        for column in VIEW_COLUMNS:
            np.save(path / f"{name}.{column}.npy", getattr(view, column))


def _read_views(path: Path) -> dict[str, SortedEdges]:
    """Both sorted views, if they were written."""
    if not (path / f"{VIEWS[0]}.{VIEW_COLUMNS[0]}.npy").exists():
        return {}
    return {name: SortedEdges(*(_mapped(path / f"{name}.{column}.npy") for column in VIEW_COLUMNS)) for name in VIEWS}


def _mapped(path: Path) -> NDArray[Any]:
    """An array that stays on disk until it is used."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _verify(path: Path, described: dict[str, object]) -> None:
    """Compare the checksum of every file."""
    if "files" not in described:
        raise SnapshotWithoutChecksums("has no checksums", path=path)
    found = _checksums(path)
    for name, expected in dict(described["files"]).items():  # type: ignore[call-overload]
        if found.get(name) != expected:
            raise DatabaseDamaged("is damaged: its checksum does not fit", path=path / name)


def _checksums(path: Path) -> dict[str, int]:
    files = [file for file in sorted(path.iterdir()) if file.name != "snapshot.json"]
    with ThreadPoolExecutor(2) as pool:  # reading and counting hold no lock of Python's
        return dict(zip((file.name for file in files), pool.map(_checksum, files), strict=True))


def _checksum(path: Path) -> int:
    """The CRC-32 of a file, read in pieces."""
    checksum = 0
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _description(graph: KnowledgeGraph) -> dict[str, object]:
    prefixes = graph.vocabulary.relations.prefixes.namespaces | graph.vocabulary.entities.prefixes.namespaces
    return {"triples": graph.num_triples, "entities": graph.num_entities, "prefixes": prefixes}


def _write_names(names: Names, path: Path) -> None:
    labels = names.labels if names.labels is not None else pa.nulls(len(names), TEXT)
    with pa.OSFile(os.fsencode(path), "wb") as stream, pa.ipc.new_file(stream, _SCHEMA) as writer:
        writer.write_batch(pa.record_batch([names.keys, labels], schema=_SCHEMA))


def _read_names(kind: str, path: Path, prefixes: Prefixes) -> Names:
    batch = pa.ipc.open_file(pa.memory_map(os.fsencode(path))).get_batch(0)
    return Names(kind, batch.column(0), batch.column(1), prefixes)


def sync_files(folder: Path) -> None:
    """Force everything in a folder, and the folder, onto the disk."""
    for path in folder.iterdir():
        if path.is_dir():
            sync_files(path)
        else:
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    sync_folder(folder)
