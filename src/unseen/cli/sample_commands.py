"""`unseen sample` and `unseen dataset stats`: making questions for a dataset, and counting what it holds."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it when a command is called
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.crews import RayAddress, Workers, asked_crew
from unseen.cli.shared_options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.dataset_statistics import DatasetStatistics
    from unseen.datasets.sampling.sample_dataset import SpreadSampling
    from unseen.logic.shapes import Shape
    from unseen.spreading.crew import Crew

_COUNTS = "Queries a type: a number for all types, or TYPE=NUMBER; repeat as needed."


def sample(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset folder.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the dataset with its queries here, not to DIR.")
    ] = None,
    train: Annotated[list[str] | None, typer.Option(help=_COUNTS, show_default=False)] = None,
    valid: Annotated[list[str] | None, typer.Option(help=_COUNTS, show_default=False)] = None,
    test: Annotated[list[str] | None, typer.Option(help=_COUNTS, show_default=False)] = None,
    types: Annotated[str | None, typer.Option(help="Only these types, separated by commas.")] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="A type of your own as NAME=TEMPLATE, like 4p=e/r/r/r/r; repeat as needed."),
    ] = None,
    compatible: Annotated[
        bool, typer.Option("--compatible", help="Follow the published rules exactly, with their quirks.")
    ] = False,
    hard: Annotated[
        bool,
        typer.Option("--hard", help="Validation and test get equally many queries for every number of missing links."),
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same queries.")] = 42,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all cores.")] = None,
    workers: Workers = None,
    ray: RayAddress = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the queries that the dataset has.")] = False,
) -> None:
    """Draw questions with known answers for a dataset: the 14 types of the paper, or your own.

    Counts not given are those of the paper's 175 % dataset (50,000 a type; 10,000 with negation in validation and
    test), less where the graph is smaller; questions of one link (1p) are then all listed.

    \b
    Examples:
      unseen sample fb-175
      unseen sample fb-175 --train 2000 --valid 500 --test 1000 --test 2in=200
      unseen sample fb-175 --types 2p,4p --shape 4p=e/r/r/r/r --hard -o fb-175-hard
    """
    from unseen.cli.console import note, progress_bar
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.sampling.sample import SampleOptions
    from unseen.datasets.sampling.sample_dataset import SamplePlan, sample_dataset

    dataset = Dataset.open(folder)
    target = output or folder
    _check_replacing(dataset, target, folder, force)
    shapes = _chosen_shapes(types, shape or [])
    counts = {
        (split, name): count
        for split, given in (("train", train), ("valid", valid), ("test", test))
        for name, count in _counts(split, given or [], shapes).items()
    }
    plan = SamplePlan(shapes, counts, SampleOptions(compatible, hard, seed))
    with asked_crew(workers, ray) as crew, progress_bar("sampling", unit="queries") as progress:
        sampled, remarks = sample_dataset(dataset, plan, progress, threads, _spread(crew))
    sampled.save(target)
    for remark in remarks:
        note(remark)
    total = sum(len(table) for tables in sampled.tables.values() for table in tables.values())
    note(f"wrote {total:,} queries to {target}")


def _spread(crew: Crew | None) -> SpreadSampling | None:
    if crew is None:
        return None
    from unseen.spreading.spread_sampling import spread_sampling

    return spread_sampling(crew)


def stats(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset folder.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what a dataset holds: its graphs, its numbers of queries, training queries with new answers.

    As in the paper, relations and triples are counted in both directions, and the graphs of validation and test include
    the training graph.

    \b
    Examples:
      unseen dataset stats fb-175
      unseen dataset stats fb-175 --json
    """
    from dataclasses import asdict

    from unseen.cli.console import write_json
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.dataset_statistics import dataset_statistics

    numbers = dataset_statistics(Dataset.open(folder))
    if as_json:
        write_json(asdict(numbers))
    else:
        _show(numbers)


def _check_replacing(dataset: Dataset, target: Path, folder: Path, force: bool) -> None:
    from unseen.errors import DatasetError

    if target == folder and not force and any(dataset.tables[split] for split in dataset.tables):
        raise DatasetError("has queries already: --force replaces them, -o OTHER writes elsewhere", path=folder)


def _chosen_shapes(types: str | None, own: list[str]) -> tuple[Shape, ...]:
    """The paper's shapes and the user's own, or those of them that are asked for."""
    from unseen.errors import UnknownMethod
    from unseen.logic.shapes import SHAPES

    known = {**SHAPES, **{shape.name: shape for shape in map(_own_shape, own)}}
    names = list(known) if types is None else [name.strip() for name in types.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UnknownMethod("query type", name, list(known))
    return tuple(known[name] for name in dict.fromkeys(names))


def _own_shape(text: str) -> Shape:
    from unseen.logic.shapes import SHAPES, Shape

    name, sign, template = (part.strip() for part in text.partition("="))
    if not (sign and name and template):
        raise typer.BadParameter(f"{text!r} is not NAME=TEMPLATE, like 4p=e/r/r/r/r", param_hint="--shape")
    shape = Shape(name, template)
    if name in SHAPES and SHAPES[name].skeleton != shape.skeleton:
        raise typer.BadParameter(f"{name} is a type of the paper: choose another name", param_hint="--shape")
    return shape


def _counts(split: str, given: list[str], shapes: tuple[Shape, ...]) -> dict[str, int]:
    """Counts by type; a plain number is for every type that is not named."""
    named: dict[str, int] = {}
    common: dict[str, int] = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        if sign and name not in {shape.name for shape in shapes}:
            raise typer.BadParameter(f"{name} is not one of the types to sample", param_hint=f"--{split}")
        if sign:
            named[name] = _number(number, split)
        else:
            common = {shape.name: _number(number, split) for shape in shapes}
    return {**common, **named}


def _number(text: str, split: str) -> int:
    try:
        count = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        count = -1
    if count < 0:
        raise typer.BadParameter(f"{text!r} is not a number of queries", param_hint=f"--{split}")
    return count


def _show(numbers: DatasetStatistics) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    graphs, types = numbers.graphs, list(dict.fromkeys(name for counts in numbers.queries.values() for name in counts))
    console.print(f"{numbers.name}: {graphs.entities:,} entities, {graphs.relations:,} relations (both directions)\n")
    rows = [
        ("train", graphs.train_entities, graphs.train_triples, 0),
        ("valid", graphs.valid_entities, graphs.valid_triples, graphs.valid_predict_triples),
        ("test", graphs.test_entities, graphs.test_triples, graphs.test_predict_triples),
    ]
    console.print(_table("graphs", ["graph", "entities", "triples", "to predict"], rows))
    console.print()
    counted: list[tuple[str | int, ...]] = [
        (name, *(counts.get(name, 0) for counts in numbers.queries.values())) for name in types
    ]
    console.print(_table("queries", ["type", *numbers.queries], counted))
    console.print()
    changed = [
        (name, row.queries, row.valid, _percent(row.valid, row.queries), row.test, _percent(row.test, row.queries))
        for name, row in numbers.new_answers.items()
    ]
    columns = ["type", "queries", "in valid", "%", "in test", "%"]
    console.print(_table("training queries whose answers differ", columns, changed))


def _table(title: str, columns: list[str], rows: Sequence[tuple[str | int, ...]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in row))
    return table


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f}"
