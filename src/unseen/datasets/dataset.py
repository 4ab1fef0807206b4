"""A benchmark in memory: graphs with something missing, and questions whose answers are known.

| split | observed graph | complete graph |
| --- | --- | --- |
| train | the training graph | the same |
| valid, test | training graph + the inference edges of that split | + its edges to predict |

The complete graph of test also has what is true there though nobody asks for it (`InductiveSplit.test_filter`).
In the disjoint kind the observed graph of valid and test is their inference edges alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.dataset_folder import Contents, read_folder, write_folder
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.datasets.query_table import QueryTable, Ragged
    from unseen.datasets.split import InductiveSplit
    from unseen.graph import Vocabulary

SPLITS = ("train", "valid", "test")

ANSWER_DEFINITIONS = {
    "published": "easy: answers on the observed graph, with negation also those that are false in the complete graph; "
    "hard: answers on the complete graph that are not easy",
    "true": "easy: answers on the observed graph that hold in the complete graph too; "
    "hard: answers on the complete graph that are not easy",
}
"""What `easy` and `hard` mean in a dataset; its manifest says which of the two holds, under `answers`."""


def is_true_only(dataset: Dataset) -> bool:
    """Whether the easy answers of a dataset hold in the complete graph too."""
    return dataset.manifest.get("answers") == "true"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Graphs, queries and answers; immutable.

    `tables` holds the queries by split and shape name. All answers of a training query are `easy`, because nothing is
    missing there. `training_answers` holds, for "valid" and "test", the answers of the training queries (row by row as
    in `tables["train"]`) on the *observed* graph of that split, as the published `train_answers_val` and `_test` do.
    `manifest` says where all this comes from; counts and checksums are added to it when the dataset is saved.
    """

    name: str
    split: InductiveSplit
    tables: Mapping[str, Mapping[str, QueryTable]] = field(default_factory=lambda: {split: {} for split in SPLITS})
    training_answers: Mapping[str, Mapping[str, Ragged]] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    _graphs: dict[tuple[str, bool], KnowledgeGraph] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def open(cls, path: str | Path, verify: bool = True) -> Dataset:
        """The dataset of a folder, mapped into memory; a damaged, foreign or newer folder is an error.

        Without `verify` the checksums are not compared, which spares reading every byte once.
        """
        return cls(*read_folder(path, verify=verify))

    def save(self, path: str | Path) -> None:
        """Write the folder, all or nothing; an older dataset of that name is replaced, anything else is not."""
        contents = Contents(self.name, self.split, self.tables, self.training_answers, self.manifest)
        write_folder(contents, path)

    def with_queries(
        self,
        tables: Mapping[str, Mapping[str, QueryTable]],
        training_answers: Mapping[str, Mapping[str, Ragged]],
        **manifest: object,
    ) -> Dataset:
        """The same graphs with these queries; `manifest` says how they were made."""
        complete = {split: tables.get(split, {}) for split in SPLITS}
        about = {**self.manifest, **manifest}
        return replace(self, tables=complete, training_answers=training_answers, manifest=about)

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of all entities and relations, of every split."""
        return self.split.vocabulary

    def observed(self, split: str) -> KnowledgeGraph:
        """What a method may see when it answers the queries of a split."""
        return self._graph(split, complete=False)

    def complete(self, split: str) -> KnowledgeGraph:
        """What is true in a split: the observed graph and the edges to predict."""
        return self._graph(split, complete=True)

    def candidates(self, split: str) -> NDArray[np.int32]:
        """Sorted ids of the entities with an edge in the observed graph: all that can be an answer."""
        return self.observed(split).connected_entities

    def _graph(self, split: str, complete: bool) -> KnowledgeGraph:
        complete = complete and split != "train"
        found = self._graphs.get((split, complete))
        if found is None:
            edges = np.concatenate(self._parts(split, complete))
            found = KnowledgeGraph(edges[:, 0], edges[:, 1], edges[:, 2], self.vocabulary)
            self._graphs[split, complete] = found
        return found

    def _parts(self, split: str, complete: bool) -> list[NDArray[np.int32]]:
        edges = self.split
        sides = {
            "train": [],
            "valid": [edges.valid_inference, edges.valid_predict],
            "test": [edges.test_inference, edges.test_predict, edges.test_filter],
        }
        base = [] if edges.disjoint and split != "train" else [edges.train_graph]
        return base + (sides[split] if complete else sides[split][:1])
