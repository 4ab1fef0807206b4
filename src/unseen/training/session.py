"""A whole run: settings, folder, loop, calibration. What `unseen train` calls.

```python
from unseen.datasets.dataset import Dataset
from unseen.training.session import train

train("gnn-qe", Dataset.open("fb15k-237-175"), "runs/first", {"steps": 2000})
```
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from unseen.errors import ConfigError, UnknownMethod
from unseen.methods.registry import TRAINED, make_method
from unseen.methods.training_settings import from_mapping, resumed
from unseen.models.checkpoint import load_weights, write_json, write_tensors
from unseen.models.devices import chosen_device
from unseen.models.run_folder import RunFolder
from unseen.models.settings_file import read_toml, write_toml
from unseen.training.calibrating import fit_calibration
from unseen.training.distributed import Workers
from unseen.training.link_batches import choose_entities
from unseen.training.loop import Material, Trainer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from unseen.datasets.dataset import Dataset
    from unseen.methods.trainable import Trainable
    from unseen.methods.training_settings import TrainingConfig
    from unseen.training.loop import Outcome, Report


GAINS: dict[str, Any] = {"statistics": False, "relation_states": "none"}
"""What a model may lack and gain when training goes on: a setting, and its value in a model that lacks it."""
FINE_TUNING: dict[str, Any] = {
    "steps": 1000,
    "learning_rate": 1e-3,
    "schedule": "cosine",
    "warmup": 50,
    "average": 0.99,
    "validate_every": 100,
    "relation_memory": True,
}
"""For a model that has learned from other graphs already: minutes, small steps, and names to be remembered."""


def train(  # noqa: PLR0913  # the last three say how, not what
    method: str,
    dataset: Dataset,
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    resume: bool = False,
    minutes: float | None = None,
    report: Report | None = None,
    start: str | Path | None = None,
) -> Outcome:
    """Train a method on a dataset into a run folder, or go on with one; with `minutes` at most for that long.

    With `resume`, a folder that is not there yet is begun, so that the same call can be repeated until all is done.
    `start` names a zero-shot model to begin with: it is validated first, and stays the best until it is surpassed.
    """
    wanted, folder_path = settings or {}, Path(path)
    workers = Workers.joined(_wanted_device(wanted, folder_path))
    try:
        folder = open_folder(method, dataset, folder_path, wanted, resume=resume, workers=workers, start=start)
        return _run(dataset, folder, workers, minutes, report)
    finally:
        workers.leave()


def open_folder(  # noqa: PLR0913  # as `train`
    method: str,
    dataset: Dataset,
    path: Path,
    settings: Mapping[str, Any],
    *,
    resume: bool,
    workers: Workers,
    start: str | Path | None = None,
) -> RunFolder:
    """The folder of a new run, or of one to go on with, whose settings then change where `settings` says so."""
    if method not in TRAINED:
        raise UnknownMethod("trainable method", method, list(TRAINED))
    is_there = resume and (path / "run.json").exists()
    workers.wait()
    if workers.is_first:
        if is_there:
            folder = RunFolder.open(path)
            folder.check_start(start)
            write_toml(resumed(folder.config, from_settings(folder.config, settings)), path / "config.toml")
        elif start is not None:
            begin_from(start, method, dataset, path, settings)
        else:
            config = from_mapping(
                TRAINED[method].settings, TRAINED[method].recipe(settings, dataset.observed("train").num_triples)
            )
            RunFolder.create(path, method, config, dataset, choose_entities(dataset, config))
    workers.wait()
    return RunFolder.open(path)


def begin_from(start: str | Path, method: str, dataset: Dataset, path: Path, settings: Mapping[str, Any]) -> RunFolder:
    """The folder of a run that begins with the weights of a model, whose shape it must keep."""
    if not TRAINED[method].shape:
        raise ConfigError(f"--from begins with a model for any graph; {method} has weights for each relation by name")
    from unseen.models.model_folder import remembering

    weights, complete = start_of(start, settings)
    config = from_mapping(TRAINED[method].settings, FINE_TUNING | complete)
    folder = RunFolder.create(path, method, config, dataset, start=str(start))
    fresh = make_method(config, folder.relation_names).state_dict()
    write_tensors(folder.start_path, remembering(start, folder.relation_names, fresh | weights))
    return folder


def start_of(start: str | Path, settings: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights of a model to begin with, and these settings in its shape; another shape is an error.

    It also goes on answering and learning as it did, where the settings say nothing else. A model without statistics
    or without states of entities may gain them: what is new begins with an output of zero.
    """
    from unseen.models.model_folder import weights_and_settings

    weights, own, shape = weights_and_settings(start)
    for name in shape:
        gained = own[name] == GAINS.get(name, not own[name])
        gained = gained or (name == "state_rounds" and own["relation_states"] == "none")
        if settings.get(name, own[name]) != own[name] and not gained:
            raise ConfigError(f"{name} cannot be {settings[name]!r}: the model to begin with has {own[name]!r}")
    return weights, {**own, **settings}


def from_settings(config: TrainingConfig, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that say something, checked by name."""
    from_mapping(type(config), settings)
    return {each.name: settings[each.name] for each in fields(config) if each.name in settings}


def read_settings(path: Path | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a TOML file with flags in place of some of them."""
    return (read_toml(path) if path is not None else {}) | dict(flags)


def calibrate(dataset: Dataset, folder: RunFolder, method: Trainable, report: Report | None = None) -> None:
    """Fit probabilities with the best weights and keep them in the folder."""
    count = folder.config.calibration_queries
    if not count or not dataset.tables["valid"]:
        return
    load_weights(folder.weights_path(), method)
    method.eval()

    def progress(label: str, done: int, total: int) -> None:
        if report is not None:
            report("calibration", {"label": label, "done": done, "total": total})

    write_json(folder.path / "calibration.json", fit_calibration(method, dataset, count, progress=progress).to_json())


def drop_calibration(folder: RunFolder) -> None:
    """Remove the probabilities of earlier weights: who interrupts a run does not want to wait for new ones."""
    (folder.path / "calibration.json").unlink(missing_ok=True)


def _run(
    dataset: Dataset, folder: RunFolder, workers: Workers, minutes: float | None, report: Report | None
) -> Outcome:
    config = folder.config
    set_up_torch(config)
    method = make_method(config, folder.relation_names, folder.entity_names)
    method = method.to(chosen_device(config.device, workers.local_rank))
    outcome = Trainer(method, Material.of(method, dataset, config), config, folder, workers, report).run(minutes)
    if workers.is_first:
        if outcome.reason == "interrupted":
            drop_calibration(folder)
        else:
            calibrate(dataset, folder, method, report)
    workers.wait()
    return outcome


def _wanted_device(settings: Mapping[str, Any], path: Path) -> str:
    """The device of the settings, else that of the run before, else the best one available."""
    if "device" in settings or not (path / "run.json").exists():
        return str(settings.get("device", "auto"))
    return RunFolder.open(path).config.device


def set_up_torch(config: TrainingConfig) -> None:
    """Threads and precision as the settings say."""
    if config.threads:
        torch.set_num_threads(config.threads)  # the kernels take as many
    if torch.cuda.is_available():
        torch.set_float32_matmul_precision(config.precision)
