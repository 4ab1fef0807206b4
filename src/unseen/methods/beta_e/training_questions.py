"""Training queries with their answers on the device, and negatives that are never answers, drawn without trying twice.

The entities that do *not* answer a query are numbered 0, 1, 2, ...: with the answers a_0 < a_1 < ... the r-th of them
is r + #{ i : a_i - i <= r }. So a negative is one random number and one binary search among the numbers a_i - i,
which are kept for all queries in one sorted column. The host draws nothing and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from unseen.logic.shapes import Shape
from unseen.methods.beta_e.embedding import FormGroup, branches_of
from unseen.methods.fuzzy_gnn.edge_following import upload
from unseen.methods.model_relations import ModelRelations

Ids = NDArray[np.int64]

FEWEST_ANSWERS = 4
"""What is added to the number of answers before a query is weighed by it, as published."""


class AnsweredQueries(NamedTuple):
    """Queries of one shape: row i has the answers `answers[offsets[i]:offsets[i + 1]]`; ids are those of a graph."""

    template: str
    slots: NDArray[np.int32]
    offsets: NDArray[np.int64]
    answers: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class QuestionBatch:
    """Some queries of a step, ready for the device: groups of branches, and for each query an answer."""

    questions: TrainingQuestions
    batch_size: int
    """Of the whole step, over all processes."""
    groups: list[FormGroup]
    branches: list[int]
    """How many groups in a row are the branches of the same queries."""
    places: Int[Tensor, " row"]
    """Where each query stands in the whole batch."""
    numbers: Int[Tensor, " row"]
    positives: Int[Tensor, " row"]
    weights: Float[Tensor, " row"]


@dataclass(frozen=True, eq=False)
class TrainingQuestions:
    """All training queries in the numbers of a model; row numbers run through all shapes."""

    num_entities: int
    templates: tuple[str, ...]
    slots: tuple[Ids, ...]
    firsts: Ids
    """The number of each shape's first row."""
    answers: Ids
    starts: Ids
    """Where the answers of each row begin."""
    device_starts: Int[Tensor, " row"]
    shifted: Int[Tensor, " answer"]
    """row (num_entities + 1) + (a_i - i) of every answer, ascending."""

    @classmethod
    def of(
        cls,
        tables: Sequence[AnsweredQueries],
        number_of_entity: Ids,
        relations: ModelRelations,
        num_entities: int,
        device: torch.device,
    ) -> TrainingQuestions:
        """The tables with the model's numbers in place of a graph's ids; what it does not know is left out.

        A query that begins at an unknown entity keeps its row number, but has no answers and weighs nothing.
        """
        slots = tuple(_numbered(table, number_of_entity, relations) for table in tables)
        firsts = np.cumsum([0, *(len(one) for one in slots)])
        is_known = np.concatenate([np.empty(0, bool), *((one >= 0).all(axis=1) for one in slots)])
        keys = np.sort(np.concatenate([np.empty(0, np.int64), *_keys(tables, firsts, number_of_entity, num_entities)]))
        keys = keys[is_known[keys // num_entities]]
        rows, answers = keys // num_entities, keys % num_entities
        starts = np.searchsorted(rows, np.arange(firsts[-1] + 1))
        shifted = rows * (num_entities + 1) + answers - (np.arange(len(rows)) - starts[rows])
        on_device = (torch.from_numpy(column).to(device) for column in (starts, shifted))
        safe = tuple(np.maximum(one, 0) for one in slots)
        return cls(num_entities, tuple(one.template for one in tables), safe, firsts[:-1], answers, starts, *on_device)

    def batch(self, kinds: Ids, rows: Ids, draws: NDArray[np.float64], share: slice = slice(None)) -> QuestionBatch:
        """The queries `rows` of the shapes `kinds`; `draws` in [0, 1) choose an answer of each."""
        numbers = self.firsts[kinds] + rows
        counts = self.starts[numbers + 1] - self.starts[numbers]
        weights = 1 / np.sqrt(FEWEST_ANSWERS + counts)
        weights = np.where(counts > 0, weights / weights.mean(), 0.0)
        chosen = np.minimum(self.starts[numbers] + (draws * counts).astype(np.int64), max(0, len(self.answers) - 1))
        order = np.arange(len(rows))[share]
        order = order[np.argsort(kinds[order], kind="stable")]
        met = np.unique(kinds[order])
        flat = [self.slots[kind][rows[order[kinds[order] == kind]]] for kind in met]
        bits = weights[order].view(np.int64)  # numbers of both kinds travel in one copy
        columns = [order, numbers[order], self.answers[chosen[order]], bits, *(part.ravel() for part in flat)]
        places, own, positives, weighed, *uploaded = upload(columns, self.shifted.device)
        slots = [one.view(part.shape) for one, part in zip(uploaded, flat, strict=True)]
        forms = [branches_of(self.templates[kind]) for kind in met]
        groups = [FormGroup(branch, part) for form, part in zip(forms, slots, strict=True) for branch in form]
        on_device = (places, own, positives, weighed.view(torch.float64).float())
        return QuestionBatch(self, len(rows), groups, [len(form) for form in forms], *on_device)

    def negatives(self, rows: Int[Tensor, " row"], draws: Float[Tensor, "row each"]) -> Int[Tensor, "row each"]:
        """For each row entities that do not answer it, evenly by `draws` in [0, 1); where all do, any."""
        starts = self.device_starts[rows].unsqueeze(1)
        others = self.num_entities - (self.device_starts[rows + 1].unsqueeze(1) - starts)
        rank = torch.minimum((draws * others).long(), others - 1).clamp(min=0)
        wanted = rows.unsqueeze(1) * (self.num_entities + 1) + rank
        before = torch.searchsorted(self.shifted, wanted, right=True) - starts
        return (rank + before).clamp(max=self.num_entities - 1)


def _keys(tables: Sequence[AnsweredQueries], firsts: Ids, number_of_entity: Ids, num_entities: int) -> list[Ids]:
    """One number for each row and answer, where the answer has one."""
    found = []
    for table, first in zip(tables, firsts, strict=False):
        rows = first + np.repeat(np.arange(len(table.slots)), np.diff(table.offsets))
        numbers = number_of_entity[table.answers]
        found.append((rows * num_entities + numbers)[numbers >= 0])
    return found


def _numbered(table: AnsweredQueries, number_of_entity: Ids, relations: ModelRelations) -> Ids:
    """The slots in the model's numbers."""
    slots = table.slots.astype(np.int64)
    kinds = Shape(table.template, table.template).slots
    for place, kind in enumerate(kinds):
        slots[:, place] = number_of_entity[slots[:, place]] if kind == "e" else relations.known(slots[:, place])
    return slots
