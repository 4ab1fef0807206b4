"""What a trained method says about itself: its settings, how it is made, what it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unseen.methods.trainable import Trainable
    from unseen.methods.training_settings import TrainingConfig

LearnsFrom = Literal["queries", "single answers", "links"]
"""Queries with all their answers, queries with one answer each, or triples of the training graph."""
KnownEntities = Literal["none", "anchors", "entities"]
"""Which entities a model knows by name: none, some of the training graph, or all of them."""


class Maker(Protocol):
    """Whatever makes a method with fresh weights; torch is imported when it is called."""

    def __call__(
        self, config: Any, relation_names: Sequence[str], entity_names: Sequence[str], *, known_facts: bool
    ) -> Trainable:
        """The method for relations and entities of these names."""
        ...


def no_recipe(settings: Mapping[str, Any], num_triples: int) -> dict[str, Any]:  # noqa: ARG001
    """The settings unchanged, for a training graph of any size."""
    return dict(settings)


@dataclass(frozen=True)
class TrainedMethod:
    """One entry of the registry."""

    name: str
    settings: type[TrainingConfig]
    make: Maker
    learns_from: LearnsFrom
    known_entities: KnownEntities = "none"
    recipe: Callable[[Mapping[str, Any], int], dict[str, Any]] = no_recipe
    """Settings of a new run: those given, completed for a training graph of so many triples."""
    shape: tuple[str, ...] = ()
    """The settings that weights for any graph belong to; none where weights belong to relations by name."""
    model_name: str = ""
    """The method whose models its runs make; itself by default."""
    ways: tuple[str, ...] = ()
    """How such a model answers and has learned: what it goes on with unless told otherwise."""
