"""Datasets as commands accept them: a folder, anything published, or the files of a given split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.cli.given import GivenOptions
    from unseen.datasets.dataset import Dataset


def open_dataset(path: Path) -> Dataset:
    """A dataset folder, or anything published that can be imported."""
    from unseen import api
    from unseen.cli.console import progress_bar

    with progress_bar("importing", unit="queries") as bar:
        dataset = api.open_dataset(path, progress=bar)
    if not (path / "manifest.json").is_file():
        tell_notes(dataset, path)
    return dataset


def is_given(path: Path, options: GivenOptions) -> bool:
    """Whether the files of a split are meant: something is said about them, or a folder has nothing else."""
    from unseen.datasets.published import is_published

    is_folder = (path / "manifest.json").is_file()
    if options.inference or options.layout is not None or options.ask is not None:
        if is_folder:
            problem = "is a dataset folder: --inference, --layout and --ask are about files of triples"
            raise DatasetError(problem, path=path)
        return True
    return path.is_dir() and not is_folder and not is_published(path)


def open_given(path: Path, options: GivenOptions) -> Dataset:
    """The dataset of given files, called by their folder."""
    from unseen.cli.given import given_dataset

    return given_dataset([path], path.resolve().name.split(".")[0], options)


def tell_notes(dataset: Dataset, path: Path) -> None:
    """What the user should know about a dataset that was imported, on standard error."""
    from unseen.cli.console import note

    for remark in dataset.manifest.get("notes", ()):
        note(f"{path}: {remark}")
