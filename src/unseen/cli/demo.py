"""`unseen demo`: what the package does, told on the embedded graph in half a minute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from unseen.graph import KnowledgeGraph

HIDDEN_SHARE = 0.1
TOP = 10
ATLANTIS = [
    ("Atlantis", "speaks", "Portuguese"),
    ("Atlantis", "part_of", "Southern Europe"),
    ("Atlantis", "borders", "Portugal"),
]


def demo(seed: Annotated[int, typer.Option(help="Which facts are hidden.")] = 1) -> None:
    """Show what unseen does on the embedded graph: ask, hide facts, add a country, compare with the truth."""
    from rich.console import Console

    from unseen import load

    console = Console(highlight=False)
    graph = load("countries")
    console.print(f"The graph [bold]countries[/bold]: {graph.num_entities:,} entities, {graph.num_triples:,} facts.")
    _headline(console, "1. Ask. What the graph says is known; what it implies is predicted.")
    _answer(console, graph, "?x : borders(France, x) & !speaks(x, German)", top=5)
    hidden = _hide(graph, ("Portugal", "uses_currency", "Euro"), seed)
    _headline(console, f"2. Hide {len(hidden.facts):,} facts, the currency of Portugal among them. Ask for it.")
    _answer(console, hidden.graph, "?x : uses_currency(Portugal, x)", top=3, hidden={"Euro"})
    _headline(console, "3. Add a country that was not there, with three facts. No training needed.")
    _answer_about_atlantis(console, graph)
    _headline(console, f"4. Predicted against hidden truth: is the hidden tail among the first {TOP}?")
    _compare(console, hidden)


@dataclass(frozen=True)
class _Hidden:
    """A graph with some facts taken out, and which ones."""

    graph: KnowledgeGraph
    facts: list[tuple[int, int, int]]


def _hide(graph: KnowledgeGraph, fact: tuple[str, str, str], seed: int) -> _Hidden:
    """The graph without a random tenth of its facts and without `fact`."""
    import numpy as np

    names = graph.vocabulary
    head, relation, tail = names.entity_id(fact[0]), names.relations.find(fact[1]), names.entity_id(fact[2])
    kept = np.random.default_rng(seed).random(graph.num_triples) >= HIDDEN_SHARE
    kept &= (graph.heads != head) | (graph.relations != relation) | (graph.tails != tail)
    columns = (graph.heads[~kept].tolist(), graph.relations[~kept].tolist(), graph.tails[~kept].tolist())
    return _Hidden(graph.restricted_to(kept), list(zip(*columns, strict=True)))


def _answer_about_atlantis(console: Console, graph: KnowledgeGraph) -> None:
    for head, relation, tail in ATLANTIS:
        console.print(f"   + {relation}({head}, {tail})", style="cyan")
    grown = graph.extended_with(ATLANTIS)
    _answer(console, grown, '?x : speaks(x, Portuguese) & part_of(x, "Southern Europe")', top=3)
    _answer(console, grown, "?x : uses_currency(Atlantis, x)", top=2)


def _headline(console: Console, text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def _answer(
    console: Console, graph: KnowledgeGraph, question: str, top: int, hidden: Collection[str] = frozenset()
) -> None:
    from rich.markup import escape

    from unseen import ask
    from unseen.cli.ask import shown_probability

    console.print(f"   {escape(question)}", style="blue")
    for answer in ask(graph, question, top=top):
        status = "[green]known    [/green]" if answer.known else "[yellow]predicted[/yellow]"
        truth = "   [bold green]← the hidden truth[/bold green]" if answer.entity in hidden else ""
        console.print(f"   {answer.rank:>3}  {escape(answer.entity):<22} {status} "
                      f"{shown_probability(answer.probability):>6}{truth}")  # fmt: skip


def _compare(console: Console, hidden: _Hidden) -> None:
    from rich.table import Table

    found = _found_in_top(hidden)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("   relation")
    for column in ("hidden", f"in first {TOP}", "by chance"):
        table.add_column(column, justify="right")
    chance = TOP / len(hidden.graph.connected_entities)
    for relation, hits in sorted(found.items(), key=lambda item: -sum(item[1]) / len(item[1])):
        name = hidden.graph.vocabulary.relations.name(relation)
        table.add_row(f"   {name}", str(len(hits)), f"{100 * sum(hits) / len(hits):.0f} %", f"{100 * chance:.1f} %")
    console.print(table)
    every = [hit for hits in found.values() for hit in hits]
    console.print(
        f"   {100 * sum(every) / len(every):.0f} % of {len(every):,} hidden facts, by the edge-type heuristic."
    )


def _found_in_top(hidden: _Hidden) -> dict[int, list[bool]]:
    """For each relation, whether each hidden tail is among the first predictions for its head."""
    from unseen import ask
    from unseen.graph.vocabulary import directed_relation
    from unseen.logic.algebra import Anchor, Project

    found: dict[int, list[bool]] = {}
    for head, relation, tail in hidden.facts:
        query = Project(directed_relation(relation), Anchor(head))
        predicted = {answer.entity for answer in ask(hidden.graph, query, top=TOP, predicted_only=True)}
        found.setdefault(relation, []).append(hidden.graph.vocabulary.entity_name(tail) in predicted)
    return found
