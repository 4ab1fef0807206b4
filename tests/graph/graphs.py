"""Random graphs for Hypothesis: columns of ids over numbered names."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unseen.graph import KnowledgeGraph, Vocabulary

Triple = tuple[int, int, int]


def triples(num_entities: int, num_relations: int, max_size: int = 30, min_size: int = 0) -> st.SearchStrategy:
    """Lists of (head, relation, tail) ids, repeats and self-loops included."""
    entity, relation = st.integers(0, num_entities - 1), st.integers(0, num_relations - 1)
    return st.lists(st.tuples(entity, relation, entity), min_size=min_size, max_size=max_size)


def graph_of(edges: list[Triple], num_entities: int, num_relations: int) -> KnowledgeGraph:
    """The graph of ids over a vocabulary of numbers."""
    columns = np.array(edges, np.int32).reshape(-1, 3).T
    return KnowledgeGraph(*columns, Vocabulary.numbered(num_entities, num_relations))


def edges_of(graph: KnowledgeGraph) -> list[Triple]:
    """The edges of a graph as plain numbers, in order."""
    return list(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))


def named_graph(
    edges: list[tuple[str, str, str]], entities: tuple[str, ...], relations: tuple[str, ...]
) -> KnowledgeGraph:
    """The graph of named triples over a whole vocabulary, also of names that no triple has."""
    numbered = [
        (entities.index(head), relations.index(relation), entities.index(tail)) for head, relation, tail in edges
    ]
    columns = np.array(numbered, np.int32).reshape(-1, 3).T
    return KnowledgeGraph(*columns, Vocabulary.of(entities, relations))
