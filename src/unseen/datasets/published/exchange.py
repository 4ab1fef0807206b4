"""Import and export of the formats in which benchmarks of this field are published.

| format | what | files |
| --- | --- | --- |
| `inductiveqe` | the paper's archives | `train_graph.txt`, `val_inference.txt`, ..., `train_queries.pkl`, ... |
| `betae` | BetaE folders | `train.txt`, ..., `train-queries.pkl`, `test-easy-answers.pkl`, ... |
| `query2box` | Query2Box folders | `test_triples_1c.pkl`, `test_ans_1c.pkl`, `test_ans_1c_hard.pkl`, ... |
| `npz` | graphs and queries as arrays; answers are computed | one file `<ratio>.npz` |
| `silr` | SILR's JSON; read, not written | `test_1c.json`, ..., `entity_text.json`, `stats.txt` |

Each may lie in a folder or in a zip archive. All numbering of relations is translated here and in
the files beside this one, nowhere else.
"""

from __future__ import annotations

import re
import shutil
import uuid
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.datasets.dataset import ANSWER_DEFINITIONS, Dataset
from unseen.datasets.published.archive import Archive, open_archives
from unseen.datasets.published.betae import betae_files, is_betae, read_betae
from unseen.datasets.published.fitting import fitted
from unseen.datasets.published.inductive import inductive_files, is_inductive, read_inductive
from unseen.datasets.published.npz import npz_files, read_npz
from unseen.datasets.published.query2box import is_query2box, query2box_files, read_query2box
from unseen.datasets.published.silr import is_silr, read_silr
from unseen.datasets.split import NAMED_SHARES
from unseen.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Progress = Callable[[int, int], None]
    Files = Iterator[tuple[str, Iterable[bytes]]]

FORMATS: dict[str, Callable[[Dataset], Files]] = {
    "inductiveqe": inductive_files,
    "betae": betae_files,
    "query2box": query2box_files,
    "npz": npz_files,
}
_RECOGNISED = {"inductiveqe": is_inductive, "query2box": is_query2box, "betae": is_betae, "silr": is_silr}
_TRANSDUCTIVE = {"query2box": read_query2box, "betae": read_betae, "silr": read_silr}


def import_dataset(
    path: str | Path,
    *,
    graph_files: Sequence[Path] = (),
    folder: str | None = None,
    name: str | None = None,
    relations: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """The dataset of a published file or folder, whose format is recognized by its files.

    `graph_files` are training, validation and test triples with names: the graph of a BetaE or Query2Box folder that
    comes without one, and the names of an InductiveQE archive. `folder` chooses one of several in an archive.
    `relations` is how many relations an .npz file has that does not say it.
    """
    source = Path(path)
    archives = open_archives(source)
    if "graph" in archives and source.suffix == ".npz":
        if graph_files:
            raise DatasetError("an .npz file says nothing that names could be found by: leave out --graph", path=source)
        dataset, form = read_npz(archives, name or source.stem, source, relations, progress), "npz"
    elif relations is not None:
        raise DatasetError(
            "only an .npz file may leave open how many relations there are: leave out --relations", path=source
        )
    else:
        archive, form = _chosen(archives, folder, source)
        dataset = _read(archive, form, name or _name_of(archive, source), graph_files)
    about = {"format": form, "name": source.name}
    return dataset.with_queries(dataset.tables, dataset.training_answers, **_manifest(dataset, about))


def is_published(path: Path) -> bool:
    """Whether a folder holds a published dataset."""
    return any(_form_of(archive) is not None for archive in open_archives(path).values())


def _chosen(archives: dict[str, Archive], folder: str | None, source: Path) -> tuple[Archive, str]:
    """The only folder that is a dataset, or the one asked for."""
    forms = {where: _form_of(archive) for where, archive in archives.items() if not where.startswith("__MACOSX")}
    found = {where: (archives[where], form) for where, form in forms.items() if form is not None}
    names = ", ".join(repr(where) for where in sorted(found))
    if folder is not None:
        matches = [entry for where, entry in found.items() if where == folder or where.endswith(f"/{folder}")]
        if len(matches) != 1:
            raise DatasetError(f"has no dataset folder {folder!r}; there are: {names or 'none'}", path=source)
        return matches[0]
    if not found:
        known = "InductiveQE, BetaE, Query2Box, SILR or .npz"
        problem = f"has none of the files by which a published dataset is known ({known})"
        raise DatasetError(f"{problem}; files of triples become a dataset by `unseen split --given`", path=source)
    if len(found) > 1:
        raise DatasetError(f"holds several datasets; choose one with --folder: {names}", path=source)
    return next(iter(found.values()))


def _form_of(archive: Archive) -> str | None:
    """The format by whose files a folder is known."""
    return next((form for form, recognised in _RECOGNISED.items() if recognised(archive)), None)


def _read(archive: Archive, form: str, name: str, graph_files: Sequence[Path]) -> Dataset:
    if form == "inductiveqe":
        from unseen.graph.files.readers import read_graph

        return read_inductive(archive, name, read_graph(*graph_files).graph if graph_files else None)
    return _TRANSDUCTIVE[form](archive, name, graph_files)


def _name_of(archive: Archive, source: Path) -> str:
    return archive.where.name if archive.where != source else source.stem


def _manifest(dataset: Dataset, source: dict[str, str]) -> dict[str, Any]:
    """Where a dataset comes from, and what easy and hard mean in it."""
    ratio = re.search(r"(\d{3})$", dataset.name)
    named = int(ratio.group(1)) if ratio and int(ratio.group(1)) in NAMED_SHARES else None
    definition = str(dataset.manifest["answers"])
    return {"ratio": named, "seed": None, "source": source, "answers_mean": ANSWER_DEFINITIONS[definition]}


def export_dataset(dataset: Dataset, path: str | Path, form: str, types: Sequence[str] | None = None) -> list[str]:
    """Write a dataset in a published format, as a folder, or as an archive if the name ends in .zip.

    `types` are the query types to write, all by default. What the format cannot hold is refused (see `fitting`); the
    answer says what a reader should know. The formats are pickles by definition: nowhere else does the project write
    any.
    """
    if form not in FORMATS:
        raise DatasetError(f"there is no format {form!r}; available: {', '.join(FORMATS)}", path=path)
    target = Path(path)
    if form == "npz" and target.suffix != ".npz":
        raise DatasetError("the name of an npz file must end in .npz", path=target)
    if target.exists():
        raise DatasetError("already exists; remove it or choose another name", path=target)
    fitting, remarks = fitted(dataset, form, types)
    fresh = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write = _write_zip if target.suffix in (".zip", ".npz") else _write_folder
        write(fresh, FORMATS[form](fitting))
        fresh.rename(target)
    except OSError as error:
        raise DatasetError(f"cannot be written: {error.strerror or error}", path=target) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True) if fresh.is_dir() else fresh.unlink(missing_ok=True)
    return remarks


def _write_folder(folder: Path, files: Files) -> None:
    folder.mkdir()
    for name, pieces in files:
        with (folder / name).open("wb") as stream:
            stream.writelines(pieces)


def _write_zip(path: Path, files: Files) -> None:
    """A zip archive without times, so that equal data give equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as stream:
                for piece in pieces:
                    stream.write(piece)
