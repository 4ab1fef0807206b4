"""A dataset on disk: one folder, whole or absent.

```
manifest.json                          what it is, where it comes from, counts, size and checksum of every file
vocabulary.safetensors                 names: bytes and offsets
graphs.safetensors                     five arrays of edges, six where some are true at test but not asked for
queries/{train,valid,test}.safetensors for each shape: slots, and answers as offsets + values
```

A folder is written beside its place and renamed; it is read by mapping. Nothing in it can execute code.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unseen.datasets.folder_contents import (
    edges_from,
    graph_tensors,
    name_tensors,
    names_from,
    table_from,
    table_tensors,
    training_answers_from,
)
from unseen.datasets.split import InductiveSplit
from unseen.datasets.tensor_file import read_tensors, write_tensors
from unseen.errors import DatasetError, QueryError
from unseen.graph import Vocabulary
from unseen.graph.files.git_lfs import POINTER_PROBLEM, is_pointer_file
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unseen.datasets.query_table import QueryTable, Ragged

FORMAT, FORMAT_VERSION = "unseen-dataset", 1
MANIFEST, VOCABULARY, GRAPHS = "manifest.json", "vocabulary.safetensors", "graphs.safetensors"
QUERIES = {split: f"queries/{split}.safetensors" for split in ("train", "valid", "test")}
FILES = (VOCABULARY, GRAPHS, *QUERIES.values())
LONGEST_MANIFEST = 1 << 26


class Contents(NamedTuple):
    """What a dataset folder holds."""

    name: str
    split: InductiveSplit
    tables: Mapping[str, Mapping[str, QueryTable]]
    training_answers: Mapping[str, Mapping[str, Ragged]]
    manifest: Mapping[str, Any]


def read_folder(folder: str | Path, *, verify: bool) -> Contents:
    """Everything in a dataset folder, mapped; what is damaged, foreign or newer is refused with the reason."""
    path = Path(folder)
    manifest = read_manifest(path)
    for name in FILES:
        _check_file(path / name, manifest["files"].get(name), verify)
    try:
        return _contents(path, manifest)
    except (KeyError, TypeError, ValueError, AttributeError, QueryError) as error:
        raise DatasetError(f"is damaged: {error or type(error).__name__}", path=path) from error


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a dataset folder of a version that can be read."""
    file = path / MANIFEST
    if not file.is_file():
        reason = "it has no manifest.json" if path.is_dir() else "there is no such folder"
        raise DatasetError(
            f"is not a dataset folder: {reason}; `unseen split` and `unseen dataset import` make one", path=path
        )
    if is_pointer_file(file):
        raise DatasetError(POINTER_PROBLEM, path=file)
    with _reading(file):
        manifest = json.loads(file.read_bytes()) if file.stat().st_size <= LONGEST_MANIFEST else None
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != FORMAT
        or not isinstance(manifest.get("files"), dict)
    ):
        raise DatasetError("is not the manifest of an unseen dataset", path=file)
    version = manifest.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        problem = f"has format version {version}, and this unseen reads up to {FORMAT_VERSION}: upgrade unseen"
        raise DatasetError(problem, path=path)
    return manifest


def _check_file(path: Path, listed: object, verify: bool) -> None:
    """A file must have the size and, if asked, the checksum that the manifest lists."""
    if not isinstance(listed, dict):
        raise DatasetError("is not listed in the manifest", path=path)
    with _reading(path):
        size = path.stat().st_size
        if size != listed.get("bytes") and is_pointer_file(path):
            raise DatasetError(POINTER_PROBLEM, path=path)
        if size != listed.get("bytes"):
            raise DatasetError(f"has {size:,} bytes, not {listed.get('bytes')}: truncated or changed", path=path)
        if verify and _sha256(path) != listed.get("sha256"):
            raise DatasetError("is damaged: its checksum is not the one in the manifest", path=path)


