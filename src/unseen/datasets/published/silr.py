"""SILR's files: queries of one split and type as JSON, with their answers and readable texts.

`{train,dev,test}_{1c,2c,3c,2i,3i,ip,pi,2u,up,4c,5c,3ip,i2p}.json`, or several types in one file (`test.json`,
`train_addunion.json`, `test_othertypes.json`), each `{"data": [query, ...]}` with queries of this form:

    {"id": 7, "type": "inter-chain", "query": [[3, [0]], [5, [2]], 4], "ans": [8], "hard_ans": [9], "query_text": ...}

Ids are those of BetaE and Query2Box: 2k and 2k + 1 are one relation in two directions; `stats.txt` counts them. `ans`
are the easy answers or all of them, depending on where SILR took its queries from, so easy is `ans` without `hard_ans`;
training queries have no `hard_ans`. `entity_text.json` has the texts of entities by id, which become their labels.
The files come without a graph: give one with `--graph`, or lay `train.txt`, `valid.txt` and `test.txt` beside them.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.datasets.dataset import SPLITS, Dataset
from unseen.datasets.published.betae import read_transductive
from unseen.datasets.published.queries import Listed, QueryLimits, published_to_slots
from unseen.datasets.query_table import QueryTable, Ragged
from unseen.errors import DatasetError
from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names
from unseen.graph.vocabulary import Vocabulary
from unseen.logic.shapes import SHAPES, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unseen.datasets.published.archive import Archive

    Answers = tuple[list[int], list[int]]

_LINK: tuple[Any, ...] = ("e", ("r",))
JOINED = [Shape("4p", "e/r/r/r/r"), Shape("5p", "e/r/r/r/r/r"), Shape("3ip", "(e/r & e/r & e/r)/r")]
JOINED += [Shape("i2p", "(e/r & e/r)/r/r")]
"""Types that SILR made by joining two queries; their answers are those of the second, from one answer of the first."""
FORMS: dict[str, tuple[Shape, tuple[Any, ...]]] = {
    "1-chain": (SHAPES["1p"], _LINK),
    "2-chain": (SHAPES["2p"], ("e", ("r", "r"))),
    "3-chain": (SHAPES["3p"], ("e", ("r", "r", "r"))),
    "2-inter": (SHAPES["2i"], (_LINK, _LINK)),
    "3-inter": (SHAPES["3i"], (_LINK, _LINK, _LINK)),
    "inter-chain": (SHAPES["ip"], (_LINK, _LINK, "r")),
    "chain-inter": (SHAPES["pi"], (("e", ("r", "r")), _LINK)),
    "2-union": (SHAPES["2u"], (_LINK, _LINK)),
    "union-chain": (SHAPES["up"], (_LINK, _LINK, "r")),
    "4-chain": (JOINED[0], ("e", ("r",) * 4)),
    "5-chain": (JOINED[1], ("e", ("r",) * 5)),
    "3-inter-chain": (JOINED[2], (_LINK, _LINK, _LINK, "r")),
    "inter-2-chain": (JOINED[3], (_LINK, _LINK, "r", "r")),
}
"""For each type: our shape, and the form of a query."""
_SIDES = {"train": "train", "dev": "valid", "valid": "valid", "test": "test"}
_TYPES = "1c|2c|3c|2i|3i|ip|pi|ic|ci|2u|up|uc|4c|5c|3ip|i2p|addunion|othertypes"
_FILE = re.compile(rf"({'|'.join(_SIDES)})(?:_(?:{_TYPES}))?\.json")
_TEXTS = "entity_text.json"


def is_silr(archive: Archive) -> bool:
    """Whether these are SILR's files: queries by type, or the texts of entities beside whole splits."""
    found = [name for name in archive if _FILE.fullmatch(name)]
    return any("_" in name for name in found) or (bool(found) and _TEXTS in archive)


def read_silr(archive: Archive, name: str, graph_files: Sequence[Path]) -> Dataset:
    """The dataset of SILR's files; answers are those of the files."""
    split, limits, notes = read_transductive(archive, graph_files)
    tables: dict[str, dict[str, QueryTable]] = {side: {} for side in SPLITS}
    for side in SPLITS:
        for file in _files(archive, side):
            for shape, found in _read(archive, file, limits, side).items():
                before = tables[side].get(shape)
                tables[side][shape] = found if before is None else _joined(before, found, archive.path(file))
    used = sorted({name for found in tables.values() for name in found} & {shape.name for shape in JOINED})
    if used:
        notes.append(f"{', '.join(used)}: SILR joined two queries and gives the answers of the second alone")
    about = {"kind": "transductive", "answers": "published", **({"notes": notes} if notes else {})}
    vocabulary = Vocabulary(_labelled(archive, split.vocabulary.entities), split.vocabulary.relations)
    return Dataset(name, replace(split, vocabulary=vocabulary), manifest=about).with_queries(tables, {})


