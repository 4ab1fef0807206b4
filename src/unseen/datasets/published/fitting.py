"""What a published format can hold of a dataset: the rest is refused, never dropped in silence.

| | new entities | disjoint | hidden triples | types | names |
| --- | --- | --- | --- | --- | --- |
| `inductiveqe` | yes | no | no | all | keys |
| `betae` | no | no | no | all | keys |
| `query2box` | no | no | no | nine, without negation | keys |
| `npz` | yes | no | no | fourteen | none |

Hidden triples are those that are true at test, but neither observed nor asked for. The folder of `Dataset.save` holds
all of this. A union that De Morgan's law hides in negations is written as the union.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset, is_true_only
from unseen.datasets.published.betae import transductive_parts
from unseen.datasets.published.npz import answered
from unseen.datasets.published.query2box import TYPES
from unseen.datasets.published.structures import structure_of_shape
from unseen.datasets.query_table import QueryTable
from unseen.errors import DatasetError, QueryError
from unseen.logic.algebra import And, Not, Or, Project, Query
from unseen.logic.shapes import SHAPES, Shape, template_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.datasets.query_table import Ragged

    Tables = Mapping[str, Mapping[str, QueryTable]]

NAMED = {"npz": set(SHAPES), "query2box": {shape for shape, _, _ in TYPES.values()}}
"""The types that a format has a name for; the other formats write any type as nested tuples."""
FOLDER = "its dataset folder is the one format that holds this"


def fitted(dataset: Dataset, form: str, types: Sequence[str] | None = None) -> tuple[Dataset, list[str]]:
    """The dataset as a format holds it, with the chosen types only, and what its user should know about that."""
    chosen = dataset if types is None else _chosen(dataset, types)
    _check_split(chosen, form)
    named, remarks = _named(chosen, form)
    _check_structures(named)
    if form == "query2box" and not any(named.tables.values()):
        raise DatasetError(
            "has no queries, and Query2Box files are nothing but queries: sample some", path=dataset.name
        )
    if form == "npz":
        _check_answers(named)
    return named, remarks + _left_out(named, form)


def _chosen(dataset: Dataset, types: Sequence[str]) -> Dataset:
    available = list(dict.fromkeys(name for tables in dataset.tables.values() for name in tables))
    missing = ", ".join(name for name in types if name not in available)
    if missing or not types:
        problem = f"has no queries of type {missing}" if missing else "no query type was named"
        raise DatasetError(f"{problem}; there are: {', '.join(available) or 'none'}", path=dataset.name)
    tables = {side: {name: found[name] for name in found if name in types} for side, found in dataset.tables.items()}
    answers = {
        side: {n: rows for n, rows in found.items() if n in types} for side, found in dataset.training_answers.items()
    }
    return dataset.with_queries(tables, answers)


def _check_split(dataset: Dataset, form: str) -> None:
    """Refuse graphs that the format has no place for."""
    split = dataset.split
    if split.disjoint:
        problem = f"{form} always adds the training graph: a disjoint dataset does not fit"
        raise DatasetError(f"{problem}; {FOLDER}", path=dataset.name)
    if len(split.test_filter):
        problem = (
            f"{form} has no place for {len(split.test_filter):,} triples that are true at test, but neither observed"
        )
        remedy = "`unseen split --given --observe train+valid` makes a dataset without any"
        raise DatasetError(f"{problem} nor asked for; {FOLDER}, or {remedy}", path=dataset.name)
    if form in ("betae", "query2box"):
        transductive_parts(dataset)


def _named(dataset: Dataset, form: str) -> tuple[Dataset, list[str]]:
    """The dataset with every type under the name that the format has for it; a type without one is refused."""
    if form not in NAMED:
        return dataset, []
    shapes = {table.shape.name: table.shape for tables in dataset.tables.values() for table in tables.values()}
    targets = {name: published_shape(shape) for name, shape in shapes.items()}
    strange = [name for name, shape in targets.items() if shape is None or shape.name not in NAMED[form]]
    if strange:
        kept = [name for name in targets if name not in strange]
        remedy = f"--types {','.join(kept)} leaves them out" if kept else "choose --format inductiveqe"
        raise DatasetError(f"{form} has no place for queries of type {', '.join(strange)}; {remedy}", path=dataset.name)
    found = {name: shape for name, shape in targets.items() if shape is not None}
    remarks = [
        f"{name} is written as {shape.name}, the same question" for name, shape in found.items() if shape.name != name
    ]
    tables = {side: _merged(some, found) for side, some in dataset.tables.items()}
    kept_answers = {} if remarks else dataset.training_answers
    return dataset.with_queries(tables, kept_answers), remarks


def _merged(tables: Mapping[str, QueryTable], shapes: Mapping[str, Shape]) -> dict[str, QueryTable]:
    """The tables under their new names; what two of them have in common is kept once."""
    merged: dict[str, QueryTable] = {}
    for name, table in tables.items():
        shape = shapes[name]
        renamed = QueryTable(shape, table.slots, table.easy, table.hard)
        merged[shape.name] = _joined(merged[shape.name], renamed) if shape.name in merged else renamed
    return merged


def _joined(left: QueryTable, right: QueryTable) -> QueryTable:
    from unseen.datasets.answering import joined

    slots = np.concatenate([left.slots, right.slots])
    both = QueryTable(left.shape, slots, joined([left.easy, right.easy]), joined([left.hard, right.hard]))
    return both.take(np.sort(np.unique(slots, axis=0, return_index=True)[1]))


def published_shape(shape: Shape) -> Shape | None:
    """The published shape that asks the same, with the same slots in the same order; None if there is none."""
    template = template_of(_without_double_negation(shape.skeleton))
    return next((named for named in SHAPES.values() if named.template == template), None)


def _without_double_negation(query: Query) -> Query:
    """The query with !!a as a, !(!a & !b) as a | b, and !(!a | !b) as a & b."""
    match query:
        case Project():
            return Project(query.relation, _without_double_negation(query.source))
        case And():
            return And(tuple(map(_without_double_negation, query.parts)))
        case Or():
            return Or(tuple(map(_without_double_negation, query.parts)))
        case Not():
            return _negated(_without_double_negation(query.part))
    return query


def _negated(inner: Query) -> Query:
    if isinstance(inner, Not):
        return inner.part
    if isinstance(inner, And | Or) and all(isinstance(part, Not) for part in inner.parts):
        parts = tuple(part.part for part in inner.parts if isinstance(part, Not))
        return Or(parts) if isinstance(inner, And) else And(parts)
    return Not(inner)


def _check_structures(dataset: Dataset) -> None:
    """Every type must be one that nested tuples can say, and two types must not be said the same way."""
    for tables in dataset.tables.values():
        owners: dict[object, str] = {}
        for name, table in tables.items():
            try:
                structure = structure_of_shape(table.shape)
            except QueryError as error:
                raise DatasetError(f"the type {name} does not fit this format: {error}", path=dataset.name) from None
            if owners.setdefault(structure, name) != name:
                problem = f"the types {owners[structure]} and {name} ask the same; leave one out with --types"
                raise DatasetError(problem, path=dataset.name)


def _check_answers(dataset: Dataset) -> None:
    """Refuse answers that a reader, who has to compute them, would not find again."""
    slots = {side: {name: table.slots for name, table in dataset.tables[side].items()} for side in SPLITS}
    again = answered(dataset, slots)
    for side, tables in again.tables.items():
        for name, table in tables.items():
            ours = dataset.tables[side][name]
            if not (_equal(ours.easy, table.easy) and _equal(ours.hard, table.hard)):
                problem = (
                    f"the {side} queries of type {name} have answers that traversal does not give, and npz holds none"
                )
                raise DatasetError(
                    f"{problem}; use --format inductiveqe, or leave the type out with --types", path=dataset.name
                )


def _equal(left: Ragged, right: Ragged) -> bool:
    return np.array_equal(left.offsets, right.offsets) and np.array_equal(left.values, right.values)


def _left_out(dataset: Dataset, form: str) -> list[str]:
    """What a reader finds again otherwise, or not at all, though graphs, queries and answers stay the same."""
    vocabulary, remarks = dataset.vocabulary, []
    if form == "npz":
        remarks.append("names and answers are left out: an .npz file holds ids, and its reader computes answers")
    elif vocabulary.entities.labels is not None or vocabulary.relations.labels is not None:
        remarks.append("labels are left out: the format has room for one name each")
    if form in ("betae", "query2box") and any(dataset.training_answers.values()):
        remarks.append(
            "answers of the training queries on larger graphs are left out: the format has no place for them"
        )
    if form != "npz" and is_true_only(dataset) and _has_negation(dataset):
        remarks.append(
            "easy answers of negations are true ones only here; readers of this format expect false ones too"
        )
    return remarks + _renamed(dataset, form)


def _has_negation(dataset: Dataset) -> bool:
    return any(table.shape.has_negation for tables in dataset.tables.values() for table in tables.values())


def _renamed(dataset: Dataset, form: str) -> list[str]:
    """Types whose name the format cannot hold."""
    if form in NAMED:
        return []
    templates = {name: table.shape.template for tables in dataset.tables.values() for name, table in tables.items()}
    known = {shape.template: name for name, shape in SHAPES.items()}
    found = {name: known.get(template, template) for name, template in templates.items()}
    return [
        f"{name} comes back as {again}: the format has no name for it" for name, again in found.items() if again != name
    ]
