"""The rules of a graph as one immutable object, with a file of its own.

Rules over paths and the weights of evidence are what predicts. Rules with constants are listed as examples of the many
that `firing` counts when they are needed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from unseen.errors import GraphError
from unseen.rules.adjacency import adjacency_of
from unseen.rules.evidence import FEATURES
from unseen.rules.fingerprints import checksum, fingerprints, relation_keys
from unseen.rules.indexing import index_of, tallies_of
from unseen.rules.weighing import Weights

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.rules.firing import RuleIndex

    Ids = NDArray[np.int32]
    Values = NDArray[np.float32]

SMOOTHING = 5.0
"""Pairs without the head that are added to those counted, so that a rule seen twice is not certain."""
FILE_VERSION = 4


@dataclass(frozen=True, eq=False)
class PathRules:
    """Rules r(x, z) <- a(x, y), b(y, z) of length 1 to 3, by head, the most confident first."""

    heads: Ids
    """The directed relation r of each."""
    steps: Ids
    """[rule, 3] directed relations; -1 behind the last."""
    support: Values
    """Pairs for which body and head hold."""
    pairs: Values
    """Pairs for which the body holds."""

    @property
    def confidence(self) -> Values:
        """Support over pairs, smoothed."""
        return self.support / (self.pairs + np.float32(SMOOTHING))

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> PathRules:
        """Some of the rules."""
        return PathRules(self.heads[chosen], self.steps[chosen], self.support[chosen], self.pairs[chosen])

    def sorted(self) -> PathRules:
        """By head, then confidence."""
        return self.take(np.lexsort((*self.steps.T[::-1], -self.confidence, self.heads)))


@dataclass(frozen=True, eq=False)
class ConstantRules:
    """Rules r(x, c) <- a(x, d), or r(x, c) <- a(x, y) where `values` is -1, by head, the most confident first."""

    heads: Ids
    constants: Ids
    relations: Ids
    values: Ids
    support: Values
    pairs: Values

    @property
    def confidence(self) -> Values:
        """Support over pairs, smoothed."""
        return self.support / (self.pairs + np.float32(SMOOTHING))

    def take(self, chosen: NDArray[np.bool_]) -> ConstantRules:
        """Some of the rules."""
        return ConstantRules(*(column[chosen] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Rules:
    """What a graph teaches about itself."""

    paths: PathRules
    constants: ConstantRules
    weights: Weights
    relation_keys: tuple[str, ...]
    fingerprints: NDArray[np.uint64]
    """One number for the edges of each relation, in whatever order."""
    counts: NDArray[np.int64]
    """Edges of each relation when its rules were mined."""
    samples: int
    seed: int
    is_complete: bool = True
    """Whether mining came to its end; if not, rules are missing, those of rare relations first."""

    def _repr_html_(self) -> str:
        from unseen.rules.rules_display import rules_html

        return rules_html(self)

    @property
    def effort(self) -> tuple[bool, int]:
        """How thoroughly they were mined; larger is more."""
        return self.is_complete, self.samples

    @property
    def checksum(self) -> str:
        """Of the graph that the rules were mined from."""
        return checksum(self.relation_keys, self.fingerprints)

    def __len__(self) -> int:
        return len(self.paths.heads) + len(self.constants.heads)

    def index(self, graph: KnowledgeGraph) -> RuleIndex:
        """The rules by what makes them fire on a graph with the same relations, kept as long as the graph lives."""
        found = _INDICES.get(graph)
        if found is None or found[0] is not self:
            found = _INDICES[graph] = (self, index_of(adjacency_of(graph), self.paths, SMOOTHING, tallies_of(graph)))
        return found[1]

    def weighted(self, weights: Weights) -> Rules:
        """The same rules with other weights."""
        return replace(self, weights=weights)

    def is_of(self, graph: KnowledgeGraph) -> bool:
        """Whether the graph has the edges that the rules were mined from."""
        if self.relation_keys != relation_keys(graph) or not (fingerprints(graph) == self.fingerprints).all():
            return False
        entities = (self.constants.constants, self.constants.values)
        return all(len(part) == 0 or -1 <= part.min() <= part.max() < graph.num_entities for part in entities)

    def save(self, path: Path) -> None:
        """Write all of it to one safetensors file."""
        from safetensors.numpy import save

        from unseen.graph.files.atomic_file import replacing

        arrays = self._arrays()
        numbers = {"samples": self.samples, "seed": self.seed, "is_complete": self.is_complete}
        about = {"version": FILE_VERSION, "relations": self.relation_keys, **numbers, "digest": _digest(arrays)}
        with replacing(path) as stream:
            stream.write(save(arrays, {"unseen_rules": json.dumps(about)}))

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        parts = {"paths": self.paths, "constants": self.constants, "weights": self.weights}
        arrays = {f"{name}.{key}": value for name, part in parts.items() for key, value in vars(part).items()}
        own = {"fingerprints": self.fingerprints, "counts": self.counts}
        return {key: np.ascontiguousarray(value) for key, value in (arrays | own).items()}

    @classmethod
    def load(cls, path: Path) -> Rules:
        """The rules of a file; one that is damaged or of another version is an error."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as stream:
                about = json.loads((stream.metadata() or {})["unseen_rules"])
                arrays = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118 - no mapping
            if about["version"] != FILE_VERSION:
                raise GraphError(f"holds rules of version {about['version']}, not {FILE_VERSION}: mine anew", path=path)
            if about["digest"] != _digest(arrays):
                raise GraphError("is damaged: its checksum does not fit; mine anew", path=path)
            return cls._of_arrays(arrays, about)._checked()
        except OSError as error:
            raise GraphError(f"cannot be read: {error}", path=path) from None
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise GraphError(f"is no file of rules: {error}", path=path) from None

    @classmethod
    def _of_arrays(cls, arrays: dict[str, NDArray[np.generic]], about: dict[str, object]) -> Rules:
        def part(name: str) -> dict[str, NDArray[np.generic]]:
            return {key.split(".")[1]: value for key, value in arrays.items() if key.startswith(f"{name}.")}

        made = PathRules(**part("paths")), ConstantRules(**part("constants")), Weights(**part("weights"))  # type: ignore[arg-type]
        keys: tuple[str, ...] = tuple(about["relations"])  # type: ignore[arg-type]
        samples, seed, is_complete = int(str(about["samples"])), int(str(about["seed"])), about["is_complete"] is True
        sums, counts = arrays["fingerprints"].astype(np.uint64), arrays["counts"].astype(np.int64)
        return cls(*made, keys, sums, counts, samples, seed, is_complete)

    def _checked(self) -> Rules:
        """The same, of which compiled loops may take every number for granted; entities are checked with a graph."""
        count, paths, constants, weights = 2 * len(self.relation_keys), self.paths, self.constants, self.weights
        size, others = len(paths.heads), len(constants.heads)
        if (
            paths.steps.shape != (size, 3)
            or any(part.shape != (size,) for part in (paths.support, paths.pairs))
            or any(part.shape != (others,) for part in vars(constants).values())
            or weights.coefficients.shape != (count + 1, FEATURES)
            or weights.calibration.shape != (count + 1, 2)
            or weights.quality.shape != (count + 1,)
            or any(2 * len(part) != count for part in (self.fingerprints, self.counts))
        ):
            raise ValueError("its parts do not fit together")
        relations = (paths.heads, paths.steps[:, 0], constants.heads, constants.relations)
        if any(len(part) and not 0 <= part.min() <= part.max() < count for part in relations) or (
            size and not -1 <= paths.steps.min() <= paths.steps.max() < count
        ):
            raise ValueError("a relation lies outside of its vocabulary")
        return self


def _digest(arrays: dict[str, NDArray[np.generic]]) -> str:
    """A checksum of arrays by name, shape and content."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


_INDICES: WeakKeyDictionary[KnowledgeGraph, tuple[Rules, RuleIndex]] = WeakKeyDictionary()
