"""Which batches a method learns from, by what its entry in the registry says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.methods.registry import entry_of
from unseen.training.batches import AnswerSource, QuerySource
from unseen.training.link_batches import LinkSource

if TYPE_CHECKING:
    from unseen.datasets.dataset import Dataset
    from unseen.methods.training_settings import TrainingConfig
    from unseen.training.batches import BatchSource

_SOURCES: dict[str, Any] = {"queries": QuerySource, "single answers": AnswerSource, "links": LinkSource}


def batch_source(method: Any, dataset: Dataset, config: TrainingConfig) -> BatchSource:
    """Queries with all or with one of their answers, or triples of the training graph."""
    source: BatchSource = _SOURCES[entry_of(config).learns_from].of(method, dataset, config)
    return source
