"""Everything that a process needs to run cells, and its JSON form, in which it travels to other processes."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cell_files import GridFolder
from experiments.grid import METHODS, Limits, MethodPlan
from experiments.grid_errors import ReproductionError
from experiments.tiny import TINY_LIMITS, TINY_METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

PRESETS: dict[str, tuple[Mapping[str, MethodPlan], Limits]] = {
    "paper": (METHODS, Limits()),
    "tiny": (TINY_METHODS, TINY_LIMITS),
}
"""The methods and the sizes of a whole grid; `tiny` has a benchmark of its own and takes a minute on a CPU."""


@dataclass(frozen=True)
class Workspace:
    """Where the grid lies, what it is made of, and how."""

    path: Path
    data: Path | None = None
    """A folder of `<ratio>.npz` files or of datasets."""
    preset: str = "paper"
    models: Mapping[str, str] = field(default_factory=dict)
    """Names or folders of zero-shot models: `general`, `without-fb`."""
    limit: int | None = None
    """Most queries a type, in every experiment."""
    limit_of: Mapping[str, int] = field(default_factory=dict)
    """Queries a type in single experiments, in place of everything else."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of methods in place of the preset's; of one ratio under its number."""
    device: str = "auto"
    share: float = 1.0
    """Of the device's memory; less where other commands use it too."""
    command: str = ""

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ReproductionError(f"there is no preset {self.preset!r}; there are {', '.join(PRESETS)}")

    @property
    def folder(self) -> GridFolder:
        """The files of the grid."""
        return GridFolder(self.path)

    @property
    def methods(self) -> dict[str, MethodPlan]:
        """The methods with the settings that were asked for."""
        return {name: _changed(plan, self.settings.get(name, {})) for name, plan in PRESETS[self.preset][0].items()}

    @property
    def limits(self) -> Limits:
        """The sizes of samples."""
        return PRESETS[self.preset][1].cut(self.limit, self.limit_of)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        plain = asdict(self)
        return plain | {"path": str(self.path), "data": None if self.data is None else str(self.data)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Workspace:
        """The workspace of `to_json`."""
        data = value["data"]
        paths = {"path": Path(value["path"]), "data": None if data is None else Path(data)}
        return cls(**{**value, **paths})


def read_settings(path: Path, methods: Mapping[str, MethodPlan]) -> dict[str, dict[str, Any]]:
    """Settings by method from a TOML file; a method that the grid does not have is an error."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReproductionError(f"{path}: cannot be read as TOML: {error}") from None
    for name, values in found.items():
        if name not in methods or not isinstance(values, dict):
            raise ReproductionError(f"{path}: [{name}] is not a method; there are {', '.join(methods)}")
    return found


def _changed(plan: MethodPlan, settings: Mapping[str, Any]) -> MethodPlan:
    """A plan with other settings; a table under a number belongs to that ratio."""
    by_ratio = {int(key): value for key, value in settings.items() if key.isdigit()}
    general = {key: value for key, value in settings.items() if not key.isdigit()}
    ratios = {
        ratio: {**plan.by_ratio.get(ratio, {}), **general, **by_ratio.get(ratio, {})}
        for ratio in {*plan.by_ratio, *by_ratio}
    }
    return replace(plan, settings={**plan.settings, **general}, by_ratio=ratios)
