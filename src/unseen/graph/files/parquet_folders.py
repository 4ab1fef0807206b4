"""Folders of Parquet files, as Spark and others write a table: all parts of one graph.

Names that begin with `_` or `.` are the writer's own notes. A folder `relation=knows` gives a column that its files
lack the same value in every row; values are written as in addresses (`%20`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from unseen.errors import GraphError

if TYPE_CHECKING:
    from pathlib import Path

Fixed = tuple[tuple[str, str], ...]
NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""What Spark and Hive call a value that is missing."""


def with_parts(path: Path) -> list[tuple[Path, Fixed]]:
    """The file itself, or all Parquet files of a folder in order, each with the columns that its folders fix."""
    if not path.is_dir():
        return [(path, ())]
    found = sorted(file for file in path.rglob("*.parquet") if file.is_file() and _is_data(file.relative_to(path)))
    if not found:
        raise GraphError("is a directory without Parquet files; name the files in it", path=path)
    return [(file, _fixed(file.relative_to(path), file)) for file in found]


def _is_data(inside: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in inside.parts)


def _fixed(inside: Path, file: Path) -> Fixed:
    """The columns that the folders between fix."""
    pairs = [part.partition("=") for part in inside.parts[:-1]]
    fixed = tuple((unquote(name), unquote(value)) for name, sign, value in pairs if sign)
    if any(value == NOTHING for _, value in fixed):
        raise GraphError("a name is missing (null); every triple needs all three", path=file)
    return fixed
