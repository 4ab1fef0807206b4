"""The files of a grid. A cell is done when its file says so; files are there whole or not at all.

```
DIR/datasets/175/                        the published file with its answers, made once
DIR/runs/175/gnn-qe/                     a run folder, as `unseen train` writes it
DIR/results/175/gnn-qe/test.json         a cell: a few kilobytes, for version control
DIR/parts/175/gnn-qe/test.json           what an interrupted cell has measured so far
DIR/report/                              tables and figures, made of results alone
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.grid import Cell
from experiments.grid_errors import ReproductionError
from unseen.graph.files.atomic_file import replacing
from unseen.models.checkpoint import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
DIGITS = 5
"""Of numbers in files: more than any table shows."""
DONE, MISSING = "done", "missing"


@dataclass(frozen=True)
class Filled:
    """A cell with what its file says."""

    cell: Cell
    status: str
    content: Json

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.status == DONE

    @property
    def reason(self) -> str:
        """Why the cell is not filled."""
        return str(self.content.get("reason", ""))

    @property
    def seconds(self) -> float:
        """How long it took, over all slices."""
        return float(self.content.get("seconds", 0.0))


@dataclass(frozen=True)
class GridFolder:
    """The folder of a grid; nothing is remembered beside what stands in it."""

    path: Path

    @property
    def results(self) -> Path:
        """Where the files of cells lie; a folder of them alone will do for a report."""
        inner = self.path / "results"
        return inner if inner.is_dir() or not any(self.path.glob("[0-9]*/*/*.json")) else self.path

    def run(self, cell: Cell) -> Path:
        """The run folder of a cell's method."""
        return self.path / "runs" / str(cell.ratio) / cell.method

    def dataset(self, ratio: int) -> Path:
        """The prepared dataset of a ratio."""
        return self.path / "datasets" / str(ratio)

    def read(self, cell: Cell) -> Filled | None:
        """What is known of a cell; None if nothing is."""
        return _filled(cell, self._file(cell))

    def is_done(self, cell: Cell) -> bool:
        """Whether a cell needs no more work."""
        found = self.read(cell)
        return found is not None and found.is_done

    def write(self, cell: Cell, status: str, content: Json) -> None:
        """The file of a cell; a finished cell has no part any more."""
        about = {"ratio": cell.ratio, "method": cell.method, "what": cell.what, "status": status}
        write_compact(self._file(cell), about | content)
        if status == DONE:
            self._part(cell).unlink(missing_ok=True)

    def read_part(self, cell: Cell) -> Json:
        """What an interrupted cell has; nothing if it was never begun."""
        return _read(self._part(cell)) or {}

    def write_part(self, cell: Cell, content: Json) -> None:
        """What a cell has found so far, to the last digit."""
        path = self._part(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, content)

    def all_cells(self) -> Iterator[Filled]:
        """Every cell that has a file, by ratio, method and what."""
        for path in sorted(self.results.glob("*/*/*.json")):
            ratio, method = path.parts[-3:-1]
            found = _filled(Cell(int(ratio), method, path.stem), path) if ratio.isdigit() else None
            if found is not None:
                yield found

    def _file(self, cell: Cell) -> Path:
        return self.results / f"{cell.name}.json"

    def _part(self, cell: Cell) -> Path:
        return self.path / "parts" / f"{cell.name}.json"


def write_compact(path: Path, content: Json) -> None:
    """A JSON file in which each value of the outermost object has a line, and numbers as many digits as matter."""
    lines = [f"{json.dumps(key)}: {json.dumps(_short(value))}" for key, value in content.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        stream.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _short(value: Any) -> Any:
    """Numbers cut to what matters; empty places left out."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    return [_short(inner) for inner in value] if isinstance(value, list | tuple) else value


def _read(path: Path) -> Json | None:
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ReproductionError(f"{path}: cannot be read: {error}; remove it, and its cell is run again") from None
    if not isinstance(value, dict):
        raise ReproductionError(f"{path}: is not the file of a cell; remove it, and its cell is run again")
    return value


def _filled(cell: Cell, path: Path) -> Filled | None:
    content = _read(path)
    return None if content is None else Filled(cell, str(content.get("status", MISSING)), content)
