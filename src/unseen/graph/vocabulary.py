"""Names and ids of one graph's entities and relations.

This is the only place that knows how an inverse relation is numbered. A graph with R relations has 2R *directed*
ones: relation r read forwards is 2r, read backwards 2r + 1. Ids therefore stay as they are when relations are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Vocabulary:
    """What entities and relations are called; immutable."""

    entities: Names
    relations: Names

    @classmethod
    def of(cls, entity_names: Sequence[str], relation_names: Sequence[str]) -> Vocabulary:
        """The vocabulary of plain names: ids are positions."""
        return cls(Names("entity", text_array(entity_names)), Names("relation", text_array(relation_names)))

    @classmethod
    def numbered(cls, num_entities: int, num_relations: int) -> Vocabulary:
        """Numbers as names, for graphs that come without any."""
        return cls.of([str(i) for i in range(num_entities)], [str(i) for i in range(num_relations)])

    @property
    def num_entities(self) -> int:
        """How many entities have a name."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """How many relations have a name; inverses are not counted."""
        return len(self.relations)

    @property
    def num_directed_relations(self) -> int:
        """How many directed relations there are: each relation forwards and backwards."""
        return 2 * len(self.relations)

    def entity_id(self, name: str) -> int:
        """The id of an entity; an unknown name is an error that offers the closest ones."""
        return self.entities.find(name)

    def entity_name(self, entity: int) -> str:
        """The readable name of an entity."""
        return self.entities.name(entity)

    def relation_id(self, name: str, inverse: bool = False) -> int:
        """The directed id of a relation, read forwards or backwards."""
        return directed_relation(self.relations.find(name), inverse)

    def relation_name(self, directed: int) -> tuple[str, bool]:
        """The readable name of a directed relation, and whether it is read backwards."""
        return self.relations.name(undirected_relation(directed)), is_inverse(directed)


class Lookup:
    """A vocabulary in which some names have been looked up beforehand, all in one pass; others cost a pass each."""

    def __init__(
        self, vocabulary: Vocabulary, entities: Iterable[str], relations: Iterable[str], *, suggest: bool = True
    ) -> None:
        """Without `suggest`, the error for an unknown name does not offer the closest ones, which take long to find."""
        self._vocabulary, self._suggest = vocabulary, suggest
        self._entities = _found(vocabulary.entities, entities)
        self._relations = _found(vocabulary.relations, relations)

    def entity_id(self, name: str) -> int:
        """As in the vocabulary."""
        found = self._entities.get(name, -1)
        return found if found >= 0 else self._vocabulary.entities.find(name, suggest=self._suggest)

    def relation_id(self, name: str, inverse: bool = False) -> int:
        """As in the vocabulary."""
        found = self._relations.get(name, -1)
        if found < 0:
            found = self._vocabulary.relations.find(name, suggest=self._suggest)
        return directed_relation(found, inverse)


def _found(names: Names, wanted: Iterable[str]) -> dict[str, int]:
    texts = list(dict.fromkeys(wanted))
    return dict(zip(texts, names.find_all(texts).tolist(), strict=True)) if texts else {}


def directed_relation(relation: int, inverse: bool = False) -> int:
    """The directed id of relation `relation`."""
    return 2 * relation + int(inverse)


def undirected_relation(directed: int) -> int:
    """The relation of a directed id."""
    return directed // 2


def is_inverse(directed: int) -> bool:
    """Whether a directed id reads its relation backwards."""
    return directed % 2 == 1


def inverse_relation(directed: int) -> int:
    """The same relation in the other direction; works on numbers and on arrays of them."""
    return directed ^ 1
