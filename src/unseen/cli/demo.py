"""`unseen demo`: what the package does, told on the embedded graph in less than a minute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from unseen.answers import Answers
    from unseen.graph import KnowledgeGraph

    Fact = tuple[int, int, int]

HIDDEN_SHARE = 0.1
TOP = 10
ASKED = 120
"""Of the hidden facts, how many are asked for."""
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
    hidden = _hide(graph, ("Portugal", "uses_currency", "Euro"), seed)
    _headline(console, f"2. Hide {len(hidden.facts):,} facts, the currency of Portugal among them. Ask for it.")
    _answer(console, hidden.graph, "?x : uses_currency(Portugal, x)", top=3, hidden={"Euro"})
    _headline(console, "3. Add a country that was not there, with three facts. No training needed.")
    _answer_about_atlantis(console, graph)
    asked = hidden.some(ASKED, seed)
    _headline(console, f"4. {len(asked):,} hidden facts: is the tail among the first {TOP} predicted?")
    _compare(console, hidden.graph, asked)


def _told_of_the_model() -> str:
    """What predicts, in one line."""
    from unseen.api import default_method

    name = default_method()
    if name == BASELINE:
        return "The edge-type heuristic predicts."
    return f"The shipped model [bold]{name}[/bold] predicts; it has never seen this graph or its relations."


@dataclass(frozen=True)
class _Hidden:
    """A graph with some facts taken out, and which ones."""

    graph: KnowledgeGraph
    facts: list[Fact]

    def some(self, count: int, seed: int) -> list[Fact]:
        """At most so many of the facts, at random."""
        import numpy as np

        rows = np.random.default_rng(seed).permutation(len(self.facts))[:count]
        return [self.facts[row] for row in sorted(rows.tolist())]


def _hide(graph: KnowledgeGraph, fact: tuple[str, str, str], seed: int) -> _Hidden:
    """The graph without a random tenth of its facts and without `fact`."""
    from unseen.datasets.hidden_facts import hidden_facts

    names = graph.vocabulary
    head, relation, tail = names.entity_id(fact[0]), names.relations.find(fact[1]), names.entity_id(fact[2])
    hidden = hidden_facts(graph, HIDDEN_SHARE, seed)
    hidden |= (graph.heads == head) & (graph.relations == relation) & (graph.tails == tail)
    columns = (graph.heads[hidden].tolist(), graph.relations[hidden].tolist(), graph.tails[hidden].tolist())
    return _Hidden(graph.restricted_to(~hidden), list(zip(*columns, strict=True)))


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
    from unseen.cli.ask import shown_probabilities

    console.print(f"   {escape(question)}", style="blue")
    answers = ask(graph, question, top=top)
    for answer, probability in zip(answers, shown_probabilities(answers), strict=True):
        status = "[green]known    [/green]" if answer.known else "[yellow]predicted[/yellow]"
        truth = "   [bold green]← the hidden truth[/bold green]" if answer.entity in hidden else ""
        console.print(f"   {answer.rank:>3}  {escape(answer.entity):<22} {status}  {probability}{truth}")


def _compare(console: Console, graph: KnowledgeGraph, facts: list[Fact]) -> None:
    from unseen.api import default_method

    names = list(dict.fromkeys([default_method(), BASELINE]))
    with console.status("asking"):
        found = {name: _found_in_top(graph, facts, name) for name in names}
    _show_found(console, graph, facts, found)


def _show_found(console: Console, graph: KnowledgeGraph, facts: list[Fact], found: dict[str, list[bool]]) -> None:
    """A row for each relation and one for all: how many were asked for, and which share each method has found."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("   relation")
    titles = [name if name == BASELINE else f"model {name}" for name in found]
    for column in ("asked", *titles, "by chance"):
        table.add_column(column, justify="right")
    chance = _percent(TOP / len(graph.connected_entities), 1)
    first, *_ = found.values()
    for relation in sorted({relation for _, relation, _ in facts}, key=lambda one: -_share(facts, first, one)):
        count = sum(fact[1] == relation for fact in facts)
        shares = [_percent(_share(facts, hits, relation)) for hits in found.values()]
        table.add_row(f"   {graph.vocabulary.relations.name(relation)}", str(count), *shares, chance)
    table.add_section()
    every = [_percent(sum(hits) / len(hits)) for hits in found.values()]
    table.add_row("   [bold]all[/bold]", str(len(facts)), *every, chance, style="bold")
    console.print(table)


def _share(facts: list[Fact], hits: list[bool], relation: int) -> float:
    """Of the facts of a relation, how many were found."""
    found = [hit for fact, hit in zip(facts, hits, strict=True) if fact[1] == relation]
    return sum(found) / len(found)


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _found_in_top(graph: KnowledgeGraph, facts: list[Fact], method: str) -> list[bool]:
    """Whether each hidden tail is among the first predictions for its head, all asked together."""
    from unseen.answers import Question
    from unseen.api import ask_all, open_method
    from unseen.graph.vocabulary import directed_relation
    from unseen.logic.algebra import Anchor, Project

    queries = [Project(directed_relation(relation), Anchor(head)) for head, relation, _ in facts]
    questions = [Question(str(query), query, TOP, predicted_only=True) for query in queries]
    answers: list[Answers] = ask_all(graph, questions, open_method(method), method)
    tails = [graph.vocabulary.entity_name(tail) for _, _, tail in facts]
    return [tail in {answer.entity for answer in one} for tail, one in zip(tails, answers, strict=True)]
