"""The probabilities of a zero-shot model fitted again, without training: of a run, of a model, or of a copy of one.

```python
from unseen.training.pretraining.source_graphs import open_graphs
from unseen.training.recalibrating import recalibrate

recalibrate("default", open_graphs(["facts.tsv"]), output="models/mine")
```
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.errors import RunFolderError, TrainingError
from unseen.methods.registry import entry_of
from unseen.models.checkpoint import write_json
from unseen.models.model_folder import ModelFolder, find_model, open_model, shipped_folder
from unseen.training.calibrating_across import fit_across

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.logic.method import Method
    from unseen.models.run_folder import RunFolder
    from unseen.probability.query_calibration import QueryCalibration
    from unseen.training.calibrating_across import Progress
    from unseen.training.pretraining.source_graphs import NamedGraph

QUERIES = 30
"""Questions a type and graph."""


def recalibrate(  # noqa: PLR0913  # the last ones say how, not what
    name: str | Path,
    graphs: Sequence[NamedGraph],
    queries_per_type: int = QUERIES,
    *,
    output: str | Path | None = None,
    device: str = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[QueryCalibration, Path]:
    """Fit probabilities to facts hidden from graphs, and write them into the model's folder or into a copy of it.

    Nothing is written before all is done.
    """
    found = find_model(name)
    path = checked_target(found, None if output is None else Path(output))
    calibration = fit_across(_bare(found, device), graphs, queries_per_type, seed=seed, progress=progress)
    if calibration.about["fitted"]["true_missing"] == 0:
        raise TrainingError("no hidden fact gives an answer to any question: ask more of them, or give larger graphs")
    if path != found.path:
        _copy(found.path, path, calibration)
    else:
        write_json(path / "calibration.json", calibration.to_json())
    return calibration, path


def checked_target(found: ModelFolder | RunFolder, output: Path | None) -> Path:
    """The folder to write to; what cannot be is said before hours are spent.

    A model of the package is changed only where `output` names its folder, however the model is named.
    """
    if not entry_of(found.config).shape:
        raise RunFolderError("is not a zero-shot model; training fits its probabilities", path=found.path)
    own = found.path.resolve()
    if output is None and own.parent == shipped_folder().resolve():
        raise RunFolderError(
            "is shipped with the package: say with --output where to put a copy, or name this folder to change it",
            path=found.path,
        )
    if output is None or output.resolve() == own:
        return found.path
    if not isinstance(found, ModelFolder):
        raise RunFolderError("is a run: leave --output out, its own probabilities are fitted then", path=found.path)
    if output.exists():
        raise RunFolderError("already exists; name another folder", path=output)
    return output


def _bare(found: ModelFolder | RunFolder, device: str) -> Method:
    """The method without the calibration that it has."""
    from unseen.probability.calibration import Calibrated

    method = open_model(found.path, device=device)
    return method.method if isinstance(method, Calibrated) else method


def _copy(model: Path, path: Path, calibration: QueryCalibration) -> None:
    """The model under another calibration; its card comes last, as a folder without one is not a model."""
    path.mkdir(parents=True)
    for name in ("weights.safetensors", "combination.json"):
        if (model / name).exists():
            shutil.copyfile(model / name, path / name)
    write_json(path / "calibration.json", calibration.to_json())
    shutil.copyfile(model / "card.json", path / "card.json")
