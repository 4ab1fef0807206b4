"""What a graph adds to the weights of network and rules, by relation; in memory and in a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from unseen.errors import GraphError
from unseen.methods.combination import CALIBRATION, EVIDENCE, OwnRows
from unseen.rules.fingerprints import relation_keys

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Floats = NDArray[np.float64]

FILE_VERSION = 3
DRIFT = 0.2
"""What a graph adds stays as it is until so large a share of its facts came or went."""
LARGEST = 1e4


@dataclass(frozen=True, eq=False)
class OwnWeights:
    """By directed relation; the last row is for relations that were not tried."""

    evidence: Floats
    """[relation, one of `EVIDENCE`]: added to the weights of evidence."""
    calibration: Floats
    """[relation, one of `CALIBRATION`]: added to score + balance."""
    questions: int = 0
    """How many were asked to find this out; nothing is added if none."""
    relation_keys: tuple[str, ...] = ()
    num_triples: int = 0
    model: str = ""
    """A checksum of what the weights belong to."""

    def rows(self, relations: NDArray[np.int64]) -> OwnRows | None:
        """What is added for some directed relations, new ones having the last row; nothing if nothing was asked."""
        if not self.questions:
            return None
        places = np.minimum(relations, len(self.evidence) - 1)
        return OwnRows(*(torch.from_numpy(part[places]).float() for part in (self.evidence, self.calibration)))

    def suits(self, graph: KnowledgeGraph, model: str) -> bool:
        """Whether they hold for a graph, which may have grown or shrunk a little since."""
        keys = relation_keys(graph)[: len(self.relation_keys)]
        is_close = abs(graph.num_triples - self.num_triples) <= DRIFT * self.num_triples
        return self.model == model and keys == self.relation_keys and is_close

    def save(self, path: Path) -> None:
        """Write all of it to one safetensors file."""
        from safetensors.numpy import save

        from unseen.graph.files.atomic_file import replacing

        arrays = {"evidence": self.evidence, "calibration": self.calibration}
        numbers = {"questions": self.questions, "triples": self.num_triples}
        about = {"version": FILE_VERSION, "relations": self.relation_keys, "model": self.model, **numbers}
        with replacing(path) as stream:
            stream.write(save(arrays, {"unseen_weights": json.dumps(about | {"digest": _digest(arrays)})}))

    @classmethod
    def load(cls, path: Path) -> OwnWeights:
        """The weights of a file; one that is damaged or of another version is an error."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as stream:
                about = json.loads((stream.metadata() or {})["unseen_weights"])
                arrays = {key: stream.get_tensor(key) for key in ("evidence", "calibration")}
            if about["version"] != FILE_VERSION or about["digest"] != _digest(arrays):
                raise ValueError("it is damaged or of another version")
            numbers = int(about["questions"]), tuple(about["relations"]), int(about["triples"]), str(about["model"])
            return cls(arrays["evidence"], arrays["calibration"], *numbers)._checked()
        except OSError as error:
            raise GraphError(f"cannot be read: {error}", path=path) from None
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise GraphError(f"is no file of weights: {error}", path=path) from None

    def _checked(self) -> OwnWeights:
        count = 2 * len(self.relation_keys) + 1
        for part, columns in ((self.evidence, EVIDENCE), (self.calibration, CALIBRATION)):
            if part.shape != (count, len(columns)) or not (np.abs(part) < LARGEST).all():
                raise ValueError("its parts do not fit together")
        return self


def nothing_added(graph: KnowledgeGraph, model: str) -> OwnWeights:
    """What is added to weights by a graph that says nothing about them."""
    count, keys = 2 * graph.num_relations + 1, relation_keys(graph)
    parts = np.zeros((count, len(EVIDENCE))), np.zeros((count, len(CALIBRATION)))
    return OwnWeights(*parts, 0, keys, graph.num_triples, model)


def _digest(arrays: dict[str, Floats]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
