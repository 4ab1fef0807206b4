"""A run explains itself: one folder with its settings, where it came from, what it measured and what it learned.

| file | what |
| --- | --- |
| `config.toml` | the settings as run |
| `run.json` | method, dataset, relation names, versions, commit, machine |
| `start.safetensors` | the weights that a fine-tuned model began with |
| `anchors.json` | names of the anchors among a model's tokens, if it has any |
| `entities.json` | names of the entities that a transductive model has learned |
| `metrics.jsonl` | one JSON line per event: `start`, `train`, `validation`, `end` |
| `best.safetensors`, `last*` | see `checkpoint` |
| `calibration.json` | how memberships become probabilities, see `probability.calibration` |
| `tuning.json`, `tuning-alone.json` | how a scorer of links answers each type of query, see `training.tuning` |
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.errors import EvaluationError, RunFolderError
from unseen.graph.files.atomic_file import replacing
from unseen.methods.registry import RUNS
from unseen.methods.training_settings import TrainingConfig, from_mapping
from unseen.models.checkpoint import load_weights, read_json, write_json
from unseen.models.promised_weights import check_promises
from unseen.models.settings_file import read_toml, write_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.logic.method import Method
    from unseen.probability.calibration import Probabilities

PACKAGES = ("unseen", "torch", "triton", "numba", "numpy", "safetensors")


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run. Origin and settings are read once; `open` the folder again to see them changed."""

    path: Path

    @classmethod
    def create(
        cls,
        path: str | Path,
        method: str,
        config: TrainingConfig,
        dataset: Dataset,
        entity_names: Sequence[str] = (),
        start: str | None = None,
    ) -> RunFolder:
        """A new folder, or an empty one, with the settings and the origin of a run."""
        begun = {} if start is None else {"start": start}
        folder = cls.begin(path, config, {"method": method, **_about(dataset), **begun})
        if entity_names:
            kind = RUNS[method].known_entities
            write_json(folder.path / f"{kind}.json", {kind: list(entity_names)})
        return folder

    @classmethod
    def begin(cls, path: str | Path, config: TrainingConfig, about: dict[str, Any]) -> RunFolder:
        """The same for any material: `about` has the method, the dataset's name and the relations."""
        folder = cls(Path(path))
        if folder.path.exists() and any(folder.path.iterdir()):
            raise RunFolderError("already exists; go on with --resume, or name another folder", path=folder.path)
        folder.path.mkdir(parents=True, exist_ok=True)
        write_toml(config, folder.path / "config.toml")
        write_json(folder.path / "run.json", about | provenance())
        return folder

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """A folder that a run has written."""
        folder = cls(Path(path))
        if not (folder.path / "run.json").exists():
            raise RunFolderError("is not the folder of a run: it has no run.json", path=folder.path)
        return folder

    @cached_property
    def origin(self) -> dict[str, Any]:
        """What `run.json` says."""
        return read_json(self.path / "run.json")

    @property
    def method(self) -> str:
        """The name of the method."""
        name = self.origin.get("method")
        if not isinstance(name, str) or name not in RUNS:
            raise RunFolderError(f"was written by a method that is not known here: {name!r}", path=self.path)
        return name

    @cached_property
    def config(self) -> TrainingConfig:
        """The settings as run."""
        path = self.path / "config.toml"
        return from_mapping(RUNS[self.method].settings, read_toml(path), str(path))

    def check_start(self, start: str | Path | None) -> None:
        """Refuse to continue from a different model than the one the run began with."""
        began = self.origin.get("start")
        if start is not None and str(start) != began:
            text = f"began with {began}" if began else "did not begin with a model"
            raise RunFolderError(f"{text}: leave --from out to go on, or name another folder", path=self.path)

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The relations that the model knows, in its order."""
        return _names(self.origin, "relations", self.path / "run.json")

    @property
    def entity_names(self) -> tuple[str, ...]:
        """The entities that the model knows by name, in its order: anchors, all that it was trained on, or none."""
        kind = RUNS[self.method].known_entities
        path = self.path / f"{kind}.json"
        return _names(read_json(path), kind, path) if path.exists() else ()

    @property
    def start_path(self) -> Path:
        """The weights that a run begins with, where it does not begin with random ones."""
        return self.path / "start.safetensors"

    def weights_path(self, which: str = "best") -> Path:
        """The file of the best weights, or of the last ones if there are no best or they are asked for."""
        best = self.path / "best.safetensors"
        if which == "best" and best.exists():
            return best
        if not (self.path / "last.json").exists():
            raise RunFolderError("has no checkpoint yet", path=self.path)
        name = read_json(self.path / "last.json").get("weights")
        if not isinstance(name, str) or Path(name).name != name:
            raise RunFolderError("does not name the file of the last weights", path=self.path / "last.json")
        return self.path / name

    def log(self, event: str, **values: Any) -> None:
        """One more line of `metrics.jsonl`."""
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"event": event, **values}) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """The events so far; a line that a dying process left unfinished is left out."""
        path = self.path / "metrics.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [event for line in lines if (event := _parsed(line)) is not None]

    def forget_after(self, step: int) -> None:
        """Drop the events of steps that will be run again."""
        kept = [event for event in self.metrics() if event.get("step", 0) <= step]
        with replacing(self.path / "metrics.jsonl") as stream:
            stream.write("".join(json.dumps(event) + "\n" for event in kept).encode())


def open_method(path: str | Path, *, device: str = "auto", known_facts: bool = True, weights: str = "best") -> Method:
    """The method that a run has trained, with `answer` and `estimate`; calibrated if the run is.

    `weights` is `best` or `last`; a run that was never validated has only the last. With `known_facts`, projections
    follow observed edges too; the calibration belongs to that way of answering and is left out without it.
    """
    from unseen.methods.registry import make_method
    from unseen.models.devices import chosen_device
    from unseen.models.tuned_method import answering_method
    from unseen.probability.calibration import calibrated

    folder = RunFolder.open(path)
    config, relations, entities = folder.config, folder.relation_names, folder.entity_names
    file = folder.weights_path(weights)
    check_promises(config, len(relations) + len(entities), file, lambda: make_method(config, relations, entities))
    method = make_method(config, relations, entities, known_facts=known_facts)
    load_weights(file, method)
    method = method.to(chosen_device(device)).eval()
    answerer = answering_method(method, folder.path, known_facts=known_facts)
    calibration = folder.path / "calibration.json"
    if not (known_facts and calibration.exists()):
        return answerer
    return calibrated(answerer, calibration_in(calibration))


def calibration_in(path: Path) -> Probabilities:
    """What a `calibration.json` says; one that cannot be used is an error that names it."""
    from unseen.probability.calibration import read_calibration

    try:
        return read_calibration(read_json(path))
    except EvaluationError as error:
        raise RunFolderError(f"{error}; remove it to answer without calibrated probabilities", path=path) from None


def relation_keys(dataset: Dataset) -> Sequence[str]:
    """The unique names of a dataset's relations, in order."""
    keys: list[str] = dataset.vocabulary.relations.keys.to_pylist()
    return keys


def _names(holder: dict[str, Any], key: str, path: Path) -> tuple[str, ...]:
    """A list of different names in a JSON object."""
    names = holder.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise RunFolderError(f"has no list of different names under {key!r}", path=path)
    return tuple(names)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _about(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "dataset_manifest": {key: value for key, value in dataset.manifest.items() if _is_short(value)},
        "relations": relation_keys(dataset),
    }


def provenance() -> dict[str, Any]:
    """What made something: command, versions, commit, machine."""
    return {
        "command": sys.argv,
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
        "commit": source_commit(),
        "machine": platform.platform(),
    }


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def source_commit() -> str | None:
    """The commit of the source, with + if it was changed since; None outside a checkout.

    `UNSEEN_COMMIT` says it where the source is a copy without its history, or with an older one.
    """
    named = os.environ.get("UNSEEN_COMMIT")
    if named:
        return named
    try:
        found = _git("rev-parse", "HEAD")
        return found + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()  # noqa: S603
