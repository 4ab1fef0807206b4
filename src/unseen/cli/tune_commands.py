"""`unseen tune`: the options of CQD-Beam that do best on validation queries, kept in the run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unseen.methods.cqd_beam import BeamOptions, Tuning


def tune(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run that scores links.")],
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="A dataset folder, or a published archive, folder or .npz file.")
    ],
    types: Annotated[
        str | None, typer.Option(help="Query types, separated by commas; all by default.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Validation queries a type.")] = 200,
    metric: Annotated[str, typer.Option(help="Metric to choose by: mrr, hits_at_1, 3, 10 or 100.")] = "hits_at_10",
    beam: Annotated[int, typer.Option(min=0, help="Entities kept for each inner variable; 0 keeps all.")] = 32,
    known_facts: Annotated[
        bool,
        typer.Option(
            help="Also try observed links as certain; otherwise answers are predictions only, as in the paper."
        ),
    ] = True,
    seed: Annotated[int, typer.Option(help="Which sample of validation queries.")] = 0,
    calibration_queries: Annotated[
        int, typer.Option(min=0, help="Validation queries a type for fitting probabilities; 0 fits none.")
    ] = 300,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write everything to this file; `-` prints JSON only.")
    ] = None,
) -> None:
    """Choose how CQD-Beam answers each type of query, on validation queries: logic, memberships, known facts, and more.

    The choice is kept in the run folder, and `ask` and `evaluate` then use it. Test queries are never read.

    \b
    Examples:
      unseen tune runs/nodepiece fb15k-237-175
      unseen tune runs/wiki wikikg-133 --types 1p,2p,2i --limit 50 --beam 8 --metric hits_at_100
    """
    from unseen.api import open_method
    from unseen.cli.console import note, progress_bar
    from unseen.cli.dataset_sources import open_dataset
    from unseen.errors import RunFolderError
    from unseen.methods.cqd_beam import BeamOptions
    from unseen.models.tuned_method import TUNING, TUNING_ALONE, link_scorer_of
    from unseen.training.tuning import TuningPlan, write_tuning
    from unseen.training.tuning import tune as search

    if not run.is_dir():
        raise RunFolderError("is not the folder of a run", path=run)
    names = tuple(name.strip() for name in types.split(",")) if types else None
    plan = TuningPlan(names, limit, metric, BeamOptions(beam=beam), seed=seed)
    plan = plan if known_facts else plan.without_known_facts()
    scorer, data = link_scorer_of(open_method(str(run))), open_dataset(dataset)
    with progress_bar("tuning", unit="trials") as bar:
        found = search(scorer, data, plan, lambda _label, done, total: bar(done, total))
    calibrated = write_tuning(run, found, scorer, data, calibration_queries)
    (run / TUNING_ALONE).unlink(missing_ok=True)  # older than what is chosen now
    _write(found, json_file)
    if json_file != Path("-"):
        _show(found)
    note(f"wrote {run / TUNING}" + (" and calibration.json" if calibrated else "; probabilities are not calibrated"))


def _write(found: Tuning, path: Path | None) -> None:
    """The tuning as a JSON file, whole or not at all; `-` is standard output."""
    import json

    from unseen.cli.console import write_json
    from unseen.graph.files.atomic_file import replacing

    if path == Path("-"):
        write_json(found.to_json())
    elif path is not None:
        with replacing(path) as stream:
            stream.write((json.dumps(found.to_json(), indent=1) + "\n").encode())


def _show(found: Tuning) -> None:
    from rich.console import Console
    from rich.table import Table

    metric = str(found.about["metric"])
    title = f"chosen on {found.about['queries_per_type']} validation queries a type of {found.about['dataset']}"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    for column in ("type", f"{metric} before", "after", "options"):
        table.add_column(column, justify="right" if column in (f"{metric} before", "after") else "left")
    for name, options in found.choices.types.items():
        trials: list[dict[str, Any]] = found.about["trials"][name]
        after = next(trial[metric] for trial in trials if options.to_json().items() <= trial.items())
        table.add_row(name, f"{100 * trials[0][metric]:.1f}", f"{100 * after:.1f}", _summary(options))
    Console(highlight=False).print(table)


def _summary(options: BeamOptions) -> str:
    """The options in a few words."""
    parts = [options.logic, options.scale, f"{options.heads} head"]
    parts += [f"popularity {options.popularity:g}"] if options.popularity else []
    parts.append(f"known facts above {options.ceiling:g}" if options.known_facts else "predictions only")
    if (options.negation, options.sharpness) != (1, 1):
        parts.append(f"negation 1 - ({options.negation:g} m)^{options.sharpness:g}")
    return ", ".join(parts)
