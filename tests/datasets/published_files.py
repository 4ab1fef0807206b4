"""What the tests of the published formats share: Python's own pickle, and the name table of the published readers."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

from unseen.datasets.published import export_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.datasets.dataset import Dataset

STRUCTURES = {
    "1p": ("e", ("r",)),
    "2p": ("e", ("r", "r")),
    "3p": ("e", ("r", "r", "r")),
    "2i": (("e", ("r",)), ("e", ("r",))),
    "3i": (("e", ("r",)), ("e", ("r",)), ("e", ("r",))),
    "ip": ((("e", ("r",)), ("e", ("r",))), ("r",)),
    "pi": (("e", ("r", "r")), ("e", ("r",))),
    "2in": (("e", ("r",)), ("e", ("r", "n"))),
    "3in": (("e", ("r",)), ("e", ("r",)), ("e", ("r", "n"))),
    "inp": ((("e", ("r",)), ("e", ("r", "n"))), ("r",)),
    "pin": (("e", ("r", "r")), ("e", ("r", "n"))),
    "pni": (("e", ("r", "r", "n")), ("e", ("r",))),
    "2u": (("e", ("r",)), ("e", ("r",)), ("u",)),
    "up": ((("e", ("r",)), ("e", ("r",)), ("u",)), ("r",)),
}
"""The name table of the published readers."""


def load(path: Path) -> Any:
    """As a published reader does."""
    return pickle.loads(path.read_bytes())


def dump(value: Any, path: Path, protocol: int = 4) -> None:
    path.write_bytes(pickle.dumps(value, protocol))


POSITIVE = [name for name in STRUCTURES if "n" not in name]


def exported(dataset: Dataset, folder: Path, form: str) -> Path:
    """The dataset in a published format; without negation where the format has none."""
    export_dataset(dataset, folder, form, POSITIVE if form == "query2box" else None)
    return folder


class Malicious:
    """Touches a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)
