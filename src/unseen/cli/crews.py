"""The options that spread a command over workers, and the crew that they ask for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.spreading.crew import Crew

Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Spread the work over so many processes, with Ray.", show_default=False),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Spread it over a Ray cluster: its address, or `auto` on one of its machines. With --workers alone, the "
        "cluster of RAY_ADDRESS, or this machine.",
        show_default=False,
    ),
]


@contextmanager
def asked_crew(workers: int | None, address: str | None) -> Iterator[Crew | None]:
    """The crew that was asked for; none if the command does all of it itself."""
    if workers is None and address is None:
        yield None
        return
    from unseen.cli.console import note
    from unseen.spreading.crew import crew_of

    with crew_of(workers, address, note) as crew:
        yield crew
