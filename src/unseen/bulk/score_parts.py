"""Probabilities that were computed for a file, kept beside its output until all are there.

After an interruption the same command continues from them, as long as triples, graph and method are the same.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import UnseenError
from unseen.graph.files.atomic_file import check_target, replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MANIFEST = "scores.json"


class ScoreParts:
    """The parts of one output; `identity` says which triples, graph and method they belong to."""

    def __init__(self, output: Path, identity: dict[str, Any], *, restart: bool = False) -> None:
        check_target(output)
        self.folder = output.with_name(f"{output.name}.parts")
        if restart and self.folder.is_dir():
            shutil.rmtree(self.folder)
        self.folder.mkdir(exist_ok=True)
        manifest = self.folder / MANIFEST
        if not manifest.exists():
            with replacing(manifest) as stream:
                stream.write(json.dumps(identity).encode())
        elif json.loads(manifest.read_text(encoding="utf-8")) != identity:
            reason = "holds scores of other triples, of another graph or by another method"
            raise UnseenError(f"{self.folder}: {reason}; --restart starts over")

    def find(self, number: int, rows: int) -> NDArray[np.float32] | None:
        """The probabilities of a part, if they are there."""
        path = self._path(number)
        if not path.exists():
            return None
        values: NDArray[np.float32] = np.load(path, allow_pickle=False)
        return values if values.shape == (rows,) else None

    def write(self, number: int, values: NDArray[np.float32]) -> None:
        """Keep a part; its file is written completely or not at all."""
        with replacing(self._path(number)) as stream:
            np.save(stream, values, allow_pickle=False)

    def remove(self) -> None:
        """Remove all parts: the output is there."""
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08}.npy"
