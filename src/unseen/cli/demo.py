"""`unseen demo`: shows what the package does, on the embedded graph, in less than a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from unseen.graph import KnowledgeGraph

HIDDEN_SHARE = 0.1
ASKED = 6
"""Facts of each relation that are hidden and asked for."""
WIDTH = 80
"""Columns of the last table."""
BASELINE = "edge-type"
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
    console.print(_told_of_the_model())
    _headline(console, "1. Ask. What the graph says is known; what it implies is predicted.")
    _answer(console, graph, "?x : borders(France, x) & !speaks(x, German)", top=5)
    left = _hide(graph, ("Portugal", "uses_currency", "Euro"), seed)
    count = graph.num_triples - left.num_triples
    _headline(console, f"2. Hide {count:,} facts, the currency of Portugal among them. Ask for it.")
    _answer(console, left, "?x : uses_currency(Portugal, x)", top=3, hidden={"Euro"})
    _headline(console, "3. Add a country that was not there, with three facts. No training needed.")
    _answer_about_atlantis(console, graph)
    _headline(console, "4. Does it hold? `unseen check` hides facts of every relation and asks for them.")
    _compare(console, graph, seed)


def _told_of_the_model() -> str:
    """One line about the model."""
    from unseen.api import default_method

    name = default_method()
    if name == BASELINE:
        return "The edge-type heuristic predicts."
    return f"The shipped model [bold]{name}[/bold] predicts; it has never seen this graph or its relations."


def _hide(graph: KnowledgeGraph, fact: tuple[str, str, str], seed: int) -> KnowledgeGraph:
    """The graph without a random tenth of its facts and without `fact`."""
    from unseen.datasets.hidden_facts import hidden_facts

    names = graph.vocabulary
    head, relation, tail = names.entity_id(fact[0]), names.relations.find(fact[1]), names.entity_id(fact[2])
    hidden = hidden_facts(graph, HIDDEN_SHARE, seed)
    hidden |= (graph.heads == head) & (graph.relations == relation) & (graph.tails == tail)
    return graph.restricted_to(~hidden)


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
    from unseen.cli.shown_answers import shown_probabilities

    console.print(f"   {escape(question)}", style="blue")
    answers = ask(graph, question, top=top)
    for answer, probability in zip(answers, shown_probabilities(answers), strict=True):
        status = "[green]known    [/green]" if answer.known else "[yellow]predicted[/yellow]"
        truth = "   [bold green]← the hidden truth[/bold green]" if answer.entity in hidden else ""
        console.print(f"   {answer.rank:>3}  {escape(answer.entity):<22} {status}  {probability}{truth}")


def _compare(console: Console, graph: KnowledgeGraph, seed: int) -> None:
    """Every relation of the graph, as `unseen check` tries it."""
    from unseen.checking import opened_check
    from unseen.cli.check_table import check_table, how_to_read
    from unseen.evaluation.graph_check import CheckOptions

    running = opened_check(graph, options=CheckOptions(ASKED, seed=seed, rounds=1))
    with console.status("asking"):
        running.run()
    found = running.result()
    console.print(check_table(found, len(found.rows), WIDTH))
    for line in how_to_read(found):
        console.print(line, style="dim")
