"""A random graph with something to learn, of any size: latent types and factors decide which tails are likely.

Every entity has a type and two factors, each one of `FACTORS` values, and a popularity. Every relation leads from a few
types to one type, looks at one factor of its head and shifts it, and asks for that value of a factor of its tail:

    P(tail | head, relation)  ~  popularity(tail)   among the entities of the relation's type whose factor is
                                                    factor(head) + shift(relation)  mod FACTORS

A share of `NOISE` of the links asks for the type alone. Relation 0 gives every entity its class, one of few, as the
most frequent relation of Wikidata does. Degrees and frequencies of relations follow power laws. A method that finds
types and factors from the links that an entity has can predict those it lacks; who only knows the types of a relation's
tails cannot. Cost: two binary searches a link, and one sort of all links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.graph.names import Names

ENTITIES, RELATIONS, TRIPLES = 2_500_000, 512, 17_000_000
"""The published numbers of WikiKG-QE, before it is split."""
TYPES, FACTORS, CLASSES_PER_TYPE = 128, 24, 16
NOISE = 0.1
TYPE_EXPONENT, RELATION_EXPONENT, POPULARITY_EXPONENT, ACTIVITY_EXPONENT = 0.8, 0.9, 0.75, 0.45

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """The entities: type, two factors, how often they are tails and how often heads."""

    types: Ids
    factors: Ids
    popularity: Floats
    activity: Floats
    num_types: int

    @classmethod
    def drawn(cls, count: int, random: np.random.Generator) -> Population:
        """Types of uneven size; entities in random order, so that ids say nothing."""
        share = powers(TYPES, TYPE_EXPONENT)
        types = random.choice(TYPES, count, p=share / share.sum())
        factors = random.integers(0, FACTORS, (2, count))
        popularity = random.permutation(powers(count, POPULARITY_EXPONENT))
        return cls(types, factors, popularity, random.permutation(powers(count, ACTIVITY_EXPONENT)), TYPES)


class Chooser:
    """Entities in groups, each drawn with its weight from its group: one binary search a draw."""

    def __init__(self, groups: Ids, num_groups: int, weights: Floats) -> None:
        self.order = np.argsort(groups, kind="stable")
        self.before = np.concatenate([[0.0], np.cumsum(weights[self.order])])
        self.starts = np.searchsorted(groups[self.order], np.arange(num_groups + 1))

    def weight(self, groups: Ids) -> Floats:
        """The summed weight of each group."""
        total: Floats = self.before[self.starts[groups + 1]] - self.before[self.starts[groups]]
        return total

    def draw(self, groups: Ids, random: np.random.Generator) -> Ids:
        """One entity of each group, which must not be empty."""
        point = self.before[self.starts[groups]] + random.random(len(groups)) * self.weight(groups)
        place = np.searchsorted(self.before, point, side="right") - 1
        drawn: Ids = self.order[np.clip(place, self.starts[groups], self.starts[groups + 1] - 1)]
        return drawn


class LatentGraph:
    """The world from which links are drawn."""

    def __init__(self, num_entities: int, num_relations: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.entities = Population.drawn(num_entities, self.random)
        entities, random = self.entities, self.random
        self.by_activity = Chooser(entities.types, TYPES, entities.activity)
        self.by_type = Chooser(entities.types, TYPES, entities.popularity)
        self.by_factor = [
            Chooser(entities.types * FACTORS + factor, TYPES * FACTORS, entities.popularity)
            for factor in entities.factors
        ]
        self.head_types = random.integers(0, TYPES, (num_relations, 3))
        self.tail_types = random.integers(0, TYPES, num_relations)
        self.used = random.integers(0, 2, (2, num_relations))
        self.shifts = random.integers(0, FACTORS, num_relations)
        self.num_classes = min(num_entities, TYPES * CLASSES_PER_TYPE)

    def links(self, relation: int, count: int) -> tuple[Ids, Ids]:
        """Heads and tails of some links of a relation, as likely as the world says; some may repeat."""
        head_types = self.random.choice(self.head_types[relation], count)
        head_types = head_types[self.by_activity.weight(head_types) > 0]
        heads = self.by_activity.draw(head_types, self.random)
        tail_type = np.full(len(heads), self.tail_types[relation])
        value = (self.entities.factors[self.used[0, relation], heads] + self.shifts[relation]) % FACTORS
        chooser, groups = self.by_factor[self.used[1, relation]], tail_type * FACTORS + value
        is_noise = (self.random.random(len(heads)) < NOISE) | (chooser.weight(groups) == 0)
        is_noise[self.by_type.weight(tail_type) == 0] = False
        tails = np.zeros(len(heads), np.int64)
        tails[is_noise] = self.by_type.draw(tail_type[is_noise], self.random)
        tails[~is_noise] = chooser.draw(groups[~is_noise], self.random)
        return heads, tails

    def classes(self) -> tuple[Ids, Ids]:
        """One link from every entity to its class, by its type and its first factor."""
        kind = self.entities.factors[0] * CLASSES_PER_TYPE // FACTORS
        classes = (self.entities.types * CLASSES_PER_TYPE + kind) % self.num_classes
        return np.arange(len(classes)), classes


def latent_graph(scale: float = 1.0, seed: int = 0) -> KnowledgeGraph:
    """The graph at a share of the published size; relations stay as many."""
    num_entities, num_triples = num_entities_of(scale), max(5000, round(TRIPLES * scale))
    world = LatentGraph(num_entities, RELATIONS, seed)
    packed = _packed(0, *world.classes(), num_entities)
    frequency = powers(RELATIONS - 1, RELATION_EXPONENT)
    while len(packed) < num_triples:
        missing = num_triples - len(packed)
        counts = np.ceil(1.1 * missing * frequency / frequency.sum()).astype(int)
        more = [
            _packed(1 + place, *world.links(1 + place, int(count)), num_entities) for place, count in enumerate(counts)
        ]
        packed = _distinct(np.concatenate([packed, *more]))
    classes = int(np.searchsorted(packed, num_entities**2))
    kept = classes + world.random.permutation(len(packed) - classes)[: num_triples - classes]
    return _unpacked(packed[np.concatenate([np.arange(classes), np.sort(kept)])], num_entities)


def num_entities_of(scale: float) -> int:
    """Entities at a share of the published size."""
    return max(1000, round(ENTITIES * scale))


def powers(count: int, exponent: float) -> Floats:
    """1, 2, 3, ... to the power of minus the exponent."""
    weights: Floats = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    return weights


def numbered_names(kind: str, letter: str, count: int) -> Names:
    """Names like Q17, as one Arrow column."""
    numbers = pa.array(np.arange(count)).cast(pa.string())
    return Names(kind, pc.binary_join_element_wise(letter, numbers, ""))


def _packed(relation: int, heads: Ids, tails: Ids, num_entities: int) -> Ids:
    return (relation * num_entities + heads) * num_entities + tails


def _distinct(packed: Ids) -> Ids:
    """Sorted, each once; by sorting, which is quicker here than the hash table of `np.unique`."""
    packed.sort()
    kept: Ids = packed[np.concatenate([[True], packed[1:] != packed[:-1]])]
    return kept


def _unpacked(packed: Ids, num_entities: int) -> KnowledgeGraph:
    rest, tails = np.divmod(packed, num_entities)
    relations, heads = np.divmod(rest, num_entities)
    vocabulary = Vocabulary(numbered_names("entity", "Q", num_entities), numbered_names("relation", "P", RELATIONS))
    return KnowledgeGraph(heads.astype(np.int32), relations.astype(np.int32), tails.astype(np.int32), vocabulary)
