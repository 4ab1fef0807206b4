"""Values as a person and as RDF reads them, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.arrow_arrays import id_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Nodes = NDArray[np.integer]

MOST_SHOWN = 3
"""Values of one attribute of one entity that are shown."""


def named_nodes(graph: KnowledgeGraph, nodes: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Readable name and key of entities and of values, which have numbers behind those of all entities."""
    entities = sorted({node for node in nodes if node < graph.num_entities})
    values = sorted({node for node in nodes if node >= graph.num_entities})
    found = dict(zip(entities, graph.vocabulary.entities.named(entities), strict=True)) if entities else {}
    if values:
        table = graph.attributes.literals.taken(np.array(values) - graph.num_entities)
        pairs = zip(table.texts.to_pylist(), table.n_triples().to_pylist(), strict=True)
        found |= dict(zip(values, pairs, strict=True))
    return found


def recorded_texts(graph: KnowledgeGraph, attribute: int, entities: Sequence[int]) -> list[str]:
    """The recorded values of an attribute for some entities, an empty text where there is none."""
    owners, values = graph.attributes.of_attribute(attribute)
    wanted = np.asarray(entities, np.int64)
    first, last = np.searchsorted(owners, wanted), np.searchsorted(owners, wanted, side="right")
    texts = graph.attributes.literals.texts
    return [
        ", ".join(texts.take(id_array(values[start : min(end, start + MOST_SHOWN)])).to_pylist())
        + (", …" if end - start > MOST_SHOWN else "")
        for start, end in zip(first.tolist(), last.tolist(), strict=True)
    ]


def node_keys(graph: KnowledgeGraph, nodes: Nodes) -> list[NDArray[np.float64]]:
    """Keys that sort entities and values, the most significant first: entities by IRI, values by kind and size."""
    is_value = nodes >= graph.num_entities
    kind, number, text = (np.full(len(nodes), -1.0) for _ in range(3))
    if is_value.any():
        literals, places = graph.attributes.literals, nodes[is_value] - graph.num_entities
        kind[is_value] = literals.kinds[places]
        numbers = literals.numbers[places]
        number[is_value] = np.where(np.isnan(numbers), -np.inf, numbers)
        text[is_value] = literals.text_order[places]
    if not is_value.all():
        keys = graph.vocabulary.entities.keys.take(id_array(nodes[~is_value])).to_pylist()
        rank = {key: float(place) for place, key in enumerate(sorted(set(keys)))}
        text[~is_value] = [rank[key] for key in keys]
    return [kind, number, text]


def attribute_keys(
    graph: KnowledgeGraph, attribute: int, entities: Nodes, *, largest: bool
) -> list[NDArray[np.float64]]:
    """Keys that sort entities by a value of an attribute: the largest of several, or the smallest; NaN without one."""
    owners, values = graph.attributes.of_attribute(attribute)
    if not len(owners):
        return [np.full(len(entities), np.nan)]
    keys = node_keys(graph, values + graph.num_entities)
    order = np.lexsort([*reversed(keys), owners.astype(float)])
    before, after = np.searchsorted(owners, entities), np.searchsorted(owners, entities, side="right")
    place = after - 1 if largest else before
    place = np.clip(place, 0, len(owners) - 1)
    is_there = owners[place] == entities
    return [np.where(is_there, key[order][place], np.nan) for key in keys]
