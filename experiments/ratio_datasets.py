"""The benchmark of a ratio: published files are answered once and kept, dataset folders are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.grid_errors import CellMissing
from experiments.tiny import tiny_dataset
from unseen.datasets.dataset import Dataset
from unseen.datasets.published import import_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.workspace import Workspace

MANIFEST = "manifest.json"


def open_ratio(workspace: Workspace, ratio: int) -> Dataset:
    """The dataset of a ratio, which is made when it is first asked for."""
    kept = workspace.folder.dataset(ratio)
    if (kept / MANIFEST).is_file():
        return Dataset.open(kept, verify=False)
    if workspace.preset == "tiny":
        dataset = tiny_dataset(ratio)
    else:
        source = find_source(workspace.data, ratio)
        if (source / MANIFEST).is_file():
            return Dataset.open(source)
        dataset = import_dataset(source)
    kept.parent.mkdir(parents=True, exist_ok=True)
    dataset.save(kept)
    return Dataset.open(kept, verify=False)


def find_source(data: Path | None, ratio: int) -> Path:
    """Where the data of a ratio lies: `175.npz`, a published archive, or a folder whose name ends in the ratio."""
    if data is None:
        raise CellMissing("no data: name the folder of the published files with --data")
    for name in (f"{ratio}.npz", str(ratio), f"inductiveqe-{ratio}.zip"):
        if (data / name).exists():
            return data / name
    found = sorted(path for path in data.glob(f"*-{ratio}") if (path / MANIFEST).is_file())
    if not found:
        raise CellMissing(f"no data: {data} has neither {ratio}.npz nor a dataset whose name ends in -{ratio}")
    return found[0]
