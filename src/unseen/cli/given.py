"""What `unseen split --given` does: a dataset from the files of a split that someone else has made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.datasets.given_files import GivenFiles

_DRAWN, _GIVEN = ("ratio", "seed", "disjoint"), ("inference", "observe", "layout", "ask")


@dataclass(frozen=True)
class GivenOptions:
    """The user's options for the files of a split."""

    inference: Sequence[Path] = ()
    observe: str | None = None
    layout: str | None = None
    ask: str | None = None
    literals: bool = False
    skip_errors: bool = False


def refuse_mixed(context: typer.Context, given: bool) -> None:
    """Refuse options that only a drawn split has, or only a given one."""
    said = [name for name in (_DRAWN if given else _GIVEN) if _is_said(context, name)]
    if said:
        reason = "nothing is drawn with --given" if given else "only a split that is --given has it"
        raise typer.BadParameter(reason, param_hint=f"--{said[0]}")


def given_dataset(given: Sequence[str | Path], name: str, options: GivenOptions) -> Dataset:
    """The dataset without queries; what its user should know is said on standard error, and in its manifest."""
    from unseen.cli.console import note, progress_bar
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.given_files import given_files
    from unseen.datasets.given_split import given_split

    files = given_files(given, options.inference, options.layout)
    reading = {"literals": options.literals, "skip_errors": options.skip_errors}
    with progress_bar("reading") as progress:
        found = given_split(files, options.observe, options.ask or "test", **reading, progress=progress)
    for remark in (*found.remarks, *_hints(given, files, options)):
        note(remark)
    asked = (
        "there are no validation triples" if files.validation is None else f"validation asks on the {files.validation}"
    )
    note(f"{files.layout.text}; {asked}")
    note(f"at test {_observed(files, found.observe)} are observed")
    source = {"format": "given", "files": [path.name for path in files.paths]}
    about = {"kind": found.kind, "observe": found.observe, "ask": found.ask, "layout": files.layout.name}
    return Dataset(
        name,
        found.split,
        manifest={**about, "validation": files.validation, "source": source, "notes": list(found.remarks)},
    )


_SEEN = {"train": "the training triples", "train+valid": "the training and validation triples"}


def _observed(files: GivenFiles, observe: str) -> str:
    """The triples that are known at test, in words."""
    if files.inference is None:
        return _SEEN[observe]
    shown = files.inference.paths[: 1 + (observe == "train+valid" and files.inference.valid is not None)]
    return f"the triples of {' and '.join(str(path) for path in shown)}"


def _hints(given: Sequence[str | Path], files: GivenFiles, options: GivenOptions) -> list[str]:
    """Hints at options that the user may have wanted."""
    if files.inference is None:
        return _beside(given)
    if options.ask is None and files.training.valid is not None and files.inference.valid is not None:
        hidden = f"{files.inference.valid} is true, but not asked for"
        return [f"{hidden}; --ask valid+test asks for it too, as ULTRA and NBFNet do"]
    return []


def _beside(given: Sequence[str | Path]) -> list[str]:
    """A hint if an inference graph lies beside the only folder that was named."""
    folder = Path(given[0]).resolve()
    other = folder.with_name(f"{folder.name}_ind")
    if len(given) != 1 or not (folder.is_dir() and other.is_dir()):
        return []
    return [f"{other} lies beside it and was not looked at: --inference {other} tests on that graph"]


def _is_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
