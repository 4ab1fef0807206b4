"""`unseen split`, `dataset import`, `dataset export` and `download`: where benchmarks come from, and where they go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.shared_options import AsJson, Literals, SkipErrors

if TYPE_CHECKING:
    from unseen.datasets.dataset import Dataset

_OUTPUT = typer.Option("--output", "-o", help="The dataset folder to write.", show_default=False)
_FORCE = typer.Option("--force", help="Replace an existing dataset.")
_NAME = typer.Option(help="Name of the dataset; by default that of the file or folder.", show_default=False)
LAYOUT = typer.Option(
    metavar="NAME",
    help="How the given files belong together: transductive, grail, ilpc, ingram, or wikitopics (pediatypes); by "
    "default what their names and contents say.",
    show_default=False,
)
ASK = typer.Option(
    metavar="test|valid+test",
    help="Given files: what test asks for. `valid+test`: the inference graph's own validation triples too, as ULTRA "
    "does on GraIL's graphs; `test` by default.",
    show_default=False,
)


def split(
    context: typer.Context,
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...",
            help="Files that together make one graph, or `countries`; with --given the files or the folder of a split.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, _OUTPUT],
    ratio: Annotated[
        float,
        typer.Option(help="Entities at inference in percent of those in training: 101 to 1000.", show_default=True),
    ] = 175,
    seed: Annotated[int, typer.Option(help="Seed of the random draw; 42 gives the published splits.")] = 42,
    disjoint: Annotated[
        bool, typer.Option("--disjoint", help="Training and inference graphs share no entity.")
    ] = False,
    given: Annotated[
        bool, typer.Option("--given", help="The files are already split: training, validation, test triples.")
    ] = False,
    inference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="With --given: the folder of another graph to test on, or its files (observed, valid, test); repeat.",
            show_default=False,
        ),
    ] = None,
    observe: Annotated[
        str | None,
        typer.Option(
            metavar="train|train+valid",
            help="With --given: what is known at test. `train+valid`, as for complex questions, or `train`, as for "
            "link prediction, which is the default with --inference.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[str | None, LAYOUT] = None,
    ask: Annotated[str | None, ASK] = None,
    name: Annotated[str | None, _NAME] = None,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
    force: Annotated[bool, _FORCE] = False,
    as_json: AsJson = False,
) -> None:
    """Split a graph so that validation and test have entities that training never saw.

    With --given nothing is drawn: the files are the training, validation and test triples of a published split, of one
    graph or of a training graph and another one to test on. Which layout was found is said and kept.

    Of the edges of new entities 15 % are hidden, to be predicted. The order of the files matters to the seed: with
    FB15k-237's train, valid and test in this order, seed 42 gives the published graphs of 122, 175 and 550 %.

    \b
    Examples:
      unseen split train.tsv valid.tsv test.tsv --ratio 175 -o fb-175
      unseen split countries --ratio 150 --disjoint -o countries-150
      unseen split --given train.tsv valid.tsv test.tsv -o wn18rr
      unseen split --given fb237_v1 --inference fb237_v1_ind -o fb-v1
      unseen split --given wikidata_artv2 --layout wikitopics -o art
    """
    from unseen.cli.console import read
    from unseen.cli.given import GivenOptions, given_dataset, refuse_mixed
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.split import inductive_split, training_share

    refuse_mixed(context, given)
    if given:
        _check_free(output, force)
        options = GivenOptions(inference or (), observe, layout, ask, literals, skip_errors)
        dataset = given_dataset(graphs, name or output.resolve().name, options)
        dataset.save(output)
        _tell(dataset, output, as_json)
        return
    training_share(ratio)
    _check_free(output, force)
    graph = read(graphs, literals=literals, skip_errors=skip_errors)
    parts = inductive_split(graph, ratio, seed, disjoint)
    exact = int(ratio) if ratio.is_integer() else ratio
    about = {"kind": "disjoint" if disjoint else "inductive", "ratio": exact, "seed": seed}
    dataset = Dataset(name or output.resolve().name, parts, manifest=about)
    dataset.save(output)
    _tell(dataset, output, as_json)


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder, .zip or .npz file of a benchmark.", show_default=False)
    ],
    output: Annotated[Path, _OUTPUT],
    graph: Annotated[
        list[Path] | None,
        typer.Option(
            help="Training, validation and test triples with names, in this order (three times --graph).",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Which folder of an archive that holds several.", show_default=False)
    ] = None,
    relations: Annotated[
        int | None,
        typer.Option(min=1, help="Number of relations, for an .npz file that does not state it.", show_default=False),
    ] = None,
    name: Annotated[str | None, _NAME] = None,
    force: Annotated[bool, _FORCE] = False,
    as_json: AsJson = False,
) -> None:
    """Turn a published benchmark into a dataset folder: InductiveQE, BetaE, Query2Box, SILR, or .npz without answers.

    Pickles are read as plain data only: a file that asks for anything else is refused before anything runs. Where there
    are no answers they are computed. `--graph` gives a Query2Box or BetaE folder the graph it comes without, and an
    InductiveQE archive the names of its entities.

    \b
    Examples:
      unseen dataset import 175.zip -o iqe-175
      unseen dataset import KG_data.zip --folder FB15k-237-betae -o betae
      unseen dataset import q2b.zip --graph train.tsv --graph valid.tsv --graph test.tsv -o q2b
    """
    from unseen.cli.console import progress_bar
    from unseen.cli.dataset_sources import tell_notes
    from unseen.datasets.published import import_dataset

    _check_free(output, force)
    with progress_bar("answering", unit="queries") as progress:
        dataset = import_dataset(
            source, graph_files=graph or (), folder=folder, name=name, relations=relations, progress=progress
        )
    dataset.save(output)
    tell_notes(dataset, source)
    _tell(dataset, output, as_json)


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset folder.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder, .zip or .npz file to write.", show_default=False),
    ],
    form: Annotated[
        str | None,
        typer.Option("--format", help="inductiveqe, betae, query2box or npz; by default from the name of the output."),
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(help="Query types to write, separated by commas; all by default.", show_default=False),
    ] = None,
) -> None:
    """Write a dataset in a published format, for other programs.

    What a format has no place for is refused. All of these but npz are made of pickle files, the only ones that unseen
    ever writes.

    \b
    Examples:
      unseen dataset export fb-175 -o 175.zip
      unseen dataset export fb-175 -o 175.npz
      unseen dataset export fb-175 -o q2b --format query2box --types 1p,2p,2i
    """
    from unseen.cli.console import note
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.published import export_dataset

    form = form or ("npz" if output.suffix == ".npz" else "inductiveqe")
    names = None if types is None else [name.strip() for name in types.split(",") if name.strip()]
    for remark in export_dataset(Dataset.open(folder), output, form, names):
        note(remark)
    note(f"wrote {output}")


def download(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which dataset; without a name, all are listed.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to put it in; by default its name.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download a public dataset by name. An interrupted download continues, and the result is checked.

    \b
    Examples:
      unseen download
      unseen download inductiveqe-175
      unseen download fb15k-237 -o data/fb15k-237
    """
    from unseen.cli.console import note, progress_bar, write_json
    from unseen.datasets.download import SETS
    from unseen.datasets.download import download as fetch_all

    if name is None:
        _list_sets(as_json)
        return
    folder = output or Path(name)
    with progress_bar(f"fetching {name}") as progress:
        files = fetch_all(name, folder, progress)
    if as_json:
        write_json({"name": name, "files": [str(file) for file in files]})
        return
    for file in files:
        typer.echo(str(file))
    note(f"next: {SETS[name].next_step.format(folder=folder)}")


