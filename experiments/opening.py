"""The method of a cell, ready to answer: named, shipped, or from the run folder of the grid.

Times hardly depend on weights, so that they can be measured where the run is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.grid import WITHOUT_FACTS, Cell
from experiments.grid_errors import CellMissing
from experiments.untrained import untrained
from unseen.errors import UnknownMethod
from unseen.methods.edge_type import EdgeType
from unseen.methods.path_counts import PathCounts
from unseen.models.model_folder import default_model, find_model, open_model, shipped_models
from unseen.models.run_folder import open_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.grid import MethodPlan
    from experiments.workspace import Workspace
    from unseen.datasets.dataset import Dataset

BASELINES: dict[str, Callable[[], Any]] = {"edge-type": EdgeType, "path-counts": PathCounts}
"""Methods that learn nothing."""
SHIPPED = {"general": "default", "without-fb": "without-fb15k-237"}
"""Models of the package that are taken where none is named."""
OPTIONS = {"general": "--model", "without-fb": "--model-without-fb"}


def open_cell(workspace: Workspace, cell: Cell, dataset: Dataset) -> Any:
    """What answers the queries of a cell, with or without known facts as its experiment asks."""
    plan = workspace.methods[cell.method]
    known_facts = cell.what not in WITHOUT_FACTS
    if plan.trained_as is not None:
        run = workspace.folder.run(cell)
        if not run.is_dir() and cell.what == "time":
            return untrained(workspace, cell, dataset)
        if not run.is_dir():
            place = f"{cell.ratio}/{cell.method}"
            raise CellMissing(f"no run: runs/{place} is not here; remove results/{place}, and all of it is made again")
        return open_method(run, device=workspace.device, known_facts=known_facts, weights=plan.weights)
    if plan.model is not None:
        return open_model(model_of(workspace, plan), device=workspace.device, known_facts=known_facts)
    return BASELINES[cell.method]()


def model_of(workspace: Workspace, plan: MethodPlan) -> str:
    """The name or folder of the model that a method is or begins with; none is the reason of its cells."""
    kind = str(plan.model)
    named = workspace.models.get(kind)
    if named is None:
        shipped = [model.name for model in shipped_models()]
        fallback = default_model() if kind == "general" else None
        named = SHIPPED[kind] if SHIPPED[kind] in shipped else fallback
    if named is None:
        raise CellMissing(f"no model: none is shipped for {kind!r}, and {OPTIONS[kind]} names none")
    try:
        return str(find_model(named).path)
    except UnknownMethod:
        raise CellMissing(f"no model: {OPTIONS[kind]} {named} is neither shipped nor a folder") from None
