"""Which files are the training, validation and test triples of a split that someone else has made.

| what is given | what it is taken for |
| --- | --- |
| three files | training, validation and test triples, in this order; two: training and test |
| a folder | its files by the words in their names: `train`, `valid` (`val`, `dev`), `test` |
| a folder where some of the names also say `ind` (`inference`), or one is `msg` | those are the inference graph |
| of these a validation file that says no graph | of the graph that `given_layout` finds, or the user names |
| of these one that says no part, as `inference.txt` or `inference_graph.txt` | what is observed of that graph |
| a folder of two folders, one of which says `ind` | the training graph and the inference graph |

Files of one folder that are no graphs, or say none of these words, are not looked at. Files of numbers as OpenKE writes
them (`train2id.txt`) are refused: their columns are head, tail, relation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.datasets.given_layout import (
    GRAIL,
    ILPC,
    INGRAM,
    TRANSDUCTIVE,
    Layout,
    checked,
    known_layout,
    layout_of_validation,
)
from unseen.errors import DatasetError
from unseen.graph.files.formats import SUFFIXES, is_compressed

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLES = {"train": "train", "msg": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid"}
ROLES |= {"test": "test"}
INFERENCE = {"ind", "inference", "inductive", "msg"}
"""Words by which a file or folder belongs to the graph that a model meets after training."""
ORDER = ("train", "valid", "test")
LISTS = {"entity", "entities", "relation", "relations", "id", "ids", "names", "labels", "types"}
"""Words of files that list or describe what a graph has, and are no triples unless they say which."""
NAMED_IN_ERRORS = 5


@dataclass(frozen=True)
class Parts:
    """The files of one graph: what is observed, what validation asks for, what test asks for."""

    train: Path
    valid: Path | None = None
    test: Path | None = None

    @property
    def paths(self) -> list[Path]:
        """All files there are, in order."""
        return [path for path in (self.train, self.valid, self.test) if path is not None]


@dataclass(frozen=True)
class GivenFiles:
    """The files of the training graph, and those of the inference graph if that is another one."""

    training: Parts
    layout: Layout
    inference: Parts | None = None

    @property
    def validation(self) -> str | None:
        """The graph that validation asks on; None without validation triples."""
        if self.training.valid is not None:
            return "training graph"
        return "inference graph" if self.inference is not None and self.inference.valid is not None else None

    @property
    def paths(self) -> list[Path]:
        """All files, those of the training graph first."""
        return self.training.paths + ([] if self.inference is None else self.inference.paths)


def given_files(
    given: Sequence[str | Path], inference: Sequence[str | Path] = (), layout: str | None = None
) -> GivenFiles:
    """The files that make a split, of a `layout` if one is stated; what cannot make one is refused."""
    sources, others = [Path(source) for source in given], [Path(source) for source in inference]
    for source in (*sources, *others):
        if not source.exists():
            raise DatasetError("there is no such file or folder", path=source)
    files = _found(sources, others, known_layout(layout, sources[0]))
    for path in files.paths:
        _check_file(path, files.paths)
    asked = files.training if files.inference is None else files.inference
    if asked.test is None:
        which = "graph to ask on" if files.inference is not None else "split"
        beside = "" if asked.train in (*sources, *others) else _passed_over(asked.train.parent)
        problem = f"this {which} has no file of test triples{beside}"
        raise DatasetError(f"{problem}: name training, validation and test files", path=asked.train)
    return files


def _check_file(path: Path, paths: list[Path]) -> None:
    """Refuse a file that stands for two parts, or whose columns stand in another order than they would be read in."""
    if paths.count(path) > 1:
        raise DatasetError("is given twice: each part of a split is a file of its own", path=path)
    if _stem(path).endswith("2id"):
        problem = "is named as OpenKE names its files: a line with a count, then head, tail, relation"
        raise DatasetError(f"{problem}. Write head, relation, tail without the count, under another name", path=path)


def _found(sources: list[Path], others: list[Path], stated: str | None) -> GivenFiles:
    if others:
        reason = "the files of each graph are named"
        return GivenFiles(_parts(sources), checked(stated, GRAIL, reason, others[0]), _parts(others))
    if len(sources) == 1 and sources[0].is_dir():
        return _folder(sources[0], stated)
    return GivenFiles(_parts(sources), checked(stated, TRANSDUCTIVE, "one graph is named", sources[0]))


def _parts(sources: list[Path]) -> Parts:
    """The files of one graph, from a folder or named one by one."""
    if len(sources) == 1 and sources[0].is_dir():
        return _of_folder(sources[0], _graph_files(sources[0]))
    _check_order(sources)
    if len(sources) == 1:
        return Parts(sources[0])
    if len(sources) == 2:
        is_valid = _role(sources[1]) == "valid"
        return Parts(sources[0], sources[1], None) if is_valid else Parts(sources[0], None, sources[1])
    if len(sources) == 3:
        return Parts(*sources)
    raise DatasetError("a given split is a folder, or its training, validation and test files", path=sources[-1])


def _check_order(sources: list[Path]) -> None:
    """Refuse files whose names all say that they stand in another order."""
    for source in sources:
        if source.is_dir():
            raise DatasetError("is a folder among several names: give the folder alone, or files", path=source)
    roles = [_role(source) for source in sources]
    if (
        None not in roles
        and len(set(roles)) == len(roles)
        and roles != sorted(roles, key=lambda r: ORDER.index(str(r)))
    ):
        raise DatasetError("is in the wrong order: give training, validation, then test triples", path=sources[0])


def _folder(folder: Path, stated: str | None) -> GivenFiles:
    """A folder with everything: one graph, or a training graph and an inference graph."""
    files = _graph_files(folder)
    marked = [path for path in files if _words(path) & INFERENCE]
    if not files:
        return _two_folders(folder, stated)
    if not marked:
        layout = checked(stated, TRANSDUCTIVE, "no file of an inference graph is there", folder)
        return GivenFiles(_of_folder(folder, files), layout)
    rest = [path for path in files if path not in marked]
    if any(_role(path) == "test" for path in marked):
        training = _of_folder(folder, rest)
        found = ILPC if training.valid is None else GRAIL
        layout = checked(stated, found, "names say which files are of the inference graph", folder)
        return GivenFiles(training, layout, _of_folder(folder, marked))
    return _one_validation(folder, rest, marked, stated)


def _one_validation(folder: Path, rest: list[Path], marked: list[Path], stated: str | None) -> GivenFiles:
    """Files of two graphs whose names leave open to which of them the validation triples belong."""
    training = [path for path in rest if _role(path) == "train"]
    asked = [path for path in rest if path not in training]
    whole = GivenFiles(_of_folder(folder, training), Layout(INGRAM, ""), _of_folder(folder, marked + asked))
    trained, inference = whole.training, whole.inference
    if inference is None or inference.valid is None or inference.valid in marked:
        reason = "no file of validation triples leaves the graph open"
        return replace(whole, layout=checked(stated, INGRAM, reason, folder))
    layout = layout_of_validation(trained.train, inference.train, inference.valid, stated)
    if layout.name == INGRAM:
        return replace(whole, layout=layout)
    return GivenFiles(replace(trained, valid=inference.valid), layout, replace(inference, valid=None))


def _two_folders(folder: Path, stated: str | None) -> GivenFiles:
    """A training graph and an inference graph in folders of their own."""
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and _graph_files(path)]
    marked = [path for path in inside if _words(path) & INFERENCE]
    if len(inside) != 2 or len(marked) != 1:
        problem = f"has no files called train, valid and test that could be a graph{_passed_over(folder)}"
        raise DatasetError(f"{problem}: name them", path=folder)
    training = next(path for path in inside if path not in marked)
    layout = checked(stated, GRAIL, "each graph has a folder", folder)
    parts = [_of_folder(one, _graph_files(one)) for one in (training, marked[0])]
    return GivenFiles(parts[0], layout, parts[1])


def _of_folder(folder: Path, files: list[Path]) -> Parts:
    """The parts of a graph among files; two files for one part are an error that names both."""
    found: dict[str, Path] = {}
    for role in ORDER:
        fitting = [path for path in files if _role(path) == role]
        exact = [path for path in fitting if _stem(path) in ROLES]
        chosen = exact if len(exact) == 1 else fitting
        if len(chosen) > 1:
            names = ", ".join(path.name for path in chosen)
            raise DatasetError(f"has several files that could be the {role} triples ({names}): name them", path=folder)
        if chosen:
            found[role] = chosen[0]
    if "train" not in found:
        problem = f"has no file called train that could be a graph{_passed_over(folder)}"
        raise DatasetError(f"{problem}: name the files one by one", path=folder)
    return Parts(found["train"], found.get("valid"), found.get("test"))


def _graph_files(folder: Path) -> list[Path]:
    """The files of a folder that say what part of a split they are."""
    return [path for path in sorted(folder.iterdir()) if path.is_file() and _is_table(path) and _role(path)]


def _passed_over(folder: Path) -> str:
    """The names of files that say no part of a split, for errors; nothing if there are none."""
    looked_at = _graph_files(folder)
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    names = [path.name for path in files if path not in looked_at]
    more = ", …" if len(names) > NAMED_IN_ERRORS else ""
    return f" (passed over: {', '.join(names[:NAMED_IN_ERRORS])}{more})" if names else ""


def _is_table(path: Path) -> bool:
    suffix = _uncompressed(path).suffix.lower()
    return suffix in SUFFIXES and suffix != ".zip"


def _role(path: Path) -> str | None:
    """The part that a file is by its name; none if its words say none or several."""
    words = _words(path)
    found = {ROLES[word] for word in words if word in ROLES}
    if not found and words & INFERENCE and not words & LISTS:
        return "train"
    return found.pop() if len(found) == 1 else None


def _words(path: Path) -> set[str]:
    return set(re.findall(r"[a-z]+", _stem(path)))


def _stem(path: Path) -> str:
    """The name in small letters without the endings that say its format; other dots are part of it."""
    bare = _uncompressed(path)
    return (bare.stem if bare.suffix.lower() in SUFFIXES else bare.name).lower()


def _uncompressed(path: Path) -> Path:
    return path.with_suffix("") if is_compressed(path) else path
