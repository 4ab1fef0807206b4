"""A whole pre-training run: graphs, held-out questions, worlds, the loop, calibration. What `unseen pretrain` calls.

```python
from unseen.training.pretraining.pretraining_session import pretrain
from unseen.training.pretraining.source_graphs import open_graphs

pretrain(open_graphs(["fb15k-237", "wn18rr"]), "runs/general", {"steps": 2000})
```
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.errors import RunFolderError
from unseen.methods.registry import make_method
from unseen.methods.training_settings import from_mapping, resumed
from unseen.methods.zero_shot.pretraining_settings import PRETRAINING, PretrainingConfig
from unseen.models.checkpoint import load_weights, write_json, write_tensors
from unseen.models.devices import chosen_device
from unseen.models.run_folder import RunFolder
from unseen.models.settings_file import write_toml
from unseen.training.calibrating_across import fit_across
from unseen.training.distributed import Workers
from unseen.training.loop import Material, Trainer
from unseen.training.pretraining.held_out import held_out_split, with_validation
from unseen.training.pretraining.world_source import WorldSource
from unseen.training.session import drop_calibration, from_settings, set_up_torch, start_of
from unseen.training.validation import Validation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.methods.zero_shot.zero_shot import ZeroShot
    from unseen.training.loop import Outcome, Report
    from unseen.training.pretraining.source_graphs import NamedGraph


def pretrain(  # noqa: PLR0913  # the last four say how, not what
    graphs: Sequence[NamedGraph],
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    resume: bool = False,
    minutes: float | None = None,
    report: Report | None = None,
    start: str | Path | None = None,
) -> Outcome:
    """Train one model on worlds cut out of some graphs, or go on with it; with `minutes` at most for that long.

    `start` names a model to begin with, such as one that has learned from smaller worlds.
    """
    wanted = settings or {}
    workers = Workers.joined(str(wanted.get("device", "auto")))
    try:
        folder = open_folder(graphs, Path(path), wanted, resume=resume, workers=workers, start=start)
        return _run(graphs, folder, workers, minutes, report)
    finally:
        workers.leave()


def open_folder(  # as `pretrain`
    graphs: Sequence[NamedGraph],
    path: Path,
    settings: Mapping[str, Any],
    *,
    resume: bool,
    workers: Workers,
    start: str | Path | None = None,
) -> RunFolder:
    """The folder of a new run, or of one to go on with, which must have learned from the same graphs."""
    is_there = resume and (path / "run.json").exists()
    about = {"dataset": "+".join(one.name for one in graphs), "graphs": [one.about() for one in graphs]}
    workers.wait()
    if workers.is_first:
        if is_there:
            folder = RunFolder.open(path)
            if folder.origin.get("graphs") != about["graphs"]:
                raise RunFolderError("learned from other graphs: give --graphs as when it was begun", path=path)
            folder.check_start(start)
            write_toml(resumed(folder.config, from_settings(folder.config, settings)), path / "config.toml")
        else:
            _begin(path, settings, {"method": PRETRAINING.name, "relations": [], **about}, start)
    workers.wait()
    return RunFolder.open(path)


def _begin(path: Path, settings: Mapping[str, Any], about: dict[str, Any], start: str | Path | None) -> None:
    """A new folder; with the weights of a model to begin with, and then in its shape."""
    if start is None:
        RunFolder.begin(path, from_mapping(PretrainingConfig, settings), about)
        return
    weights, complete = start_of(start, settings)
    config = from_mapping(PretrainingConfig, complete)
    folder = RunFolder.begin(path, config, about | {"start": str(start)})
    write_tensors(folder.start_path, make_method(config, ()).state_dict() | weights)


def validation_datasets(
    graphs: Sequence[NamedGraph], config: PretrainingConfig, queries: int, sample: int = 0
) -> list[Dataset]:
    """Each graph as what is learned from, and questions about what is held out of it; `sample` says which ones."""
    split = [held_out_split(one, config.held_out, config.seed) for one in graphs]
    return [with_validation(dataset, config.validation_types, queries, sample) for dataset in split]


def _run(
    graphs: Sequence[NamedGraph], folder: RunFolder, workers: Workers, minutes: float | None, report: Report | None
) -> Outcome:
    config = folder.config
    assert isinstance(config, PretrainingConfig)  # noqa: S101 - `open_folder` has made it so
    set_up_torch(config)
    datasets = validation_datasets(graphs, config, config.validation_queries)
    method = make_method(config, ()).to(chosen_device(config.device, workers.local_rank))
    training = [dataset.observed("train") for dataset in datasets]
    validation = Validation(datasets, replace(config, validation_types=()))
    with WorldSource(method, training, config) as source:  # type: ignore[arg-type]
        outcome = Trainer(method, Material(source, validation), config, folder, workers, report).run(minutes)
    if workers.is_first and outcome.reason == "interrupted":
        drop_calibration(folder)
    elif workers.is_first and config.calibration_queries:
        calibrate(graphs, folder, method, report)  # type: ignore[arg-type]
    workers.wait()
    return outcome


def calibrate(graphs: Sequence[NamedGraph], folder: RunFolder, method: ZeroShot, report: Report | None = None) -> None:
    """Fit probabilities to facts hidden from all graphs with the best weights, and keep them."""
    config = folder.config
    assert isinstance(config, PretrainingConfig)  # noqa: S101 - a folder of pre-training
    load_weights(folder.weights_path(), method)
    method.eval()

    def progress(label: str, done: int, total: int) -> None:
        if report is not None:
            report("calibration", {"label": label, "done": done, "total": total})

    found = fit_across(method, graphs, config.calibration_queries, seed=config.seed, progress=progress)
    write_json(folder.path / "calibration.json", found.to_json())
