"""What `unseen split --given` does: a dataset from the files of a split that someone else has made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.benchmark.dataset import Dataset

_DRAWN, _GIVEN = ("ratio", "seed", "disjoint"), ("inference", "observe")


def refuse_mixed(context: typer.Context, given: bool) -> None:
    """Refuse options that only a drawn split has, or only a given one."""
    said = [name for name in (_DRAWN if given else _GIVEN) if _is_said(context, name)]
    if said:
        reason = "nothing is drawn with --given" if given else "only a split that is --given has it"
        raise typer.BadParameter(reason, param_hint=f"--{said[0]}")


def given_dataset(
    given: Sequence[str],
    inference: Sequence[Path],
    observe: str | None,
    name: str,
    *,
    literals: bool = False,
    skip_errors: bool = False,
) -> Dataset:
    """The dataset without queries; what its user should know is said on standard error, and in its manifest."""
    from unseen.benchmark.dataset import Dataset
    from unseen.benchmark.given_files import given_files
    from unseen.benchmark.given_split import given_split
    from unseen.cli.console import note, progress_bar

    files = given_files(given, inference)
    with progress_bar("reading") as progress:
        found = given_split(files, observe, literals=literals, skip_errors=skip_errors, progress=progress)
    for remark in (*found.remarks, *([] if files.inference else _beside(given))):
        note(remark)
    source = {"format": "given", "files": [path.name for path in files.paths]}
    about = {"kind": found.kind, "observe": found.observe, "source": source, "notes": list(found.remarks)}
    note(f"at test {_SEEN[found.observe]} are observed" + (" of the inference graph" if files.inference else ""))
    return Dataset(name, found.split, manifest=about)


_SEEN = {"train": "the training triples", "train+valid": "the training and validation triples"}


def _beside(given: Sequence[str]) -> list[str]:
    """A hint if an inference graph lies beside the only folder that was named."""
    folder = Path(given[0]).resolve()
    other = folder.with_name(f"{folder.name}_ind")
    if len(given) != 1 or not (folder.is_dir() and other.is_dir()):
        return []
    return [f"{other} lies beside it and was not looked at: --inference {other} tests on that graph"]


def _is_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
