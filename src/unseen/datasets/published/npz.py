"""Files `<ratio>.npz`: published graphs and queries as arrays of ids, without answers, which traversal gives exactly.

Keys: `graph/{train_graph,val_inference,val_predict,test_inference,test_predict}`, rows (head, relation, tail) read
forwards; `{train,valid,test}/<shape>`, ids of a query in reading order, relation r backwards being r + R.
`about/{entities,relations,true_answers}`, one number each: how many entities and relations (R) there are, and whether
easy answers are true ones only. Files of others lack these; R is then the largest relation id of the graphs + 1.
"""

from __future__ import annotations

import io
import math
import tokenize
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.answering import answer_table, easy_and_hard_answers
from unseen.datasets.dataset import SPLITS, Dataset, is_true_only
from unseen.datasets.published.inductive import GRAPH_FILES
from unseen.datasets.published.queries import Listed, QueryLimits, published_to_slots
from unseen.datasets.published.structures import Numbering, structure_of_shape
from unseen.datasets.published.writing import published_slots
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.datasets.split import HEAD, RELATION, TAIL, InductiveSplit
from unseen.errors import DatasetError
from unseen.graph import Vocabulary
from unseen.logic.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.published.archive import Archive

    Progress = Callable[[int, int], None]

LARGEST_ID = np.iinfo(np.int32).max


def read_npz(
    archives: dict[str, Archive], name: str, path: Path, relations: int | None, progress: Progress | None
) -> Dataset:
    """The dataset of an `.npz` file; answers are computed. `relations` counts them where the file does not."""
    graphs = [_array(archives.get("graph"), file, path, 3) for file in GRAPH_FILES]
    counts, notes = _counts(archives.get("about"), graphs, relations, path)
    true_only = bool(_number(archives.get("about"), "true_answers", path))
    about = {
        "kind": "inductive",
        "answers": "true" if true_only else "published",
        **({"notes": notes} if notes else {}),
    }
    dataset = Dataset(name, InductiveSplit(Vocabulary.numbered(*counts), *graphs), manifest=about)
    limits = QueryLimits(counts[0], Numbering(2 * counts[1], in_blocks=True))
    slots = {split: _queries(archives.get(split), limits, path) for split in SPLITS}
    return answered(dataset, slots, progress)


def _counts(
    about: Archive | None, graphs: list[NDArray[np.int32]], relations: int | None, path: Path
) -> tuple[tuple[int, int], list[str]]:
    """The numbers of entities and relations, and what had to be assumed about them."""
    entities = 1 + max((int(edges[:, [HEAD, TAIL]].max()) for edges in graphs if len(edges)), default=-1)
    used = np.unique(np.concatenate([edges[:, RELATION] for edges in graphs]))
    fewest = int(used[-1]) + 1 if len(used) else 0
    said = _number(about, "entities", path), _number(about, "relations", path)
    if said[0] is not None and said[1] is not None:
        if said[0] < entities or said[1] < fewest:
            problem = f"says that there are {said[0]:,} entities and {said[1]:,} relations, and has larger ids"
            raise DatasetError(f"{problem}: it is damaged", path=path)
        if relations not in (None, said[1]):
            raise DatasetError(f"says that there are {said[1]:,} relations: leave out --relations", path=path)
        return (said[0], said[1]), []
    if relations is None and len(used) < fewest:
        missing = f"{fewest - len(used):,} of the first {fewest:,} have no edge"
        problem = f"does not say how many relations there are, and {missing}, so it may have more"
        raise DatasetError(f"{problem}. Import it and say how many with --relations", path=path)
    if relations is not None and relations < fewest:
        raise DatasetError(f"has {fewest:,} relations or more, not {relations:,}", path=path)
    if relations is not None:
        return (entities, relations), []
    assumed = (
        f"does not say how many entities and relations there are: {entities:,} and {fewest:,} were assumed, one more"
    )
    return (entities, fewest), [f"{assumed} than the largest ids in its graphs. --relations says another number"]


def _number(about: Archive | None, name: str, path: Path) -> int | None:
    """One number that the file says about itself, if it does."""
    return None if about is None or f"{name}.npy" not in about else int(_array(about, name, path, 1)[0, 0])


