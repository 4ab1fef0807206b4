"""`unseen rules`: what a graph teaches about itself, as a table, as JSON or as a file."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.shared_options import AsJson, Literals, SkipErrors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.rules.naming import Rule
    from unseen.rules.rounds import Progress
    from unseen.rules.rule_overview import RuleOverview
    from unseen.rules.rule_set import Rules

DEFAULT_TOP = 20
SORTED_IN_A_SECOND, FEW_SECONDS = 1_400_000, 2
"""Triples, on one core of two; a shorter time is not mentioned."""


def rules(
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...", help="Files that together make one graph, or `countries`.", show_default=False
        ),
    ],
    relation: Annotated[
        str | None, typer.Option(help="Only rules that conclude this relation.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Mine as thoroughly as this time allows.", show_default=False),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(min=1, help="Samples for each rule.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    top: Annotated[
        int | None,
        typer.Option(min=1, help="How many rules to list: by default 20, or all in a file.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.tsv", help="Write a table of rules.", show_default=False),
    ] = None,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
) -> None:
    """List the rules of a graph: what follows from what, how often, and an example of each.

    The list is grouped by what is concluded, without variants of better rules. JSON and files have all of them.

    Support counts the pairs for which body and head hold. Confidence is support over the pairs for which the body
    holds, plus 5. Both are estimated on samples where a graph is large.

    Rules are those that `--method rules` predicts with: mined in a short time and kept for the next command. With
    --samples or --seconds they are mined again, and kept if they are more thorough.

    \b
    Examples:
      unseen rules countries
      unseen rules facts.tsv --relation grandparent_of --top 5
      unseen rules facts.tsv --seconds 100 -o rules.tsv
      unseen rules facts.tsv --json
    """
    from unseen.cli.console import note, read, write_json
    from unseen.graph.files.atomic_file import check_target
    from unseen.rules.listing import listed
    from unseen.rules.rule_overview import rule_overview

    if samples is not None and seconds is not None:
        raise typer.BadParameter("give --samples or --seconds, not both", param_hint="--samples, --seconds")
    if output is not None:
        check_target(output)
    graph = read(graphs, literals=literals, skip_errors=skip_errors)
    wanted = None if relation is None else graph.vocabulary.relations.find(relation)
    mined = open_rules(graph) if samples is seconds is None and seed == 0 else _mined(graph, samples, seconds, seed)
    if output is None and not as_json:
        _show(rule_overview(mined, graph, wanted, top or DEFAULT_TOP), len(mined))
        return
    chosen = listed(mined, graph, wanted, top or (None if output is not None else DEFAULT_TOP))
    if output is not None:
        _write(chosen, output)
        note(f"wrote {len(chosen):,} rules to {output}")
    if as_json:
        write_json({"checksum": mined.checksum, "samples": mined.samples, "rules": [rule.as_json() for rule in chosen]})


def _mined(graph: KnowledgeGraph, samples: int | None, seconds: float | None, seed: int) -> Rules:
    """Rules that are mined again."""
    from unseen.cli.console import note
    from unseen.rules.mining import mine
    from unseen.rules.opening import use_rules

    if seconds is None:
        _note_effort(graph, samples)
    with _progress() as progress:
        mined = mine(graph, samples=samples, seconds=seconds, seed=seed, progress=progress)
    if not mined.is_complete:
        note(f"{seconds:g} seconds are too few for this graph: rules are missing, those of rare relations first")
    if seed == 0:
        use_rules(graph, mined)
    return mined


def open_rules(graph: KnowledgeGraph) -> Rules:
    """The rules that predict on a graph, with a progress bar if they have to be mined."""
    from unseen.cli.console import note
    from unseen.rules.opening import rules_for

    note_opening(graph)
    with _progress() as progress:
        found = rules_for(graph, progress=progress)
    if not found.is_complete:
        note("mining was cut short, and rules are missing; `unseen rules GRAPH --seconds 600` finds and keeps more")
    return found


def predicts_by_rules(method: str | None) -> bool:
    """Whether a method, by its name, mines rules of the graph that it is asked about: `rules` and shipped models do."""
    from unseen.api import METHODS, default_method

    wanted = method or default_method()
    if wanted in METHODS or ":" in wanted:
        return wanted == "rules"
    from unseen.errors import UnseenError
    from unseen.models.model_folder import has_rules

    try:
        return has_rules(wanted)
    except UnseenError:  # what is wrong with the name is said where it is opened
        return False


def note_opening(graph: KnowledgeGraph) -> None:
    """Say how long a large graph will be mined; one that takes little, or was mined before, is not mentioned."""
    from unseen.cli.console import note
    from unseen.rules.mining import LARGE
    from unseen.rules.opening import are_at_hand, opening_seconds

    if graph.num_triples > LARGE and not are_at_hand(graph):
        sorting = graph.num_triples // SORTED_IN_A_SECOND
        if sorting > FEW_SECONDS:
            note(f"sorting {graph.num_triples:,} triples, for about {sorting} seconds")
        note(f"mining rules of {graph.num_triples:,} triples, for about {opening_seconds(graph):.0f} seconds")


def _note_effort(graph: KnowledgeGraph, samples: int | None) -> None:
    """Say what mining a large graph takes before it starts; a graph that takes little is not mentioned."""
    from unseen.cli.console import note
    from unseen.rules.forecast import forecast
    from unseen.rules.mining import LARGE, SAMPLES

    if graph.num_triples > LARGE:
        found = forecast(graph, samples or SAMPLES)
        note(f"mining rules of {graph.num_triples:,} triples: {found}; `unseen rules --seconds` limits the time")


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar for mining on a terminal."""
    from unseen.cli.console import progress_bar

    with progress_bar("mining", "steps") as advance:
        yield lambda _label, done, total: advance(done, total)


