"""Links that are hidden from a graph, asked for from single sources and from sets, with what network and rules say.

Of every row all hidden targets are kept, the best candidates of the network and of the rules, and a sample of the rest,
each of which stands for several. Known targets are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from unseen.logic.traverse import step
from unseen.methods.fuzzy_gnn.edge_following import follow_in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.datasets.dataset import Dataset
    from unseen.graph import KnowledgeGraph
    from unseen.methods.combination import LinkEvidence
    from unseen.methods.combined import Combined

    Triples = NDArray[np.int64]

BEST, REST = 80, 80
"""Candidates kept of the best of network and rules, and of the others."""
AT_ONCE = 32


@dataclass(frozen=True)
class HiddenLinks:
    """A graph, and facts that hold beside it, in its numbers."""

    name: str
    graph: KnowledgeGraph
    hidden: Triples

    @classmethod
    def of_names(cls, name: str, graph: KnowledgeGraph, hidden: KnowledgeGraph) -> HiddenLinks:
        """Facts of another graph whose names the graph has."""
        known, asked = graph.vocabulary, hidden.vocabulary
        entities = known.entities.find_all([asked.entities.name(i) for i in range(asked.num_entities)])
        relations = known.relations.find_all([asked.relations.name(i) for i in range(asked.num_relations)])
        facts = np.stack([entities[hidden.heads], relations[hidden.relations], entities[hidden.tails]], axis=1)
        return cls(name, graph, facts[(facts >= 0).all(axis=1)].astype(np.int64))

    @classmethod
    def of_dataset(cls, name: str, dataset: Dataset) -> HiddenLinks:
        """Validation triples of a dataset."""
        return cls(name, dataset.observed("valid"), dataset.split.valid_predict.astype(np.int64))

    def sources(self, count: int, seed: int) -> list[tuple[NDArray[np.int64], int]]:
        """Members and directed relation of `count` rows from single sources, and of half as many from sets."""
        random = np.random.default_rng(seed)
        drawn = self.hidden[random.permutation(len(self.hidden))[: -(-count // 2)]]
        rows = [(np.array([h]), 2 * r) for h, r, _ in drawn] + [(np.array([t]), 2 * r + 1) for _, r, t in drawn]
        sets = [self._set_around(int(members[0]), random) for members, _ in rows[::2]]
        return rows + [(found, r) for found, (_, r) in zip(sets, rows[::2], strict=True) if len(found) > 1]

    def _set_around(self, entity: int, random: np.random.Generator) -> NDArray[np.int64]:
        """All that one step of the graph leads to together with an entity."""
        ways = self._into(entity)
        if not len(ways):
            return np.array([entity])
        source, relation = ways[random.integers(len(ways))]
        return step(self.graph, int(relation), np.array([source], np.int32)).astype(np.int64)

    def _into(self, entity: int) -> NDArray[np.int64]:
        graph = self.graph
        forwards, backwards = graph.tails == entity, graph.heads == entity
        first = np.stack([graph.heads[forwards], 2 * graph.relations[forwards]], axis=1)
        second = np.stack([graph.tails[backwards], 2 * graph.relations[backwards] + 1], axis=1)
        return np.concatenate([first, second]).astype(np.int64)

    def targets(self, members: NDArray[np.int64], directed: int) -> NDArray[np.int64]:
        """What hidden facts lead to."""
        source, target = (0, 2) if directed % 2 == 0 else (2, 0)
        facts = self.hidden[self.hidden[:, 1] == directed // 2]
        return np.unique(facts[np.isin(facts[:, source], members)][:, target])


def collected(method: Combined, links: HiddenLinks, count: int, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Evidence about candidates of all rows; see `_row`."""
    rows = links.sources(count, seed)
    found = []
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        sets = torch.zeros(len(part), links.graph.num_entities, device=method.device)
        for place, (members, _) in enumerate(part):
            sets[place, torch.from_numpy(members).to(method.device)] = 1
        directed = torch.tensor([relation for _, relation in part])
        compact = method.network.compact(links.graph)
        followed = follow_in_parts(compact, compact.gather(sets), compact.relations_of(directed.numpy()))
        evidence = method.evidence(links.graph, sets, directed, followed)
        truth = [links.targets(*row) for row in part]
        found += _rows(evidence, [compact.node_of_entity[targets] for targets in truth], np.random.default_rng(start))
    return {key: np.stack([row[key] for row in found]) for key in found[0]} if found else {}


def _rows(
    evidence: LinkEvidence, truth: list[NDArray[np.int64]], random: np.random.Generator
) -> list[dict[str, NDArray[np.float32]]]:
    kinds = torch.stack(evidence.kinds(), dim=2).cpu().numpy()
    offsets = torch.stack(evidence.offsets(), dim=1).cpu().numpy()
    known = evidence.is_known.cpu().numpy()
    made = (_row(kinds[i], known[i], targets, random) for i, targets in enumerate(truth))
    return [{**row, "offsets": offsets[i]} for i, row in enumerate(made) if row is not None]


def _row(
    kinds: NDArray[np.float32], known: NDArray[np.bool_], targets: NDArray[np.int64], random: np.random.Generator
) -> dict[str, NDArray[np.float32]] | None:
    """`kinds` [candidate, evidence], `is_true`, and `many`: for how many candidates each stands, 0 for none."""
    size = 2 * BEST + REST
    targets = targets[(targets >= 0)]
    targets = targets[~known[targets]][:BEST]
    if not len(targets):
        return None
    open_places = np.flatnonzero(~known)
    best = [open_places[np.argsort(-kinds[open_places, kind])[: BEST // 2]] for kind in (0, 1)]
    chosen = np.unique(np.concatenate([targets, *best]))
    rest = np.setdiff1d(open_places, chosen)
    drawn = random.permutation(rest)[: size - len(chosen)]
    places = np.concatenate([chosen, drawn])
    many = np.concatenate([np.ones(len(chosen)), np.full(len(drawn), len(rest) / max(1, len(drawn)))])
    row = {"kinds": np.zeros((size, kinds.shape[1])), "is_true": np.zeros(size), "many": np.zeros(size)}
    row["kinds"][: len(places)], row["many"][: len(places)] = kinds[places], many
    row["is_true"][: len(places)] = np.isin(places, targets)
    return {key: value.astype(np.float32) for key, value in row.items()}