def answered(
    dataset: Dataset, slots: dict[str, dict[str, NDArray[np.int32]]], progress: Progress | None = None
) -> Dataset:
    """The dataset with these queries and all their answers, easy ones by the definition in its manifest."""
    total = sum(len(rows) for tables in slots.values() for rows in tables.values())
    tables: dict[str, dict[str, QueryTable]] = {split: {} for split in SPLITS}
    lists: dict[str, dict[str, Ragged]] = {"valid": {}, "test": {}}
    done = 0
    for split, shapes in slots.items():
        for name, rows in shapes.items():
            tables[split][name] = _answered_table(dataset, split, name, rows)
            for side in lists if split == "train" else ():
                lists[side][name] = answer_table(dataset.observed(side), SHAPES[name], rows)
            done += len(rows)
            if progress is not None:
                progress(done, total)
    return dataset.with_queries(tables, lists)


def _answered_table(dataset: Dataset, split: str, name: str, slots: NDArray[np.int32]) -> QueryTable:
    shape, observed = SHAPES[name], dataset.observed(split)
    if split == "train":
        return QueryTable(shape, slots, answer_table(observed, shape, slots), Ragged.empty(len(slots)))
    compatible = not is_true_only(dataset)
    easy, hard = easy_and_hard_answers(dataset.complete(split), observed, shape, slots, compatible=compatible)
    return QueryTable(shape, slots, easy, hard)


def _queries(archive: Archive | None, limits: QueryLimits, path: Path) -> dict[str, NDArray[np.int32]]:
    """The slots of every table of one split, in our numbering."""
    tables = {}
    for file in archive or ():
        name = file.removesuffix(".npy")
        if name not in SHAPES:
            raise DatasetError(f"has queries of the unknown shape {name!r}", path=path)
        shape = SHAPES[name]
        ids = _array(archive, name, path, len(shape.slots)).astype(np.int64)
        listed = Listed(structure_of_shape(shape), shape, ids, in_set=False)
        tables[name] = published_to_slots(listed, limits, path)
    return tables


def _array(archive: Archive | None, name: str, path: Path, width: int) -> NDArray[np.int32]:
    """One array of ids of an `.npz` file; its header must not promise more than its bytes hold."""
    if archive is None or f"{name}.npy" not in archive:
        raise DatasetError(f"has no array {name!r}: it is not a benchmark of graphs and queries", path=path)
    content = archive.read(f"{name}.npy")
    try:
        array = _parsed(content)
    except (ValueError, TypeError, EOFError, SyntaxError, tokenize.TokenError) as error:
        raise DatasetError(f"the array {name!r} is damaged: {error}", path=path) from None
    if array.ndim != 2 or array.shape[1] != width or (array.size and not 0 <= array.min() <= array.max() < LARGEST_ID):
        raise DatasetError(f"the array {name!r} is not rows of {width} ids", path=path)
    return array.astype(np.int32)


def _parsed(content: bytes) -> NDArray[Any]:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = reader(stream)
    start = stream.tell()
    if dtype.kind not in "iu" or math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError("it does not hold the numbers that its header promises")
    array = np.frombuffer(content, dtype, offset=start)
    return array.reshape(shape, order="F" if fortran else "C")


def npz_files(dataset: Dataset) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The members of an `.npz` file; every shape must be a published one."""
    vocabulary = dataset.vocabulary
    about = {"entities": vocabulary.num_entities, "relations": vocabulary.num_relations}
    for name, number in {**about, "true_answers": int(is_true_only(dataset))}.items():
        yield f"about/{name}.npy", [_written(np.array([[number]], np.int32))]
    split = dataset.split
    parts = (split.train_graph, split.valid_inference, split.valid_predict, split.test_inference, split.test_predict)
    for name, edges in zip(GRAPH_FILES, parts, strict=True):
        yield f"graph/{name}.npy", [_written(edges)]
    numbering = Numbering(vocabulary.num_directed_relations, in_blocks=True)
    for side, tables in dataset.tables.items():
        for name, table in tables.items():
            yield f"{side}/{name}.npy", [_written(published_slots(table, numbering).astype(np.int32))]


def _written(array: NDArray[np.int32]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()