def _list_sets(as_json: bool) -> None:
    from unseen.cli.console import write_json
    from unseen.datasets.download import SETS

    if as_json:
        write_json({name: {"title": entry.title, "urls": [f.url for f in entry.files]} for name, entry in SETS.items()})
        return
    width = max(map(len, SETS))
    for name, entry in SETS.items():
        typer.echo(f"{name:<{width}}  {entry.title}")


def _check_free(output: Path, force: bool) -> None:
    """Refuse to write over anything, unless told to; before any work is done."""
    from unseen.errors import DatasetError

    if not force and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise DatasetError("already exists; choose another folder, or use --force to replace a dataset", path=output)


def _tell(dataset: Dataset, output: Path, as_json: bool) -> None:
    """What a dataset holds, on one line or as JSON."""
    from unseen.cli.console import note, write_json

    counts = _counts(dataset)
    if as_json:
        write_json({"folder": str(output), **counts})
        return
    sides = ", ".join(f"{side} {counts['candidates'][side]:,}" for side in counts["candidates"])
    note(f"wrote {output}: {counts['relations']:,} relations; entities: {sides}; {counts['queries']:,} queries")


def _counts(dataset: Dataset) -> dict[str, Any]:
    from unseen.datasets.dataset import SPLITS

    return {
        "name": dataset.name,
        **{key: dataset.manifest[key] for key in ("layout", "validation", "observe", "ask") if key in dataset.manifest},
        "entities": dataset.vocabulary.num_entities,
        "relations": dataset.vocabulary.num_relations,
        "candidates": {split: len(dataset.candidates(split)) for split in SPLITS},
        "observed": {split: dataset.observed(split).num_triples for split in SPLITS},
        "complete": {split: dataset.complete(split).num_triples for split in SPLITS},
        "to_predict": {"valid": len(dataset.split.valid_predict), "test": len(dataset.split.test_predict)},
        "queries": sum(len(table) for tables in dataset.tables.values() for table in tables.values()),
    }
