"""The kind of an entity according to the graph: its types, or else the ends of its relations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.catalogue import may_tell_kinds
from unseen.graph.vocabulary import directed_relation

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

_PREFIXED = re.compile(r"(?!urn:)([^\W\d][\w .-]{0,30})::?(?=[^:/\s])")
MOST_RELATIONS = 500
"""In a graph with more relations, entities without a type are of no kind."""


def kinds_of(graph: KnowledgeGraph, entities: list[int]) -> list[list[str]]:
    """For each entity the names of its types.

    Where no relation leads to types, what stands before the colon of its name (`Gene::1017`), or else a role such as
    `head of speaks`.
    """
    directed = [directed_relation(relation) for relation in type_relations(graph)]
    kinds = [_targets(graph, entity, directed) for entity in entities]
    if any(kinds):
        return kinds
    kinds = [_prefix(graph.vocabulary.entities.key(entity)) for entity in entities]
    return kinds if any(kinds) or graph.num_relations > MOST_RELATIONS else _roles(graph, entities)


def type_relations(graph: KnowledgeGraph) -> list[int]:
    """The relations that lead to types, by their name."""
    keys = graph.vocabulary.relations.keys.to_pylist()
    return [relation for relation, key in enumerate(keys) if may_tell_kinds(key)]


def _prefix(name: str) -> list[str]:
    """The word before the colon of a name, which is no scheme of an address."""
    found = _PREFIXED.match(name)
    return [found[1]] if found else []


def _targets(graph: KnowledgeGraph, entity: int, directed: list[int]) -> list[str]:
    found = []
    for relation in directed:
        sources, targets = graph.edges_from(relation)
        first, last = np.searchsorted(sources, [entity, entity + 1])
        found += [graph.vocabulary.entity_name(int(target)) for target in targets[first : min(last, first + 5)]]
    return found


def _roles(graph: KnowledgeGraph, entities: list[int]) -> list[list[str]]:
    """The end of the most frequent relation that each entity is at."""
    roles: list[list[str]] = [[] for _ in entities]
    order = np.argsort(-np.diff(graph.by_head.offsets), kind="stable").tolist()
    for relation in order:
        name = graph.vocabulary.relations.name(relation)
        for end, inverse in (("head", False), ("tail", True)):
            sources = graph.edges_from(directed_relation(relation, inverse))[0]
            places = np.searchsorted(sources, entities)
            for role, place, entity in zip(roles, places, entities, strict=True):
                if not role and place < len(sources) and sources[place] == entity:
                    role.append(f"{end} of {name}")
    return roles
