"""What network and rules say about the candidates of some questions, and which of them were hidden.

Of every question are kept: what was hidden, the best candidates by the shipped weights, by the network and by rules,
and a sample of the rest, each of which stands for several. Known targets are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import torch

from unseen.methods.combination import EVIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.methods.combination import Combination, LinkEvidence

    Floats = NDArray[np.float64]

BEST, REST, MOST_TRUE = (96, 32, 32), 64, 64
"""Candidates that are kept: the best by all, by the network and by rules, of the rest, and of what was hidden."""
SIZE = sum(BEST) + REST + MOST_TRUE


@dataclass(frozen=True, eq=False)
class RowCandidates:
    """One question a row."""

    kinds: Floats
    """[row, candidate, evidence]"""
    many: Floats
    """[row, candidate]: for how many each stands; 0 for none."""
    is_true: NDArray[np.bool_]
    shipped: Floats
    """[row, evidence]: the weights of evidence in the context of the row."""
    offsets: Floats
    """[row, one of `OFFSET`], the last one left out: see `LinkEvidence.offsets`."""
    missing: Floats
    """[row]: how many targets are expected to be missing."""

    @property
    def num_answered(self) -> int:
        """Rows with an answer that was hidden."""
        return int((self.is_true & (self.many > 0)).any(axis=1).sum())

    @classmethod
    def joined(cls, parts: list[RowCandidates]) -> RowCandidates:
        """The rows of all parts."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def take(self, rows: NDArray[np.int64]) -> RowCandidates:
        """Some of the rows."""
        return RowCandidates(*(getattr(self, one.name)[rows] for one in fields(self)))


def candidates_of(
    links: LinkEvidence, way: Combination, targets: list[NDArray[np.int64]], random: np.random.Generator
) -> RowCandidates:
    """The candidates of each row of some evidence; `targets` are the nodes that were hidden."""
    kinds = torch.stack(links.kinds(), dim=2)
    shipped = way.weights(links)
    scores = torch.einsum("rce,re->rc", kinds, shipped).cpu().numpy()
    known, every = links.is_known.cpu().numpy(), kinds.cpu().numpy()
    copies = np.ones(known.shape[1]) if links.copies is None else links.copies.double().cpu().numpy()
    rows = [_row(every[i], scores[i], known[i] | (copies == 0), copies, targets[i], random) for i in range(len(every))]
    many, kept, is_true = (np.stack(part) for part in zip(*rows, strict=True))
    chosen = np.take_along_axis(every, kept[:, :, None], axis=1).astype(np.float64)
    offsets: Tensor = torch.stack(links.offsets(), dim=1)
    of_rows = (part.double().cpu().numpy() for part in (shipped, offsets, links.missing))
    return RowCandidates(chosen, many, is_true, *of_rows)


def _row(
    kinds: NDArray[np.float32],
    scores: NDArray[np.float32],
    known: NDArray[np.bool_],
    copies: Floats,
    targets: NDArray[np.int64],
    random: np.random.Generator,
) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """For how many each candidate stands, its node, and whether it was hidden."""
    targets = targets[targets >= 0]
    targets = targets[~known[targets]]
    true = random.permutation(targets)[:MOST_TRUE]
    is_open = ~known
    is_open[targets] = False
    places = np.flatnonzero(is_open)
    orders = (scores[places], kinds[places, EVIDENCE.index("network")], kinds[places, EVIDENCE.index("rules")])
    best = np.unique(np.concatenate([_largest(places, order, most) for order, most in zip(orders, BEST, strict=True)]))
    others = np.setdiff1d(places, best, assume_unique=True)
    rest, stand_for = _sampled(others, copies[others], random)
    kept = np.concatenate([true, best, rest])
    many = np.zeros(SIZE)
    many[: len(true)] = len(targets) / max(1, len(true))
    many[len(true) : len(true) + len(best)] = copies[best]
    many[len(true) + len(best) : len(kept)] = stand_for
    return many, np.pad(kept, (0, SIZE - len(kept))), np.arange(SIZE) < len(true)


def _sampled(places: NDArray[np.int64], copies: Floats, random: np.random.Generator) -> tuple[NDArray[np.int64], float]:
    """Some places, those with more copies more likely, and how many copies each of them stands for."""
    total = copies.sum()
    if total == len(places):
        chosen = random.permutation(places)[:REST]
    else:
        chosen = random.choice(places, min(REST, int(total)), p=copies / total)
    return chosen, total / max(1, len(chosen))


def _largest(places: NDArray[np.int64], values: NDArray[np.float32], most: int) -> NDArray[np.int64]:
    """The places of the largest values; of equal ones the first."""
    if len(places) <= most:
        return places
    found = np.argpartition(-values, most)[:most]
    return places[found]
