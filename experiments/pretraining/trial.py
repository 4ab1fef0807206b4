"""One trial: pre-train for a given time, in parts, and measure after each of them.

The last part ends with a learning rate of zero: how many steps are left is known from how fast the others were. What is
measured are the averaged weights, by the network alone, on validation links (folders) and questions (`.npz`). Every
measurement is a line of `measured.jsonl`, written at once.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.cli.given import GivenOptions, given_dataset
from unseen.datasets.published import import_dataset
from unseen.evaluation.evaluator import Options, evaluate
from unseen.methods.registry import make_method
from unseen.models.checkpoint import read_json, read_tensors, write_json, write_tensors
from unseen.models.devices import chosen_device
from unseen.models.run_folder import RunFolder
from unseen.training.averaging import KEY
from unseen.training.pretraining.pretraining_session import pretrain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from unseen.datasets.dataset import Dataset
    from unseen.training.pretraining.source_graphs import NamedGraph

DECAYED = 0.3
"""Share of the time in which the learning rate falls."""
FOREVER = 1_000_000
"""Steps of a run that time ends."""
LEAST_SECONDS, PATIENCE = 3.0, 10.0
"""Time in which the learning rate can fall at all, and by which that may take longer than was foreseen."""
QUIET = {"validate_every": 0, "calibration_queries": 0, "validation_queries": 2, "validation_types": ("1p",)}


@dataclass(frozen=True)
class Trial:
    """What is trained, where, and what it is measured by."""

    graphs: Sequence[NamedGraph]
    folder: Path
    settings: Mapping[str, Any]
    seconds: float
    parts: int
    data: Sequence[Path]
    limit: int
    start: str | None = None

    def run(self) -> None:
        """Train in parts, measure after each."""
        begin, measuring = time.monotonic(), 0.0
        with ThreadPoolExecutor(1) as reader:
            datasets = [reader.submit(dataset_of, path) for path in self.data]
            self._open()
        for part in range(1, self.parts + 1):
            end = begin + measuring + self.seconds * (part / self.parts if part < self.parts else 1 - DECAYED)
            self._train(end, {"steps": FOREVER, "decay_steps": 0})
            if part == self.parts:
                self._decay(begin + measuring + self.seconds)
            measured = time.monotonic()
            self._measure([each.result() for each in datasets], begin)
            measuring += time.monotonic() - measured

    def _open(self) -> None:
        """One step, if there is none yet, so that it is known how long a run takes to open and kernels are compiled."""
        if self._progress()["step"] == 0:
            self._slice({"steps": FOREVER, "decay_steps": 0}, 0.0)

    def _train(self, end: float, settings: dict[str, Any]) -> None:
        """Go on until a moment; opening a run takes time that is known from the last time."""
        minutes = (end - time.monotonic() - self._paces()["opening"]) / 60
        if minutes > 0:
            self._slice(settings, minutes)

    def _slice(self, settings: dict[str, Any], minutes: float) -> None:
        begin, before = time.monotonic(), self._progress()
        options = {**QUIET, **self.settings, **settings}
        pretrain(self.graphs, self.folder / "run", options, resume=True, minutes=minutes, start=self.start)
        after = self._progress()
        trained, steps = after["seconds"] - before["seconds"], after["step"] - before["step"]
        found = {"opening": time.monotonic() - begin - trained, "a_step": trained / max(1, steps)}
        write_json(self.folder / "paces.json", found)

    def _decay(self, end: float) -> None:
        """The last steps, as many as fit."""
        paces = self._paces()
        left = end - time.monotonic() - paces["opening"]
        count = int(left / paces["a_step"])
        if left > LEAST_SECONDS and count > 0:
            self._train(end + PATIENCE, {"steps": self._progress()["step"] + count, "decay_steps": count})

    def _measure(self, datasets: Sequence[Dataset], begin: float) -> None:
        folder, progress = RunFolder.open(self.folder / "run"), self._progress()
        weights = averaged_weights(folder.path)
        write_tensors(self.folder / "averaged.safetensors", weights)
        method = make_method(folder.config, ())
        method.load_state_dict(weights)
        method = method.to(chosen_device(folder.config.device)).eval()
        for dataset in datasets:
            before = time.monotonic()
            found = measured(method, dataset, self.limit)
            line = {"variant": self.folder.name, "step": progress["step"], "trained": round(progress["seconds"], 1)}
            line |= {"since_start": round(before - begin, 1), "processor": round(time.process_time(), 1)}
            line |= {"data": dataset.name, **found}
            line["measuring"] = round(time.monotonic() - before, 1)
            with (self.folder / "measured.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    def _paces(self) -> dict[str, Any]:
        """How long the last slice took to open, and each of its steps."""
        return read_json(self.folder / "paces.json")

    def _progress(self) -> dict[str, Any]:
        path = self.folder / "run" / "last.json"
        return read_json(path) if path.exists() else {"step": 0, "seconds": 0.0}


def averaged_weights(run: Path) -> dict[str, Any]:
    """The averaged weights of the last checkpoint of a run."""
    names = read_json(run / "last.json")
    weights, state = read_tensors(run / names["weights"]), read_tensors(run / names["optimizer"])
    return {name: state.get(f"{name}/{KEY}", tensor) for name, tensor in weights.items()}


def dataset_of(path: Path) -> Dataset:
    """Questions of an `.npz` file, or links of a folder of triples."""
    if path.suffix == ".npz":
        return import_dataset(path)
    return given_dataset([path], path.name, GivenOptions())


def measured(method: Any, dataset: Dataset, limit: int) -> dict[str, Any]:
    """Validation links, filtered MRR and Hits@10; or questions, mean Hits@10 without and with negation; per cent."""
    if not dataset.tables["valid"]:
        result = evaluate(method, dataset, "valid", Options((), limit, links=True))
        assert result.links is not None  # noqa: S101 - they were asked for
        found = result.links.metrics
        return {"mrr": round(100 * found.mrr, 2), "hits_at_10": round(100 * found.hits_at_10, 2)}
    averages = evaluate(method, dataset, "valid", Options(limit=limit)).averages
    return {name: round(100 * averages[group]["hits_at_10"], 2) for name, group in (("p", "avg_p"), ("n", "avg_n"))}
