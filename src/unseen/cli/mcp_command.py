"""`unseen mcp`: a graph as tools for agents, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer


def mcp(
    source: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH_OR_URL",
            help="A graph file, `countries`, a database, or the address of a server of unseen.",
            show_default=False,
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Offer `add_facts` too; facts added to a file are not kept.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|RUN",
            help="What predicts: edge-type, rules, exact (nothing), a shipped model, or the folder of a model or a "
            "run; as for `unseen ask` if not given.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Offer a graph to agents as tools of the Model Context Protocol (MCP), over standard input and output.

    Tools: describe_graph, find_names, ask, explain, and add_facts with --write. The key of a server is taken from the
    environment variable UNSEEN_API_KEY.

    \b
    Examples:
      unseen mcp countries
      unseen mcp world.db --write
      unseen mcp facts.tsv --model rules
      unseen mcp http://127.0.0.1:7878
    """
    import os

    from unseen.agents.asked_graphs import opened_graph
    from unseen.agents.graph_tools import GraphTools
    from unseen.cli.console import note, read
    from unseen.errors import MissingExtra

    try:
        from unseen.agents.mcp_server import make_server
    except ImportError as error:
        raise MissingExtra("a server for agents", "mcp", str(error.name)) from None
    key = os.environ.get("UNSEEN_API_KEY")

    with opened_graph(
        source,
        method=model,
        is_written=write,
        api_key=key,
        read=lambda path: read([path], literals=False, skip_errors=False),
    ) as graph:
        note(f"offering {source} to an agent on standard input and output (Ctrl-C stops)")
        make_server(GraphTools(graph), is_written=write).run("stdio")
