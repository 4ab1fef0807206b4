"""A random vector for any name: the same one in every process, on every machine, however much a graph has grown.

The name and the seed give 64 bits (BLAKE2), these and the position in the vector give the numbers (SplitMix64, whose
steps are integer arithmetic). Cost: one hash a name, then a few operations a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST_SHIFT, _BITS = np.uint64(31), np.uint64(64 - 24)
BLOCK = 1 << 14
"""Names whose vectors are made at a time."""


def named_vectors(names: Sequence[str], width: int, spread: float, seed: int) -> NDArray[np.float32]:
    """Vectors [name, width] of numbers drawn evenly from [-spread, spread)."""
    found = np.empty((len(names), width), np.float32)
    positions = np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN
    for start in range(0, len(names), BLOCK):
        hashes = np.array([_hash(name, seed) for name in names[start : start + BLOCK]], np.uint64)
        bits = _mixed(hashes[:, None] + positions) >> _BITS
        found[start : start + BLOCK] = (bits.astype(np.float32) / np.float32(1 << 23) - 1) * np.float32(spread)
    return found


def _hash(name: str, seed: int) -> int:
    key = seed.to_bytes(16, "little", signed=True)
    return int.from_bytes(blake2b(name.encode(), digest_size=8, key=key).digest(), "little")


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in _MIXERS:
        values = (values ^ (values >> shift)) * factor
    mixed: NDArray[np.uint64] = values ^ (values >> _LAST_SHIFT)
    return mixed
