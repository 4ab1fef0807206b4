"""`unseen ui`: a graph in the browser."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import ExitStack
from functools import partial
from typing import Annotated

import typer

from unseen.cli.serve import database_of, prepared_model


def ui(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...",
            help="Graph files, a database (`unseen db create`), or `countries`; changes to files are not kept.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="What predicts: edge-type, rules, exact (nothing), a shipped model, or the folder of a model or a "
            "run; as for `unseen ask` if not given.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only say where the page is.")] = False,
) -> None:
    """Look at a graph in the browser: ask, see why, add facts.

    The page is served to this machine only, until Ctrl-C.

    \b
    Examples:
      unseen ui countries
      unseen ui facts.tsv more.ttl
      unseen ui world.db --model rules
    """
    from unseen.cli.console import note
    from unseen.errors import MissingExtra

    model = prepared_model(model)
    try:
        from unseen.database.engine.limits import EngineLimits
        from unseen.database.engine.process_triples import ProcessTriples
        from unseen.server import run
        from unseen.server.server_settings import ServerSettings
    except ImportError as error:
        raise MissingExtra("the page", "server", str(error.name)) from None

    def ready(taken: int) -> None:
        address = f"http://127.0.0.1:{taken}/"
        note(f"{address} (Ctrl-C stops)")
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    with ExitStack() as stack:
        database = database_of(sources, stack, partial(ProcessTriples, limits=EngineLimits()))
        run.serve(database, ServerSettings(port=port, model=model), quiet=True, ready=ready)
    run.leave_if_stuck()
