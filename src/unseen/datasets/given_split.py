"""A dataset from a split that someone else has made: training, validation and test triples in files of their own.

What a method may see when it is tested differs in the field, so it is a choice, `observe`:

| `observe` | at test it sees | the validation triples are | as in |
| --- | --- | --- | --- |
| `train+valid` | training and validation triples | observed | complex questions (BetaE, Query2Box) |
| `train` | training triples | true, hidden, not among the links to predict | link prediction, inductive too |

Validation always sees the training triples alone. Where the *inference graph* is another one, test sees nothing of the
training graph: the same table holds for the inference graph's own files. Validation then asks on the training graph if
that has validation triples, else on the inference graph.

Test asks for the test triples. With `ask` `valid+test` it also asks for the inference graph's own validation triples,
as ULTRA and NBFNet do on GraIL's graphs, where validation is on the training graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.split import HEAD, RELATION, TAIL, InductiveSplit
from unseen.errors import DatasetError, shorten
from unseen.graph.files.readers import read_graph
from unseen.graph.sorted_edges import first_occurrences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.given_files import GivenFiles, Parts
    from unseen.graph import Vocabulary

    Edges = NDArray[np.int32]

TRAIN, TRAIN_AND_VALID = "train", "train+valid"
OBSERVE = (TRAIN, TRAIN_AND_VALID)
TEST, VALID_AND_TEST = "test", "valid+test"
ASK = (TEST, VALID_AND_TEST)
SHOWN_NAMES = 3
NOTHING = np.empty((0, 3), np.int32)


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """A split, the kind it is of, what test observes and asks for, and what its user should know about it."""

    split: InductiveSplit
    kind: str
    observe: str
    ask: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Graph:
    """The edges of one graph's files, those of later files without what earlier ones have."""

    files: Parts
    train: Edges
    valid: Edges
    test: Edges


