"""`unseen evaluate` and `unseen report`: numbers for a method, and tables and figures of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli.crews import RayAddress, Workers, asked_crew
from unseen.cli.dataset_commands import ASK, LAYOUT
from unseen.cli.shared_options import Effort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from unseen.cli.given import GivenOptions
    from unseen.evaluation.evaluator import Options, Spread
    from unseen.evaluation.results import RankMetrics, Result, TypeResult
    from unseen.logic.method import Method
    from unseen.spreading.crew import Crew

SPLITS = ("train", "valid", "test")


def evaluate(
    method: Annotated[
        str,
        typer.Argument(
            metavar="[METHOD_OR_RUN]",
            help="edge-type, path-counts, exact, rules, a model, a run folder, or package.module:factory; leave out "
            "with --model.",
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="DATASET",
            help="A dataset folder, a published archive, folder or .npz file, or the folder of a given split.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|RUN", help="The model to measure: see `unseen models`.", show_default=False),
    ] = None,
    inference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Given split: the folder of another graph to test on, or its files (observed, valid, test); repeat.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[str | None, LAYOUT] = None,
    ask: Annotated[str | None, ASK] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, ...; auto takes a GPU if there is one.")] = "auto",
    effort: Effort = "normal",
    split: Annotated[str, typer.Option(help="Which queries to ask: train, valid or test.")] = "test",
    types: Annotated[
        str | None,
        typer.Option(
            help="Query types, separated by commas; all by default. `links` is link prediction: every hidden triple "
            "is asked from both ends. `all,links` measures both.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most this many queries a type (or triples): a fixed random sample.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Queries answered at once; by default as many as fit into memory.", show_default=False
        ),
    ] = None,
    strata: Annotated[bool, typer.Option("--strata", help="Break down by the number of missing links.")] = False,
    training_queries: Annotated[
        bool, typer.Option("--training-queries", help="Faithfulness: training queries on both graphs.")
    ] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Expected numbers of answers, and calibration; slow.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="All three of the above.")] = False,
    workers: Workers = None,
    ray: RayAddress = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write everything to this file; `-` prints JSON only.")
    ] = None,
) -> None:
    """Measure how well a method answers questions whose answers are known: filtered MRR, Hits@k and more.

    Files of triples are measured by link prediction: every test triple is asked from both ends, given the training
    (or inference) triples. `unseen split --given` turns such files into a dataset for all other questions.

    \b
    Examples:
      unseen evaluate edge-type fb15k-237-175 --limit 2000
      unseen evaluate edge-type 175.npz --types 1p,2p,2i --full --json result.json
      unseen evaluate path-counts 175.npz --limit 2000
      unseen evaluate --model default 175.npz --limit 2000
      unseen evaluate --model default my-split --types links
      unseen evaluate rules my-split --types links
      unseen evaluate --model default fb237_v1 --inference fb237_v1_ind --ask valid+test
      unseen evaluate --model default ilpc22-small --device cpu
    """
    from unseen.api import open_method
    from unseen.cli.dataset_sources import is_given
    from unseen.cli.given import GivenOptions
    from unseen.errors import EvaluationError
    from unseen.evaluation.evaluator import Options
    from unseen.graph.files.atomic_file import check_target

    method, path = _named(method, dataset, model)
    if split not in SPLITS:
        raise EvaluationError(f"there is no split {split}; there are {', '.join(SPLITS)}")
    given = GivenOptions(inference or (), "train", layout, ask)
    files_given = is_given(path, given)
    names, links = _chosen_types("links" if files_given and types is None else types)
    extras = (strata or full, training_queries or full, probabilities or full, links)
    if json_file not in (None, Path("-")):
        check_target(json_file)
    options = Options(names, limit, seed, batch_size, *extras)
    opened = open_method(method, device, effort=effort)
    with asked_crew(workers, ray) as crew:
        spread = _spread(crew, opened, method, device, effort)
        result = _measured(method, opened, (path, given if files_given else None), (split, options, spread))
    if json_file is not None:
        _write(result, json_file)
    if json_file != Path("-"):
        _show(result)


def _spread(crew: Crew | None, opened: Method, method: str, device: str, effort: str) -> Spread | None:
    if crew is None:
        return None
    from unseen.spreading.spread_evaluation import spread_evaluation

    return spread_evaluation(crew, opened, method, device, effort)


def _chosen_types(types: str | None) -> tuple[tuple[str, ...] | None, bool]:
    """The query types (None is all of them), and whether links are asked for too."""
    names = ("all",) if types is None else tuple(name.strip() for name in types.split(",") if name.strip())
    if not names:
        problem = "names no query type: say some, such as 1p,2p, or `all`, `links`, `all,links`"
        raise typer.BadParameter(problem, param_hint="--types")
    asked = tuple(name for name in names if name not in ("all", "links"))
    return (None if "all" in names else asked), "links" in names


def _named(first: str, second: str | None, model: str | None) -> tuple[str, Path]:
    """The method and the dataset, whichever way they were named."""
    if model is not None:
        if second is not None:
            raise typer.BadParameter("give a method or --model, not both", param_hint="--model")
        return model, Path(first)
    if second is None:
        raise typer.BadParameter("give the method, then the dataset", param_hint="METHOD_OR_RUN DATASET")
    return first, Path(second)


def report(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT.json...", help="Files of `unseen evaluate --json`.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    metrics: Annotated[
        str, typer.Option(help="Metrics of the table of test queries, separated by commas.")
    ] = "hits_at_3,hits_at_10",
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="Published numbers to show beside those of the same ratios.", show_default=False
        ),
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw figures; needs matplotlib.")] = True,
) -> None:
    """Write tables (Markdown, LaTeX, CSV) and figures (PNG, SVG) of results into a folder.

    \b
    Examples:
      unseen report result.json -o report
      unseen report results/*.json -o report --beside experiments/paper_results.csv --metrics mrr,hits_at_10
    """
    from unseen.cli.console import note
    from unseen.evaluation.report import read_result, write_report

    found = [read_result(path) for path in results]
    chosen = [metric.strip() for metric in metrics.split(",")]
    written = write_report(found, output, metrics=chosen, beside=beside, figures=figures)
    note(f"wrote {len(written)} files to {output}; start with {written[0]}")


def _measured(
    name: str, method: Method, source: tuple[Path, GivenOptions | None], how: tuple[str, Options, Spread | None]
) -> Result:
    """The result, with what made it; `source` is the dataset and what is said of it, if it is a given split."""
    from dataclasses import replace
    from time import perf_counter

    from unseen.api import check_memory, device_of
    from unseen.cli.console import progress_bar
    from unseen.cli.dataset_sources import open_dataset, open_given
    from unseen.cli.rules_command import open_rules, predicts_by_rules
    from unseen.evaluation.evaluator import evaluate as measure
    from unseen.version import __version__

    (path, given), (split, options, spread) = source, how
    dataset = open_dataset(path) if given is None else open_given(path, given)
    check_memory(method, dataset.observed(split))
    if predicts_by_rules(name):
        open_rules(dataset.observed(split))
    start = perf_counter()
    with progress_bar("evaluating", unit="queries") as bar:
        result = measure(
            method,
            dataset,
            split,
            options,
            name=name,
            progress=lambda _label, done, total: bar(done, total),
            spread=spread,
        )
    about = {"version": __version__, "source": str(path), "seconds": round(perf_counter() - start, 2)}
    if given is not None:
        about |= {key: dataset.manifest[key] for key in ("layout", "validation", "observe", "ask")}
    return replace(result, provenance=about | {"device": device_of(method)})


def _write(result: Result, path: Path) -> None:
    """The result as a JSON file, whole or not at all; `-` is standard output."""
    import json

    from unseen.cli.console import note, write_json
    from unseen.graph.files.atomic_file import replacing

    if path == Path("-"):
        write_json(result.to_json())
        return
    with replacing(path) as stream:
        stream.write((json.dumps(result.to_json(), indent=1) + "\n").encode())
    note(f"wrote {path}")


def _show(result: Result) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    asked = sum(found.metrics.queries for found in (*result.types.values(), *filter(None, [result.links])))
    if result.links is not None:
        console.print(_links_table(result, result.links))
    if result.types:
        console.print(_table(f"{result.method} on {result.dataset}, {result.split} queries (%)", result.types))
    for graph, types in result.training_queries.items():
        console.print(_table(f"training queries on the {_graph_name(graph)} (%)", types))
    for field, title in (("strata", "by missing links (%)"), ("half_links", "1p by half of the link (%)")):
        groups = {f"{kind} {name}": one for kind, found in result.types.items() for name, one in _groups(found, field)}
        if groups:
            console.print(_group_table(title, groups))
    seconds = result.provenance.get("seconds", 0)
    noun = "queries" if result.types else "questions"
    console.print(f"{asked:,} {noun}, {result.candidates:,} candidates, {seconds:.1f} s", style="dim")


def _groups(found: TypeResult, field: str) -> list[tuple[str, RankMetrics]]:
    return list(getattr(found, field).items())


def _graph_name(graph: str) -> str:
    names = {"train": "training graph", "test": "test graph, changed ones"}
    names |= {"test_all": "test graph", "valid_all": "validation graph"}
    return names.get(graph, "validation graph, changed ones")


def _table(title: str, types: Mapping[str, TypeResult]) -> Table:
    """One line a type, then the averages."""
    from unseen.evaluation.results import METRICS, averages

    extras = [
        name
        for name in ("roc_auc", "mape", "spearman", "ece")
        if any(t.value(name) is not None for t in types.values())
    ]
    columns = (*METRICS, *extras)
    table = _empty_table(title, ("type", "queries", *columns))
    for kind, found in types.items():
        table.add_row(kind, f"{found.metrics.queries:,}", *(_percent(found.value(column)) for column in columns))
    table.add_section()
    for name, means in averages(types).items():
        if means:
            cells = (_percent(means.get(column)) for column in columns)
            table.add_row(name, f"{len(means['types'])} types", *cells, style="bold")
    return table


def _links_table(result: Result, links: TypeResult) -> Table:
    """Both directions, then each: a triple has one rank in each; triples with an end in common share a question."""
    from unseen.evaluation.results import METRICS

    title = f"{result.method} on {result.dataset}, {links.triples:,} hidden {result.split} triples from both ends (%)"
    table = _empty_table(title, ("asked for", "triples", "ranks", "questions", *METRICS))
    for name, metrics in {"both": links.metrics, **links.directions}.items():
        counts = (links.triples, metrics.answers, metrics.queries)
        cells = (_percent(getattr(metrics, column)) for column in METRICS)
        table.add_row(name, *(f"{count:,}" for count in counts), *cells)
    return table


def _group_table(title: str, groups: Mapping[str, RankMetrics]) -> Table:
    from unseen.evaluation.results import METRICS

    table = _empty_table(title, ("answers", "queries", "count", *METRICS))
    for name, metrics in groups.items():
        cells = (_percent(getattr(metrics, column)) for column in METRICS)
        table.add_row(name, f"{metrics.queries:,}", f"{metrics.answers:,}", *cells)
    return table


def _empty_table(title: str, columns: tuple[str, ...]) -> Table:
    from rich.table import Table

    from unseen.evaluation.report_rows import METRIC_NAMES

    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(METRIC_NAMES.get(column, column), justify="left" if place == 0 else "right")
    return table


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"
