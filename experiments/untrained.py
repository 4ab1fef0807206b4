"""A method as a run of the grid made it, but for its weights: where the run is gone, it still answers as quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.grid import Cell
from experiments.grid_errors import CellMissing
from unseen.logic.protocols import LinkScorer
from unseen.methods.cqd_beam import Choices, CqdBeam
from unseen.methods.cqd_beam.link_calibration import LinkCalibration
from unseen.methods.registry import TRAINED, make_method
from unseen.methods.training_settings import from_mapping
from unseen.models.devices import chosen_device
from unseen.models.run_folder import relation_keys
from unseen.training.link_batches import choose_entities

if TYPE_CHECKING:
    from experiments.cell_files import Json
    from experiments.workspace import Workspace
    from unseen.datasets.dataset import Dataset

AS_SCORED = LinkCalibration()
"""In place of what was fitted to the links of a run."""


def untrained(workspace: Workspace, cell: Cell, dataset: Dataset) -> Any:
    """The method with the settings of its run and the options that were chosen for it, and with random weights."""
    kind = TRAINED[str(workspace.methods[cell.method].trained_as)].settings
    config = from_mapping(kind, _filled(workspace, cell, "train")["settings"], cell.name)
    method = make_method(config, relation_keys(dataset), choose_entities(dataset, config))
    method = method.to(chosen_device(workspace.device)).eval()
    if not isinstance(method, LinkScorer):
        return method
    return CqdBeam(method, Choices.from_json(_filled(workspace, cell, "tune")["choices"]), AS_SCORED)


def _filled(workspace: Workspace, cell: Cell, what: str) -> Json:
    """What another cell of the same method says, which must be there."""
    place = f"{cell.ratio}/{cell.method}"
    found = workspace.folder.read(Cell(cell.ratio, cell.method, what))
    if found is None or not found.is_done:
        raise CellMissing(
            f"no run: neither runs/{place} is here nor results/{place}/{what}.json, which says enough of it"
        )
    return found.content
