"""Settings as a TOML file, each with its documentation."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from unseen.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.methods.training_settings import TrainingConfig


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is not a regular file")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from None


def write_toml(config: TrainingConfig, path: Path) -> None:
    """The settings as a TOML file, each with its documentation."""
    from unseen.graph.files.atomic_file import replacing  # pyarrow stands behind it, and `--help` must be quick

    values = asdict(config)
    lines = [f"# {each.metadata['help']}\n{each.name} = {_toml(values[each.name])}\n" for each in fields(config)]
    with replacing(path) as stream:
        stream.write("\n".join(lines).encode())


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)