def given_split(
    files: GivenFiles,
    observe: str | None = None,
    ask: str = TEST,
    *,
    literals: bool = False,
    skip_errors: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> GivenSplit:
    """The split that the files are; unless said, one graph shows `train+valid` at test, an inference graph `train`."""
    chosen = observe or observed_by_default(files)
    if chosen not in OBSERVE:
        raise DatasetError(f"test can observe {' or '.join(OBSERVE)}, not {chosen}", path=files.training.train)
    _check_asked(files, chosen, ask)
    whole = read_graph(*files.paths, literals=literals, skip_errors=skip_errors, progress=progress).graph
    edges = {path: _edges(path, whole.vocabulary, literals, skip_errors) for path in files.paths}
    remarks: list[str] = []
    training = _graph(files.training, edges, whole.vocabulary, remarks)
    if files.inference is None:
        split = _transductive(training, whole.vocabulary, chosen)
    else:
        inference = _graph(files.inference, edges, whole.vocabulary, remarks)
        split = _inductive(training, _asked(inference, ask), whole.vocabulary, chosen)
        remarks += _shared(training, inference)
    remarks += _unseen(split, files)
    return GivenSplit(split, "disjoint" if split.disjoint else "transductive", chosen, ask, tuple(remarks))


def _check_asked(files: GivenFiles, observe: str, ask: str) -> None:
    """Refuse to ask for triples that are not there, are observed, or are the only ones to validate with."""
    if ask not in ASK:
        raise DatasetError(f"test can ask for {' or '.join(ASK)}, not {ask}", path=files.training.train)
    if ask == TEST:
        return
    if files.inference is None or files.inference.valid is None:
        path = (files.inference or files.training).train
        raise DatasetError("no inference graph with validation triples of its own is there to ask for", path=path)
    if files.training.valid is None:
        problem = "is all there is to validate with, so test cannot ask for it: leave out --ask"
        raise DatasetError(problem, path=files.inference.valid)
    if observe == TRAIN_AND_VALID:
        raise DatasetError("is observed at test, so it cannot be asked for", path=files.inference.valid)


def _asked(inference: _Graph, ask: str) -> _Graph:
    """The graph whose test triples are all that test asks for."""
    if ask == TEST:
        return inference
    return replace(inference, valid=NOTHING, test=np.concatenate([inference.valid, inference.test]))


def observed_by_default(files: GivenFiles) -> str:
    """What test sees unless it is said: as complex questions do in one graph, as link prediction does in another."""
    return TRAIN_AND_VALID if files.inference is None else TRAIN


def _edges(path: Path, vocabulary: Vocabulary, literals: bool, skip_errors: bool) -> Edges:
    """The triples of one file, each once, in the numbers of all files."""
    graph = read_graph(path, literals=literals, skip_errors=skip_errors).graph
    entities = vocabulary.entities.find_keys(graph.vocabulary.entities.keys)
    relations = vocabulary.relations.find_keys(graph.vocabulary.relations.keys)
    edges: Edges = np.stack([entities[graph.heads], relations[graph.relations], entities[graph.tails]], axis=1)
    if len(edges) and edges.min() < 0:
        raise DatasetError("has blank nodes, which no other file can mean: give them names", path=path)
    return edges


def _graph(files: Parts, edges: dict[Path, Edges], vocabulary: Vocabulary, remarks: list[str]) -> _Graph:
    """The parts of one graph, each triple in the first part that has it."""
    known, parts = edges[files.train], []
    for path in (files.valid, files.test):
        part = NOTHING if path is None else edges[path]
        fresh = _without(part, known, vocabulary)
        if path is not None and len(fresh) < len(part):
            remarks.append(_repeated(path, len(part), len(fresh)))
        known = np.concatenate([known, fresh])
        parts.append(fresh)
    return _Graph(files, edges[files.train], *parts)


def _without(part: Edges, known: Edges, vocabulary: Vocabulary) -> Edges:
    """The rows of `part` that `known` does not have; neither repeats a row."""
    both = np.concatenate([known, part])
    columns = (both[:, HEAD], both[:, RELATION], both[:, TAIL])
    kept = first_occurrences(columns, vocabulary.num_entities, vocabulary.num_relations)
    return part if kept is None else both[kept[kept >= len(known)]]


def _repeated(path: Path, count: int, fresh: int) -> str:
    if fresh == 0:
        raise DatasetError("has only triples that the files before it have too: nothing is left to predict", path=path)
    return f"{path}: {count - fresh:,} of {count:,} triples are in the files before it too, and were left out"


def _transductive(graph: _Graph, vocabulary: Vocabulary, observe: str) -> InductiveSplit:
    """One growing graph."""
    if observe == TRAIN_AND_VALID:
        return InductiveSplit(vocabulary, graph.train, NOTHING, graph.valid, graph.valid, graph.test)
    return InductiveSplit(vocabulary, graph.train, NOTHING, graph.valid, NOTHING, graph.test, test_filter=graph.valid)


def _inductive(training: _Graph, inference: _Graph, vocabulary: Vocabulary, observe: str) -> InductiveSplit:
    """A graph to train on, and another to be tested on."""
    validated = training if len(training.valid) else inference
    shown = np.concatenate([inference.train, inference.valid]) if observe == TRAIN_AND_VALID else inference.train
    hidden = NOTHING if observe == TRAIN_AND_VALID else inference.valid
    return InductiveSplit(
        vocabulary,
        training.train,
        validated.train,
        validated.valid,
        shown,
        inference.test,
        test_filter=hidden,
        disjoint=True,
    )


def _shared(training: _Graph, inference: _Graph) -> list[str]:
    """A remark if the inference graph is not a new one."""
    common = np.intersect1d(_ends(training.train), _ends(inference.train))
    if not len(common):
        return []
    share = f"{len(common):,} entities of {inference.files.train} are in {training.files.train} too"
    return [f"{share}; at test nothing of the training graph is observed"]


def _unseen(split: InductiveSplit, files: GivenFiles) -> list[str]:
    """Remarks about test triples that the observed graph says nothing about; if those are all, an error."""
    path = (files.inference or files.training).test or files.training.train
    base = [] if split.disjoint else [split.train_graph]
    observed, asked = np.concatenate([*base, split.test_inference]), split.test_predict
    new_entities = ~np.isin(asked[:, [HEAD, TAIL]], _ends(observed))
    new_relations = ~np.isin(asked[:, RELATION], observed[:, RELATION])
    if new_entities.any(axis=1).all():
        problem = "every triple has an entity without any edge in the observed graph"
        raise DatasetError(f"{problem}: if these are of another graph, name its files with --inference", path=path)
    remarks = []
    if new_entities.any():
        number, triples = len(np.unique(asked[:, [HEAD, TAIL]][new_entities])), int(new_entities.any(axis=1).sum())
        remarks.append(
            f"{path}: {number:,} entities have no edge in the observed graph; the {triples:,} triples with one "
            "are asked for like all others"
        )
    if new_relations.any():
        missing = np.unique(asked[new_relations, RELATION])
        names = ", ".join(shorten(split.vocabulary.relations.name(int(one)), 40) for one in missing[:SHOWN_NAMES])
        more = ", …" if len(missing) > SHOWN_NAMES else ""
        remarks.append(
            f"{path}: {len(missing):,} relations have no edge in the observed graph ({names}{more}); "
            f"{int(new_relations.sum()):,} triples ask for them"
        )
    return remarks


def _ends(edges: Edges) -> Edges:
    return np.unique(edges[:, [HEAD, TAIL]])
