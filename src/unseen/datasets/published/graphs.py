"""Graphs in the published files: lines of three numbers, both directions of every edge, and a file of counts."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.published.archive import Archive
    from unseen.datasets.published.structures import Numbering

    Triples = NDArray[np.int64]
    Edges = NDArray[np.int32]


def read_stats(archive: Archive) -> dict[str, int]:
    """The counts of `stats.txt` by what stands before the colon; none without such a file."""
    if "stats.txt" not in archive:
        return {}
    text = archive.read("stats.txt").decode("utf-8", "replace")
    return {key.strip(): int(value) for key, value in re.findall(r"^([^:\n]+):\s*(\d{1,12})\s*$", text, re.MULTILINE)}


def read_triples(archive: Archive, name: str) -> Triples:
    """The rows of a file of numbers, "head relation tail" on each line; `.pt` tensors too."""
    content = archive.read(name)
    if name.endswith(".pt"):
        return _tensor(content, archive.path(name))
    return parsed_triples(content, archive.path(name))


def parsed_triples(content: bytes, path: Path) -> Triples:
    """Lines of three numbers."""
    lines = content.rstrip()
    count = lines.count(b"\n") + 1 if lines else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            numbers = np.fromstring(lines, np.int64, sep=" ") if lines else np.empty(0, np.int64)
    except (DeprecationWarning, ValueError):
        raise DatasetError("has a line that is not three numbers", path=path) from None
    if len(numbers) != 3 * count or (len(numbers) and numbers.min() < 0):
        raise DatasetError("has a line that is not three numbers", path=path)
    return numbers.reshape(-1, 3)


def _tensor(content: bytes, path: Path) -> Triples:
    """The rows of a torch file, read as weights only: nothing in it runs."""
    import io

    import torch

    try:
        tensor = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        triples = np.asarray(tensor.numpy(), np.int64)
    except Exception as error:  # noqa: BLE001  # torch raises whatever it likes on a damaged file
        raise DatasetError(f"is not a torch tensor: {str(error).splitlines()[0][:80]}", path=path) from None
    if triples.ndim != 2 or triples.shape[1] != 3:
        raise DatasetError("is not a list of triples", path=path)
    return triples


def forward_edges(triples: Triples, numbering: Numbering, num_entities: int, path: Path) -> Edges:
    """The edges read forwards; every one must be there backwards too, unless none is."""
    forward, mirrored = both_directions(triples, numbering, num_entities, path)
    if len(mirrored) and not _same_edges(forward, mirrored):
        problem = f"has {len(forward):,} edges forwards and {len(mirrored):,} backwards that are not the same"
        raise DatasetError(problem, path=path)
    return forward


def all_edges(triples: Triples, numbering: Numbering, num_entities: int, path: Path) -> tuple[Edges, str | None]:
    """The edges read forwards, also those that stand there backwards only; and a remark if there are any."""
    forward, mirrored = both_directions(triples, numbering, num_entities, path)
    if len(mirrored) == 0 or _same_edges(forward, mirrored):
        return forward, None
    edges = np.concatenate([forward, mirrored])
    first = np.sort(np.unique(edges, axis=0, return_index=True)[1])
    return edges[first], f"{path.name} has edges in one direction only; they hold in both here"


def both_directions(triples: Triples, numbering: Numbering, num_entities: int, path: Path) -> tuple[Edges, Edges]:
    """The edges that stand forwards in a file, and those that stand backwards, turned round."""
    if len(triples) and (triples[:, [0, 2]].max() >= num_entities or triples[:, 1].max() >= numbering.count):
        problem = f"has an id beyond the {num_entities:,} entities and {numbering.count:,} directed relations"
        raise DatasetError(problem, path=path)
    relations, backwards = numbering.split(triples[:, 1])
    ends = np.where(backwards[:, None], triples[:, [2, 0]], triples[:, [0, 2]])
    edges = np.stack([ends[:, 0], relations, ends[:, 1]], axis=1).astype(np.int32)
    return edges[~backwards], edges[backwards]


def _same_edges(left: Edges, right: Edges) -> bool:
    return np.array_equal(np.unique(left, axis=0), np.unique(right, axis=0))


def written_triples(edges: Edges, numbering: Numbering) -> bytes:
    """The lines of a file: all edges forwards, then all backwards in the same order; no line end after the last."""
    relations = edges[:, 1].astype(np.int64)
    forward, backward = numbering.join(relations, False), numbering.join(relations, True)
    rows = np.concatenate(
        [np.stack([edges[:, 0], forward, edges[:, 2]], axis=1), np.stack([edges[:, 2], backward, edges[:, 0]], axis=1)]
    )
    return "\n".join(f"{head}\t{relation}\t{tail}" for head, relation, tail in rows.tolist()).encode()
