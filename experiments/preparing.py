"""What a method needs before it is measured: a trained run, and the options of CQD-Beam; both in slices."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.clock import TimeOver
from experiments.opening import model_of
from unseen.methods.cqd_beam import BeamOptions, Choices, Tuning
from unseen.models.checkpoint import write_json
from unseen.models.run_folder import RunFolder, open_method
from unseen.models.tuned_method import TUNING_ALONE, link_scorer_of
from unseen.training.session import train
from unseen.training.tuning import TuningPlan, tune, write_tuning

if TYPE_CHECKING:
    from experiments.cell_files import GridFolder, Json
    from experiments.clock import Clock
    from experiments.grid import Cell
    from experiments.workspace import Workspace
    from unseen.datasets.dataset import Dataset
    from unseen.methods.training_settings import TrainingConfig
    from unseen.training.loop import Report


class Interrupted(KeyboardInterrupt):
    """Someone asked to stop, and what was done is saved."""


def train_cell(workspace: Workspace, cell: Cell, dataset: Dataset, clock: Clock, report: Report) -> Json:
    """Train, or go on training, until the run is complete or the time over; what came of it."""
    plan, path = workspace.methods[cell.method], workspace.folder.run(cell)
    start = None if plan.model is None else model_of(workspace, plan)
    settings = plan.settings_at(cell.ratio) | {"device": workspace.device}
    clock.check()
    how: dict[str, Any] = {"resume": True, "minutes": clock.minutes_left, "report": report, "start": start}
    outcome = train(str(plan.trained_as), dataset, path, settings, **how)
    if outcome.reason == "interrupted":
        raise Interrupted
    if not outcome.is_complete:
        raise TimeOver
    progress, folder = outcome.progress, RunFolder.open(path)
    return {
        "training": asdict(progress) | {"reason": outcome.reason, "start": start and Path(start).name},
        "settings": _changed_settings(folder.config),
        "seed": folder.config.seed,
        "training_commit": folder.origin.get("commit"),
        "peak_memory_gib": max((event.get("peak_memory_gib", 0.0) for event in folder.metrics()), default=0.0),
    }


def tune_cell(workspace: Workspace, cell: Cell, dataset: Dataset, clock: Clock, report: Report) -> Json:
    """Choose the options of each type of query, type by type; `tune-alone` for predictions only."""
    alone = cell.what == "tune-alone"
    folder, path = workspace.folder, workspace.folder.run(cell)
    scorer = link_scorer_of(open_method(path, device=workspace.device))
    limit = workspace.limits.of(cell.what)
    found = _tunings_before(folder, cell, limit)
    for kind in [name for name, table in dataset.tables["valid"].items() if len(table)]:
        if any(kind in tuning.choices.types for tuning in found):
            continue
        clock.check()
        report("tune", {"label": kind})
        links = found[0].link_calibration if found else None
        plan = TuningPlan((kind,), limit)
        found.append(tune(scorer, dataset, plan.without_known_facts() if alone else plan, links=links))
        tunings = [tuning.to_json() for tuning in found]
        folder.write_part(cell, folder.read_part(cell) | {"limit": limit, "tunings": tunings})
    together = joined(found)
    content = {"choices": together.choices.to_json(), "queries_per_type": limit}
    if alone:
        write_json(path / TUNING_ALONE, together.to_json())
        return content
    return content | {"calibrated": write_tuning(path, together, scorer, dataset, _calibration_queries(path))}


def joined(found: list[Tuning]) -> Tuning:
    """The tunings of several types as one; what most of them chose is for types that nobody tuned."""
    types: dict[str, BeamOptions] = {name: one for tuning in found for name, one in tuning.choices.types.items()}
    default = Counter(types.values()).most_common(1)[0][0] if types else BeamOptions()
    about = dict(found[0].about) if found else {}
    trials = {name: some for tuning in found for name, some in tuning.about.get("trials", {}).items()}
    links = found[0].link_calibration if found else None
    return Tuning(Choices(default, types), links, about | {"trials": trials})


def _tunings_before(folder: GridFolder, cell: Cell, limit: int) -> list[Tuning]:
    """What slices before have chosen; nothing if they asked another number of queries."""
    part = folder.read_part(cell)
    return [Tuning.from_json(value) for value in part["tunings"]] if part.get("limit") == limit else []


def _changed_settings(config: TrainingConfig) -> Json:
    """The settings that are not the method's defaults."""
    usual = asdict(type(config)())
    return {name: value for name, value in asdict(config).items() if value != usual[name] and name != "device"}


def _calibration_queries(path: Any) -> int:
    return RunFolder.open(path).config.calibration_queries
