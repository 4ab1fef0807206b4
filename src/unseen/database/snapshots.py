"""The graph as arrays on disk, mapped into memory: 1 M triples are there in a tenth of a second.

`heads.npy`, `relations.npy`, `tails.npy` are int32; `entities.arrow` and `relations.arrow` hold keys and labels;
`snapshot.json` the counts and prefixes. A snapshot is written beside the old one, and only then put in its place; it
can always be made again from the triples.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from unseen.database.folder import sync_folder
from unseen.errors import DatabaseError
from unseen.graph import KnowledgeGraph
from unseen.graph.names import TEXT, Names
from unseen.graph.prefixes import Prefixes
from unseen.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("heads", "relations", "tails")
_SCHEMA = pa.schema([("key", TEXT), ("label", TEXT)])


def write_snapshot(graph: KnowledgeGraph, path: Path) -> None:
    """Write a graph into a folder that is there as a whole or not at all."""
    unfinished = path.with_name(f".{path.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir()
        for column in COLUMNS:
            np.save(unfinished / f"{column}.npy", getattr(graph, column))
        names = {"entities": graph.vocabulary.entities, "relations": graph.vocabulary.relations}
        for kind, column_names in names.items():
            _write_names(column_names, unfinished / f"{kind}.arrow")
        (unfinished / "snapshot.json").write_text(json.dumps(_description(graph)), encoding="utf-8")
        _sync(unfinished)
        shutil.rmtree(path, ignore_errors=True)
        unfinished.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise DatabaseError(f"could not be written: {error.strerror or error}", path=path) from error


def read_snapshot(path: Path) -> KnowledgeGraph:
    """The graph of a folder; columns and names stay on disk until they are used."""
    try:
        described = json.loads((path / "snapshot.json").read_text(encoding="utf-8"))
        prefixes = Prefixes(described["prefixes"])
        entities, relations = (
            _read_names(kind, path / f"{file}.arrow", prefixes)
            for kind, file in (("entity", "entities"), ("relation", "relations"))
        )
        heads, ids, tails = (np.load(path / f"{c}.npy", mmap_mode="r", allow_pickle=False) for c in COLUMNS)
        graph = KnowledgeGraph(heads, ids, tails, Vocabulary(entities, relations))
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise DatabaseError(f"is damaged: {error}", path=path) from error
    if graph.num_triples != described["triples"]:
        raise DatabaseError("is damaged: some triples are missing", path=path)
    return graph


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


def _sync(folder: Path) -> None:
    """Force every file of a folder, and the folder, onto the disk."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    sync_folder(folder)
