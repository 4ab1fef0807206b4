"""How the files of a given split belong together: which graph the validation triples are asked on.

| layout | files | validation triples belong to |
| --- | --- | --- |
| `transductive` | train, valid, test | the one graph |
| `grail` | the same three of a training graph, and of an inference graph | each to its own graph |
| `ilpc` | train; inference, inference_validation, inference_test | the inference graph |
| `ingram` | train, msg, valid, test | the inference graph (msg) |
| `wikitopics`, `pediatypes` | train, msg, valid, test | the training graph |

The last two have the same files. Validation triples belong to the graph that has their names, and not to one in which
they are facts already: WikiTopics' inference graphs hold them. Where neither tells, the user has to say which it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import DatasetError
from unseen.graph.files.readers import read_graph

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

TRANSDUCTIVE, GRAIL, ILPC, INGRAM, WIKITOPICS = "transductive", "grail", "ilpc", "ingram", "wikitopics"
LAYOUTS = {name: name for name in (TRANSDUCTIVE, GRAIL, ILPC, INGRAM, WIKITOPICS)} | {"pediatypes": WIKITOPICS}
"""Every name of a layout, and the layout it is."""
FITS, FITS_NOT = 0.95, 0.5
"""Shares of the validation triples from which on, and up to which, a graph has what they are about."""
OBSERVED = 0.05
"""The share of the validation triples that may be facts of the graph they are asked on: files repeat a few."""


@dataclass(frozen=True)
class Layout:
    """A layout, and how it is known."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        """Name and reason in one line."""
        return f"layout {self.name}: {self.reason}"


def known_layout(name: str | None, path: Path) -> str | None:
    """The layout of a name; an unknown one is an error that lists them."""
    if name is not None and name.lower() not in LAYOUTS:
        raise DatasetError(f"there is no layout {name!r}; available: {', '.join(LAYOUTS)}", path=path)
    return None if name is None else LAYOUTS[name.lower()]


def checked(stated: str | None, found: str, reason: str, path: Path) -> Layout:
    """The layout that file names say, which must be the stated one."""
    if stated not in (None, found):
        problem = f"these files are of the layout {found} ({reason}), not {stated}"
        raise DatasetError(f"{problem}: leave out --layout, or name the files one by one with --inference", path=path)
    return Layout(found, reason)


def layout_of_validation(training: Path, inference: Path, valid: Path, stated: str | None) -> Layout:
    """Which graph the validation triples of a folder belong to: the stated one, or the one that has their names."""
    if stated not in (None, INGRAM, WIKITOPICS):
        checked(stated, f"{INGRAM} or {WIKITOPICS}", f"{training.name}, {inference.name}, {valid.name}", valid)
    paths = (training, inference)
    asked = read_graph(valid, skip_errors=True).graph
    graphs = [read_graph(path, skip_errors=True).graph for path in paths]
    shares = [_askable_share(asked, graph) for graph in graphs]
    reason = f"of {valid.name}'s triples " + ", ".join(map(_described, paths, graphs, [asked] * 2))
    if stated is not None:
        graph = graphs[stated == INGRAM]
        if _known_share(asked, graph) <= _observed_share(asked, graph):
            raise DatasetError(f"is not of the layout {stated}, nothing is left to ask for: {reason}", path=valid)
        return Layout(stated, reason)
    for name, (ours, other) in {WIKITOPICS: shares, INGRAM: shares[::-1]}.items():
        if ours >= FITS and other <= FITS_NOT:
            return Layout(name, reason)
    choices = f"--layout {INGRAM} (it belongs to {inference.name}) or --layout {WIKITOPICS} (to {training.name})"
    raise DatasetError(f"may belong to either graph ({reason}); say {choices}", path=valid)


def _askable_share(asked: KnowledgeGraph, graph: KnowledgeGraph) -> float:
    """The share of triples that a graph has the names of; none if too many of them are facts there."""
    return 0.0 if _observed_share(asked, graph) > OBSERVED else _known_share(asked, graph)


def _described(path: Path, graph: KnowledgeGraph, asked: KnowledgeGraph) -> str:
    known, observed = _known_share(asked, graph), _observed_share(asked, graph)
    return f"{known:.0%} have names of {path.name} and {observed:.0%} are in it"


def _known_share(asked: KnowledgeGraph, graph: KnowledgeGraph) -> float:
    """The share of triples whose entities and relation a graph has."""
    return float(np.mean((_rows(asked, graph) >= 0).all(axis=1)))


def _observed_share(asked: KnowledgeGraph, graph: KnowledgeGraph) -> float:
    """The share of triples that a graph has: what is observed there cannot be asked for."""
    sizes = graph.num_relations, graph.num_entities
    rows = _rows(asked, graph).astype(np.int64)
    own = np.stack([graph.heads, graph.relations, graph.tails], axis=1).astype(np.int64)
    packed, wanted = ((part[:, 0] * sizes[0] + part[:, 1]) * sizes[1] + part[:, 2] for part in (own, rows))
    return float(np.mean((rows >= 0).all(axis=1) & np.isin(wanted, packed)))


def _rows(asked: KnowledgeGraph, graph: KnowledgeGraph) -> NDArray[np.int32]:
    """The triples in the ids of another graph, -1 for a name that it does not have."""
    entities = graph.vocabulary.entities.find_keys(asked.vocabulary.entities.keys)
    relations = graph.vocabulary.relations.find_keys(asked.vocabulary.relations.keys)
    rows: NDArray[np.int32] = np.stack(
        [entities[asked.heads], relations[asked.relations], entities[asked.tails]], axis=1
    )
    return rows