def _contents(path: Path, manifest: dict[str, Any]) -> Contents:
    names = read_tensors(path / VOCABULARY)
    entities, relations = (names_from(names, kind, manifest["prefixes"][kind]) for kind in ("entity", "relation"))
    vocabulary = Vocabulary(entities, relations)
    edges = edges_from(read_tensors(path / GRAPHS), vocabulary)
    split = InductiveSplit(vocabulary, **edges, disjoint=manifest["kind"] == "disjoint")
    tensors = {side: read_tensors(path / file) for side, file in QUERIES.items()}
    tables = {
        side: {name: table_from(tensors[side], name, about, vocabulary) for name, about in shapes.items()}
        for side, shapes in manifest["tables"].items()
    }
    answers = training_answers_from(tensors["train"], tables["train"], vocabulary)
    return Contents(str(manifest["name"]), split, tables, answers, manifest)


def write_folder(contents: Contents, folder: str | Path) -> None:
    """Write a dataset folder in one step: it appears complete, or nothing changes."""
    path = Path(folder)
    _check_place(path)
    with _reading(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            (fresh / "queries").mkdir(parents=True)
            _write_files(contents, fresh)
            _swap(fresh, path)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _check_place(path: Path) -> None:
    """A place is free, an empty folder, or an older dataset."""
    if path.is_dir() and any(path.iterdir()):
        try:
            read_manifest(path)
        except DatasetError:
            raise DatasetError("already exists and is not a dataset; choose another place", path=path) from None
    elif path.exists() and not path.is_dir():
        raise DatasetError("is a file; choose another place for the dataset folder", path=path)


def _write_files(contents: Contents, folder: Path) -> None:
    vocabulary = contents.split.vocabulary
    write_tensors(folder / VOCABULARY, name_tensors(vocabulary.entities) | name_tensors(vocabulary.relations))
    write_tensors(folder / GRAPHS, graph_tensors(contents.split))
    for side, file in QUERIES.items():
        tables = contents.tables.get(side, {})
        answers = contents.training_answers if side == "train" else {}
        write_tensors(folder / file, table_tensors(tables, answers))
    text = json.dumps(complete_manifest(contents, folder), indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def complete_manifest(contents: Contents, folder: Path) -> dict[str, Any]:
    """What the dataset says of itself, then what can be counted; equal data give equal bytes."""
    split, vocabulary = contents.split, contents.split.vocabulary
    graphs = {name: len(edges) for name, edges in graph_tensors(split).items()}
    fixed = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "unseen_version": __version__,
        "name": contents.name,
        "kind": "disjoint" if split.disjoint else contents.manifest.get("kind", "inductive"),
    }
    counted = {
        "counts": {"entities": vocabulary.num_entities, "relations": vocabulary.num_relations, "triples": graphs},
        "tables": {
            side: {name: {"template": table.shape.template, "queries": len(table)} for name, table in tables.items()}
            for side, tables in contents.tables.items()
        },
        "prefixes": {names.kind: names.prefixes.namespaces for names in (vocabulary.entities, vocabulary.relations)},
        "files": {name: {"bytes": (folder / name).stat().st_size, "sha256": _sha256(folder / name)} for name in FILES},
    }
    return {**fixed, **{key: value for key, value in contents.manifest.items() if key not in fixed}, **counted}


def _swap(fresh: Path, path: Path) -> None:
    """Put `fresh` in the place of `path`; what was there comes back if that fails."""
    if not path.exists():
        fresh.rename(path)
        return
    old = fresh.with_suffix(".old")
    path.rename(old)
    try:
        fresh.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What the system or the JSON parser says about a file, as one `DatasetError`."""
    try:
        yield
    except FileNotFoundError:
        raise DatasetError("is missing", path=path) from None
    except OSError as error:
        raise DatasetError(f"{error.strerror or error} ({os.fspath(error.filename or path)})", path=path) from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"is damaged: {error}", path=path) from None
