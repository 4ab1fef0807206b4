"""Names, edges and query tables as named arrays, and back; arrays that do not fit together are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.datasets.query_table import QueryTable, Ragged
from unseen.graph.arrow_arrays import TEXT
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes
from unseen.logic.shapes import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unseen.datasets.split import InductiveSplit
    from unseen.graph import Vocabulary

    Ids = NDArray[np.int32]
    Tensors = Mapping[str, NDArray[Any]]

EDGES = ("train_graph", "valid_inference", "valid_predict", "test_inference", "test_predict")
FILTER = "test_filter"
"""Edges that most datasets do not have, and then no array either."""


def name_tensors(names: Names) -> dict[str, NDArray[Any]]:
    """Keys and labels of one kind of thing."""
    tensors = _text_tensors(f"{names.kind}.keys", names.keys)
    if names.labels is not None:
        tensors |= _text_tensors(f"{names.kind}.labels", names.labels)
        present = names.labels.is_valid().to_numpy(zero_copy_only=False)
        tensors[f"{names.kind}.labels.present"] = present.astype(np.uint8)
    return tensors


def names_from(tensors: Tensors, kind: str, prefixes: Mapping[str, str]) -> Names:
    """`name_tensors` backwards."""
    labels = None
    if f"{kind}.labels.present" in tensors:
        present = pa.array(tensors[f"{kind}.labels.present"] != 0)
        labels = pc.if_else(present, _text_from(tensors, f"{kind}.labels"), pa.scalar(None, TEXT))
    return Names(kind, _text_from(tensors, f"{kind}.keys"), labels, Prefixes(prefixes))


def graph_tensors(split: InductiveSplit) -> dict[str, NDArray[Any]]:
    """The five sets of edges, and the sixth where there is one."""
    names = EDGES if len(split.test_filter) == 0 else (*EDGES, FILTER)
    return {name: getattr(split, name) for name in names}


def edges_from(tensors: Tensors, vocabulary: Vocabulary) -> dict[str, Ids]:
    """`graph_tensors` backwards; every id must have a name."""
    edges = {name: tensors[name] for name in (*EDGES, FILTER) if name in EDGES or name in tensors}
    limits = np.array([vocabulary.num_entities, vocabulary.num_relations, vocabulary.num_entities])
    for name, rows in edges.items():
        _require(rows.dtype == np.int32 and rows.ndim == 2 and rows.shape[1] == 3, f"{name} is not a list of triples")
        inside = len(rows) == 0 or (rows.min() >= 0 and bool((rows.max(axis=0) < limits).all()))
        _require(inside, f"an id in {name} has no name")
    return edges


def table_tensors(
    tables: Mapping[str, QueryTable], training_answers: Mapping[str, Mapping[str, Ragged]]
) -> dict[str, NDArray[Any]]:
    """The queries and answers of one split; `training_answers` by the split on whose graph they hold."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, table in tables.items():
        tensors[f"{name}.slots"] = table.slots
        ragged = {"easy": table.easy, "hard": table.hard}
        ragged |= {f"on_{side}": answers[name] for side, answers in training_answers.items() if name in answers}
        for part, rows in ragged.items():
            tensors[f"{name}.{part}.offsets"], tensors[f"{name}.{part}.values"] = rows.offsets, rows.values
    return tensors


def table_from(tensors: Tensors, name: str, about: Mapping[str, Any], vocabulary: Vocabulary) -> QueryTable:
    """One table of `table_tensors`, checked: ids have names, and each query has its row of answers."""
    shape, slots = Shape(name, about["template"]), tensors[f"{name}.slots"]
    shape.skeleton  # noqa: B018  # a template that does not parse is refused here
    check_slots(shape, slots, vocabulary)
    _require(len(slots) == about["queries"], f"the manifest counts {about['queries']} queries of {name}")
    return QueryTable(
        shape, slots, *(_ragged(tensors, f"{name}.{part}", len(slots), vocabulary) for part in ("easy", "hard"))
    )


def training_answers_from(
    tensors: Tensors, tables: Mapping[str, QueryTable], vocabulary: Vocabulary
) -> dict[str, dict[str, Ragged]]:
    """The answers of the training queries on the larger graphs, by split and shape."""
    return {
        side: {
            name: _ragged(tensors, f"{name}.on_{side}", len(table), vocabulary)
            for name, table in tables.items()
            if f"{name}.on_{side}.offsets" in tensors
        }
        for side in ("valid", "test")
    }


def check_slots(shape: Shape, slots: NDArray[Any], vocabulary: Vocabulary) -> None:
    """Every slot of every query must hold the id of something that has a name."""
    fits = slots.dtype == np.int32 and slots.ndim == 2 and slots.shape[1] == len(shape.slots)
    _require(fits, f"the queries of {shape.name} do not have {len(shape.slots)} slots")
    limits = {"e": vocabulary.num_entities, "r": vocabulary.num_directed_relations}
    for column, kind in enumerate(shape.slots):
        _require(_within(slots[:, column], limits[kind]), f"an id in a query of {shape.name} has no name")


def _ragged(tensors: Tensors, name: str, count: int, vocabulary: Vocabulary) -> Ragged:
    offsets, values = tensors[f"{name}.offsets"], tensors[f"{name}.values"]
    typed = (
        offsets.dtype == np.int64 and values.dtype == np.int32 and offsets.shape == (count + 1,) and values.ndim == 1
    )
    _require(typed, f"{name} does not have one row for each query")
    _require(
        offsets[0] == 0 and offsets[-1] == len(values) and bool((np.diff(offsets) >= 0).all()), f"{name} has odd rows"
    )
    _require(_within(values, vocabulary.num_entities), f"an answer in {name} has no name")
    return Ragged(offsets, values)


def _within(ids: Ids, limit: int) -> bool:
    return len(ids) == 0 or (int(ids.min()) >= 0 and int(ids.max()) < limit)


def _text_tensors(name: str, texts: pa.Array) -> dict[str, NDArray[Any]]:
    """A column of texts as bytes and offsets; a missing text is an empty one here."""
    whole = pa.concat_arrays([texts.fill_null(""), pa.array([""], TEXT)])
    _, offsets, characters = whole.buffers()
    starts = np.frombuffer(offsets, np.int64)[: len(whole)]
    content = np.frombuffer(characters or b"", np.uint8)[: starts[-1]]
    return {f"{name}.offsets": starts, f"{name}.bytes": content}


def _text_from(tensors: Tensors, name: str) -> pa.Array:
    """`_text_tensors` backwards, without copying; bytes that are not UTF-8 are refused."""
    offsets, content = tensors[f"{name}.offsets"], tensors[f"{name}.bytes"]
    _require(offsets.dtype == np.int64 and len(offsets) > 0 and content.dtype == np.uint8, f"{name} is not text")
    texts = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(content))
    texts.validate(full=True)
    return texts


def _require(holds: bool | np.bool_, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