def _write(chosen: Sequence[Rule], path: Path) -> None:
    from unseen.graph.files.atomic_file import replacing
    from unseen.rules.naming import atom

    with replacing(path) as stream:
        stream.write(b"confidence\tsupport\tpairs\trule\texample\n")
        for rule in chosen:
            shown = ", ".join(atom(edge) for edge in rule.example)
            numbers = f"{rule.confidence:.4f}\t{rule.support:.0f}\t{rule.pairs:.0f}"
            stream.write(f"{numbers}\t{_plain(str(rule))}\t{_plain(shown)}\n".encode())


def _plain(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ")


def _show(found: RuleOverview, count: int) -> None:
    from rich.console import Console

    from unseen.rules.naming import atom

    console = Console(emoji=False, highlight=False)

    def say(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    supports = {
        id(rule): f"{rule.support:,.0f} of {rule.pairs:,.0f}" for rules in found.groups.values() for rule in rules
    }
    widest = max([len("support"), *map(len, supports.values())])
    if supports:
        say(f"  confidence  {'support':>{widest}}", "dim")
    for relation, rules in found.groups.items():
        say(relation, "bold")
        for rule in rules:
            numbers = f"  {rule.confidence:>10.3f}  {supported(rule):>{widest}}  "
            say(in_lines([f"{numbers}{atom(rule.head)} <-", *map(atom, rule.body)], len(numbers) + 4, console.width))
            if rule.example:
                first, *others = map(atom, rule.example)
                beginning = " " * (len(numbers) + 4) + "e.g. "
                say(in_lines([beginning + first, *others], len(beginning), console.width, ", "), "dim")
    left_out = f" without {found.variants:,} variant{'s' * (found.variants > 1)}" if found.variants else ""
    say(f"{len(found):,} rules shown{left_out}; {count:,} mined (-o and --json list all alike)", "dim")


def supported(rule: Rule) -> str:
    """Support of a rule, of so many pairs."""
    return f"{rule.support:,.0f} of {rule.pairs:,.0f}"


def in_lines(parts: Sequence[str], indent: int, width: int, first_sign: str = " ") -> str:
    """Atoms one after the other in lines of a width, of which all but the first are indented; none is broken."""
    from rich.cells import cell_len

    lines, line = [], parts[0]
    for part, sign in zip(parts[1:], [first_sign, *[", "] * len(parts)], strict=False):
        if cell_len(line + sign + part) >= width:
            lines.append((line + sign).rstrip())
            line = " " * indent + part
        else:
            line += sign + part
    return "\n".join([*lines, line])
