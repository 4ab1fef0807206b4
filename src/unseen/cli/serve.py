"""`unseen serve`: a database or a graph over HTTP."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.shared_options import Effort, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.database import Database
    from unseen.database.triples import Triples
    from unseen.server.server_settings import ServerSettings


def serve(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH_OR_GRAPH...",
            help="A database (`unseen db create`), or graph files, or `countries`; changes to files are not kept.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="The method: edge-type, rules, exact (no predictions), a model, or the folder of a model or a "
            "run; as for `unseen ask` if not given.",
            show_default=False,
        ),
    ] = None,
    values: Values = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; addresses other than this machine need keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any free one.", min=0, max=65535)] = 7878,
    api_key_file: Annotated[
        Path | None, typer.Option(help="A file with lines `read KEY` and `write KEY`.", show_default=False)
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for one query or question.", min=0.1)] = 30.0,
    max_waiting: Annotated[int, typer.Option(help="Requests that may wait; more get 503.", min=1)] = 256,
    query_memory: Annotated[
        int | None,
        typer.Option(
            help="Megabytes for one exact query or update; by default a quarter of the machine for all of them.",
            min=16,
            show_default=False,
        ),
    ] = None,
    max_batch: Annotated[int, typer.Option(help="Questions in one call of the model; 1: no batching.", min=1)] = 64,
    replicas: Annotated[
        int,
        typer.Option(help="Processes that predict, each with its own model; 0: a thread of the server.", min=0),
    ] = 0,
    max_connections: Annotated[
        int | None,
        typer.Option(
            help="Open connections; by default half of the open files, at most 1000.", show_default=False, min=1
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(help="Largest graph that a client may send, in megabytes.", min=1)] = 64,
    cors_origin: Annotated[
        list[str] | None, typer.Option(help="A web origin whose pages may use the server.", show_default=False)
    ] = None,
    effort: Effort = "normal",
    quiet: Annotated[bool, typer.Option("--quiet", help="Log no requests.")] = False,
) -> None:
    """Serve a graph: SPARQL (exact and predicted), questions, and facts that count at once.

    Ctrl-C or SIGTERM stops it: what was taken is finished, and everything acknowledged is on disk.

    \b
    Examples:
      unseen serve world.db
      unseen serve countries --port 8080
      unseen serve world.db --replicas 2
      unseen serve world.db --model runs/first --host 0.0.0.0 --api-key-file keys.txt
    """
    from unseen.errors import MissingExtra

    model = prepared_model(model)
    try:
        from unseen.database.engine.limits import EngineLimits
        from unseen.database.engine.process_triples import ProcessTriples
        from unseen.server import run
        from unseen.server.keys import Keys, read_keys
        from unseen.server.server_settings import ConnectionLimits, Limits, ServerSettings
    except ImportError as error:
        raise MissingExtra("the server", "server", str(error.name)) from None
    limits = Limits(body_bytes=max_body << 20, seconds=time_limit, waiting=max_waiting, batch=max_batch)
    keys = Keys() if api_key_file is None else read_keys(api_key_file)
    engine = EngineLimits(update_seconds=time_limit, **({"megabytes": query_memory} if query_memory else {}))
    connections, origins = ConnectionLimits(max_connections), tuple(cors_origin or ())
    settings = ServerSettings(
        host, port, model, keys, origins, limits, connections, engine=engine, effort=effort, replicas=replicas
    )
    with ExitStack() as stack:
        database = database_of(sources, stack, partial(ProcessTriples, limits=engine), values or ())
        run.serve(database, settings, quiet=quiet, ready=lambda taken: _announce(database, settings, taken))
    run.leave_if_stuck()


def prepared_model(model: str | None) -> str:
    """What predicts, the default one if none is named; sets how many threads it computes with."""
    import os

    from unseen.api import METHODS, default_method

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads of the model must not spin while requests wait
    model = model or default_method()
    if model in METHODS:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # too little work for a second thread to be worth waking
    return model


def database_of(
    sources: list[str], stack: ExitStack, open_triples: Callable[[Path], Triples], values: Sequence[str] = ()
) -> Database:
    """The database at a path, or a temporary one with the graph of files."""
    from unseen.api import came_from, find_source, is_database
    from unseen.cli.console import note, progress_bar
    from unseen.database import Database
    from unseen.database.temporary import temporary_database

    paths = [find_source(source) for source in sources]
    if len(paths) == 1 and is_database(paths[0]):
        if values:
            raise typer.BadParameter("a database keeps its values: unseen db load PATH --values", param_hint="--values")
        kept = Database(paths[0], open_triples)
        came_from(kept.graph, paths[0])
        return kept
    with progress_bar("loading") as progress:
        opened = temporary_database(paths, progress=progress, values=values, open_triples=open_triples)
        database = stack.enter_context(opened)
    came_from(database.graph)
    note("this graph comes from files: changes are lost when the server stops; `unseen db create` keeps them")
    return database


def _announce(database: Database, settings: ServerSettings, port: int) -> None:
    from unseen.cli.console import note
    from unseen.cli.rules_command import note_opening, predicts_by_rules

    graph = database.graph
    note(f"{graph.num_entities:,} entities, {graph.num_triples:,} triples; model {settings.model}")
    if predicts_by_rules(settings.model):
        note_opening(graph)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    note(f"listening on http://{host}:{port} (Ctrl-C stops)")
