"""Answers on a terminal: a table, and with reasons the lines that belong to each of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from unseen.asking.answers import Answer, Answers

WIDEST_NAME = 40
"""Columns of the longest name of an entity that is not folded, where reasons are shown."""
INDENT = 8
"""Columns before a reason."""


def show(answers: Answers, *, explain: bool = False, unlikely: bool = False) -> None:
    """Print answers, and why they are answers; predictions that are hardly possible only if they are `unlikely` too."""
    from unseen.asking.unlikely import without_unlikely
    from unseen.cli.console import output_console

    console = output_console()
    shown, hidden = (answers, ()) if unlikely else without_unlikely(answers)
    for part in _explained(shown) if explain else _plain(shown):
        console.print(part)
    if hidden:
        console.print(_escaped(_left_out(hidden)), style="dim", highlight=False)
    if answers.expected is not None and all(answer.known for answer in answers) and len(answers) < answers.known:
        console.print("predictions come after the known answers; --predicted shows them", style="dim", highlight=False)
    console.print(_summary(shown), style="dim", highlight=False)


def _plain(answers: Answers) -> Iterator[RenderableType]:
    if len(answers):
        table = _table(names=answers.variables or ("entity",))
        attributes = list(dict.fromkeys(name for answer in answers for name in answer.attributes))
        for name in attributes:
            table.add_column(_escaped(name), overflow="fold")
        for answer, cells in zip(answers, _cells(answers, answers.variables), strict=True):
            table.add_row(*cells, *(_escaped(answer.attributes.get(name, "")) for name in attributes))
        yield table


def _explained(answers: Answers) -> Iterator[RenderableType]:
    """A row for each answer: a proof at its end, reasons for what is predicted in lines below it."""
    from rich.cells import cell_len
    from rich.padding import Padding

    width = min(WIDEST_NAME, max([len("entity"), *(cell_len(answer.entity) for answer in answers)]))
    for place, (answer, cells) in enumerate(zip(answers, _cells(answers), strict=True)):
        table = _table(width, has_header=place == 0)
        table.add_row(*cells, _escaped(_because(answer)))
        yield table
        for line in _reasons(answer):
            yield Padding(_escaped(line), (0, 0, 0, INDENT), expand=False)


def _table(width: int | None = None, *, has_header: bool = True, names: Sequence[str] = ("entity",)) -> Table:
    """An empty table; with a width for names, its columns are as wide as those of any other and `because` is last.

    Answers to several variables have a column for each.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=has_header)
    table.add_column("rank", justify="right", min_width=len("rank"))
    for name in names:
        table.add_column(_escaped(name), overflow="fold", width=width)
    table.add_column("", min_width=0 if width is None else len("predicted"))
    table.add_column("probability", min_width=len("probability"))
    if width is not None:
        table.add_column("because", overflow="fold")
    return table


def _cells(answers: Answers, variables: Sequence[str] = ()) -> Iterator[list[str]]:
    """Rank, name (or the values of some variables), status and probability."""
    for answer, probability in zip(answers, shown_probabilities(answers), strict=True):
        status = "[green]known[/green]" if answer.known else "[yellow]predicted[/yellow]"
        shown = [answer.values.get(name, "") for name in variables] if variables else [answer.entity]
        yield [str(answer.rank), *map(_escaped, shown), status, probability.rjust(len("probability"))]


def _because(answer: Answer) -> str:
    """The proof of what is known, or the likeliest values of the inner variables."""
    if answer.edges:
        return ", ".join(f"{relation}({head}, {tail})" for head, relation, tail in answer.edges)
    return ", ".join(f"{variable} = {value}" for variable, value in answer.bindings.items())


def _reasons(answer: Answer) -> Iterator[str]:
    """The reasons below an answer; a link is named once, and not at all where it is the only one."""
    shown = [reason for reason in answer.reasons if not answer.edges or reason.head is not None or not reason.body]
    is_only_link = len({reason.head for reason in shown}) == 1
    last = None
    for reason in shown:
        if is_only_link:
            yield reason.text
        else:
            yield f"  {reason.text}" if reason.head is not None and reason.head == last else str(reason)
        last = reason.head


def _left_out(hidden: Sequence[Answer]) -> str:
    """How many predictions are not shown, the likeliest of them, and what shows them."""
    best = max(hidden, key=lambda answer: answer.probability)
    count = f"{len(hidden)} unlikely predictions are" if len(hidden) > 1 else "1 unlikely prediction is"
    return f"{count} hidden, the likeliest {best.entity} with {shown_probability(best.probability)}; --all shows them"


def _summary(answers: Answers) -> str:
    shown = sum(answer.known for answer in answers)
    graph = answers.graph
    parts = [f"{answers.known:,} known" + (f" ({shown} shown)" if shown < answers.known else "")]
    if len(answers) > shown:
        parts.append(f"{len(answers) - shown} predicted shown")
    if answers.expected is not None:
        parts.append(str(answers.expected))
    if answers.complete is False:
        parts.append(f"better ones may be missing (at most {shown_probability(answers.missed or 0.0)})")
    counts = f"{graph.num_entities:,} entities, {graph.num_relations:,} relations, {graph.num_triples:,} triples"
    return f"{', '.join(parts)}; method {answers.method}; {counts}"


def shown_probabilities(answers: Iterable[Answer]) -> list[str]:
    """Probabilities as a person reads them, their decimal points below each other; small ones keep two digits."""
    texts = [shown_probability(answer.probability) for answer in answers]
    points = [len(re.split(r"[.e]", text)[0]) for text in texts]
    before = max(points, default=0)
    shifted = [" " * (before - point) + text for point, text in zip(points, texts, strict=True)]
    width = max(map(len, shifted), default=0)
    return [text.ljust(width) for text in shifted]


def shown_probability(probability: float) -> str:
    """A probability as a person reads it: three decimals, or two digits of a small one."""
    return f"{probability:.3f}" if probability >= 0.0995 else f"{probability:#.2g}"


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
