"""Options that several commands have in common."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Effort = Annotated[str, typer.Option(help="How much of a large graph the network looks at: fast, normal or full.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show why: proofs, and rules with the facts behind them.")]
Literals = Annotated[bool, typer.Option("--literals", help="Keep RDF literals as entities.")]
MethodAsForAsk = Annotated[
    str | None, typer.Option("--method", "--model", help="As for `unseen ask`.", show_default=False)
]
SkipErrors = Annotated[bool, typer.Option("--skip-errors", help="Skip lines that are not triples, and count them.")]
TypeRelation = Annotated[
    str | None,
    typer.Option(metavar="RELATION", help="The relation of `x a Kind`; by default rdf:type.", show_default=False),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--values",
        metavar="FILE",
        help="Numbers, dates and texts of entities: a table (entity, attribute, value) or RDF; repeat.",
        show_default=False,
    ),
]
