"""Help pages that show a flag as a flag: `--json`, not `--json <bool>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable


class PlainCommand(TyperCommand):
    """A command whose flags have no type in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _without_types(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands whose flags have no type in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _without_types(super().get_params(ctx))


class CommandLine(typer.Typer):
    """A command line with plain flags in all of its help pages."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=PlainGroup, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """A command of this line, see `typer.Typer.command`."""
        return super().command(name, cls=PlainCommand, **settings)


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters
