"""Relations that a graph does not have, made of those it has: pieces of one, and shortcuts over two.

A graph of eleven relations shows few ways in which relations hang together. So in a world

1. some relations are dealt out to two or three new ones, by the head or by the tail of an edge: relations with the
   same kinds of ends that share none of their edges;
2. some pairs of relations become a shortcut beside them: a -> c wherever a -> b -> c, for some heads a; a relation
   that follows from others by a rule.

What is true stays true; a question may be about any of the relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph import KnowledgeGraph, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Columns = tuple[Ids, Ids, Ids]

MOST_PIECES = 3
FEWEST_EDGES = 12
"""A relation with fewer is not cut, and a shortcut with fewer is not made."""
SHORTCUTS = 0.4
"""Most edges that all shortcuts together add, as a share of the graph's."""


def with_made_up_relations(graph: KnowledgeGraph, share: float, random: np.random.Generator) -> KnowledgeGraph:
    """The graph with up to this share of its relations cut into pieces, and up to as many shortcuts beside them."""
    cut = np.flatnonzero(random.random(graph.num_relations) < share * random.random())
    shortcuts = random.binomial(graph.num_relations, share * random.random())
    heads, relations, tails = (column.astype(np.int64) for column in (graph.heads, graph.relations, graph.tails))
    number = graph.num_relations
    for relation in cut.tolist():
        pieces = _pieces(heads, relations, tails, relation, random)
        relations = np.where(pieces > 0, number + pieces - 1, relations)
        number += int(pieces.max(initial=0))
    most = int(SHORTCUTS * graph.num_triples) // max(1, shortcuts)
    made = [_shortcut((heads, relations, tails), number, most, random) for _ in range(shortcuts)]
    for place, (first, last) in enumerate([ends for ends in made if len(ends[0]) >= FEWEST_EDGES]):
        heads, tails = np.concatenate([heads, first]), np.concatenate([tails, last])
        relations = np.concatenate([relations, np.full(len(first), number + place)])
    return _numbered(graph.num_entities, heads, relations, tails)


def _pieces(heads: Ids, relations: Ids, tails: Ids, relation: int, random: np.random.Generator) -> Ids:
    """For every edge the number of its piece, 0 for edges that stay: those of other relations, and the first piece."""
    own, count = relations == relation, int(random.integers(2, MOST_PIECES + 1))
    ends = heads if random.random() < 0.5 else tails
    dealt = random.integers(count, size=int(ends.max(initial=0)) + 1)
    return np.where(own & (own.sum() >= FEWEST_EDGES), dealt[ends], 0)


def _shortcut(edges: Columns, num_relations: int, most: int, random: np.random.Generator) -> tuple[Ids, Ids]:
    """Heads and tails of a step along one relation and a step along another, each in either direction.

    All that such steps lead to from each of the first heads in random order, which have no more edges than `most`
    together.
    """
    heads, relations, tails = edges
    either = np.concatenate([heads, tails]), np.concatenate([relations, relations + num_relations])
    start, kind, end = (*either, np.concatenate([tails, heads]))
    first = np.flatnonzero(kind == kind[random.integers(len(kind))])
    onward = np.flatnonzero(start == end[random.choice(first)])
    second = np.flatnonzero(kind == kind[random.choice(onward)])
    first = first[np.argsort(random.permutation(int(start.max()) + 1)[start[first]], kind="stable")]
    second = second[np.argsort(start[second], kind="stable")]
    begin, stop = (np.searchsorted(start[second], end[first], side) for side in ("left", "right"))
    kept = _whole_heads(start[first], stop - begin, most)
    first, begin, counts = first[:kept], begin[:kept], (stop - begin)[:kept]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    froms, ends = np.repeat(start[first], counts), end[second[np.repeat(begin, counts) + within]]
    other = froms != ends
    return froms[other], ends[other]


def _whole_heads(heads: Ids, counts: Ids, most: int) -> int:
    """How many rows the first heads have, all of theirs or none, that count no more than `most` together."""
    borders = np.flatnonzero(np.append(heads[1:] != heads[:-1], True)) + 1
    totals = np.cumsum(counts)[borders - 1]
    return int(np.append(0, borders)[np.searchsorted(totals, most, side="right")])


def _numbered(num_entities: int, heads: Ids, relations: Ids, tails: Ids) -> KnowledgeGraph:
    """Relations under new numbers, none without edges; every edge once."""
    known, numbers = np.unique(relations, return_inverse=True)
    _, once = np.unique((numbers * num_entities + heads) * num_entities + tails, return_index=True)
    first, kind, last = (column[once].astype(np.int32) for column in (heads, numbers, tails))
    return KnowledgeGraph(first, kind, last, Vocabulary.numbered(num_entities, len(known)))
