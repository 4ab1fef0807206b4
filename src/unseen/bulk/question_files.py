"""Files of questions: text (one a line), JSON lines, or Parquet.

| file | a question is |
| --- | --- |
| `.txt` | a line; empty lines and lines that begin with `#` are skipped |
| `.jsonl` | a line with a text, or with an object: `question`, and if wanted `id` and `top` |
| `.parquet` | a row with the column `question`, and if wanted `id` and `top` |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = (".txt", ".jsonl", ".parquet")


@dataclass(frozen=True)
class AskedQuestion:
    """One question of a file. A line that holds none has the reason as `problem`."""

    number: int
    """Its place among the questions of the file, from 1."""
    text: str
    name: str
    """The `id` that the file gives it, or its number."""
    top: int | None = None
    problem: str = ""


def read_questions(path: Path) -> list[AskedQuestion]:
    """All questions of a file; a row that cannot be read is a question with a problem, never an end."""
    if path.suffix not in KINDS:
        raise UnseenError(f"{path}: questions come as {', '.join(KINDS)}; what is {path.suffix or 'this'!r}?")
    try:
        values = list(_rows(path))
    except OSError as error:
        raise UnseenError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UnseenError(f"{path}: is not UTF-8 text") from None
    return [_question(number, value) for number, value in enumerate(values, start=1)]


def _rows(path: Path) -> Iterator[Any]:
    """What each question of a file is given as: a text, an object, or an error."""
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not (path.suffix == ".txt" and line.lstrip().startswith("#")):
            yield line.strip() if path.suffix == ".txt" else _decoded(line)


def _parquet_rows(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except pa.ArrowInvalid as error:
        raise UnseenError(f"{path}: is not a Parquet file: {error}") from None
    if "question" not in table.column_names:
        raise UnseenError(f"{path}: has no column `question`; it has {', '.join(table.column_names)}")
    yield from table.select([name for name in ("question", "id", "top") if name in table.column_names]).to_pylist()


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        return UnseenError(f"this line is not JSON: {error}")


def _question(number: int, value: Any) -> AskedQuestion:
    if isinstance(value, UnseenError):
        return AskedQuestion(number, "", str(number), problem=str(value))
    fields = value if isinstance(value, dict) else {"question": value}
    text, top = fields.get("question"), fields.get("top")
    name = str(number) if fields.get("id") is None else str(fields["id"])
    if not isinstance(text, str) or not text.strip():
        return AskedQuestion(number, "", name, problem="there is no text under `question`")
    if top is not None and (not isinstance(top, int) or isinstance(top, bool) or top < 1):
        return AskedQuestion(number, text, name, problem=f"`top` must be a number of at least 1, not {top!r}")
    return AskedQuestion(number, text, name, top)