def _files(archive: Archive, side: str) -> list[str]:
    """The files of one split."""
    return [name for name in archive if (match := _FILE.fullmatch(name)) and _SIDES[match[1]] == side]


def _labelled(archive: Archive, names: Names) -> Names:
    """The entities with their texts, where the file has one."""
    if _TEXTS not in archive:
        return names
    texts = _json(archive, _TEXTS)
    labels = [texts.get(str(number)) for number in range(len(names))]
    strange = next((number for number, text in enumerate(labels) if not isinstance(text, str | None)), None)
    if strange is not None:
        raise DatasetError(f"the text of the entity {strange} is not text", path=archive.path(_TEXTS))
    return Names(names.kind, names.keys, text_array(labels), names.prefixes)


def _read(archive: Archive, file: str, limits: QueryLimits, side: str) -> dict[str, QueryTable]:
    """The queries of one file by shape."""
    path, entries = archive.path(file), _json(archive, file).get("data")
    if not isinstance(entries, list):
        raise DatasetError('has no list of queries under "data": it is not one of SILR\'s files', path=path)
    found: dict[str, dict[tuple[int, ...], Answers]] = {}
    for number, entry in enumerate(entries):
        kind, ids, answers = _entry(entry, number, limits.num_entities, side, path)
        _add(found.setdefault(kind, {}), ids, answers, path)
    return {FORMS[kind][0].name: _table(kind, queries, limits, path) for kind, queries in found.items()}


def _entry(entry: Any, number: int, num_entities: int, side: str, path: Path) -> tuple[str, tuple[int, ...], Answers]:
    """Type, ids in reading order, easy and hard answers of one query."""
    kind = entry.get("type") if isinstance(entry, dict) else None
    if kind not in FORMS:
        raise DatasetError(f"query {number} has the type {str(kind)[:40]!r}, not one of {', '.join(FORMS)}", path=path)
    ids: list[int] = []
    if not _matches(entry.get("query"), FORMS[kind][1], ids):
        raise DatasetError(
            f"query {number} does not have the form of a {kind}: {str(entry.get('query'))[:80]}", path=path
        )
    hard = set() if side == "train" else _ids(entry.get("hard_ans"), f"hard_ans of query {number}", num_entities, path)
    easy = _ids(entry.get("ans"), f"ans of query {number}", num_entities, path)
    return kind, tuple(ids), (sorted(easy - hard), sorted(hard))


def _matches(nested: Any, form: Any, ids: list[int]) -> bool:
    """Whether nested lists have a form; their ids are put into `ids` in reading order."""
    if isinstance(form, tuple):
        fits = isinstance(nested, list) and len(nested) == len(form)
        return fits and all(_matches(part, inner, ids) for part, inner in zip(nested, form, strict=True))
    ids.append(nested)
    return _is_id(nested)


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _ids(value: Any, what: str, limit: int, path: Path) -> set[int]:
    if not isinstance(value, list) or not all(_is_id(one) and one < limit for one in value):
        raise DatasetError(f"{what} is not a list of entity ids (0 … {limit - 1})", path=path)
    return set(value)


def _add(queries: dict[tuple[int, ...], Answers], ids: tuple[int, ...], answers: Answers, path: Path) -> None:
    """Take note of a query; the same one again must have the same answers."""
    if queries.setdefault(ids, answers) != answers:
        raise DatasetError(f"the query with the ids {list(ids)} stands there twice with different answers", path=path)


def _table(kind: str, queries: dict[tuple[int, ...], Answers], limits: QueryLimits, path: Path) -> QueryTable:
    shape, form = FORMS[kind]
    ids = np.array(list(queries), np.int64).reshape(-1, len(shape.slots))
    slots = published_to_slots(Listed(form, shape, ids, in_set=False), limits, path)
    easy, hard = (Ragged.from_rows([answers[place] for answers in queries.values()]) for place in (0, 1))
    return QueryTable(shape, slots, easy, hard)


def _joined(left: QueryTable, right: QueryTable, path: Path) -> QueryTable:
    """The queries of two files, each once."""
    queries: dict[tuple[int, ...], Answers] = {}
    for table in (left, right):
        for row, ids in enumerate(table.slots.tolist()):
            _add(queries, tuple(ids), (table.easy.row(row).tolist(), table.hard.row(row).tolist()), path)
    easy, hard = (Ragged.from_rows([answers[place] for answers in queries.values()]) for place in (0, 1))
    return QueryTable(left.shape, np.array(list(queries), np.int32).reshape(-1, len(left.shape.slots)), easy, hard)


def _json(archive: Archive, file: str) -> dict[str, Any]:
    try:
        value = json.loads(archive.read(file))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"is not JSON: {str(error)[:80]}", path=archive.path(file)) from None
    if not isinstance(value, dict):
        raise DatasetError("is not a JSON object", path=archive.path(file))
    return value
