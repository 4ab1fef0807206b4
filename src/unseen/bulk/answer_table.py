"""Answers to many questions as one table, written part by part.

A row is an answer; `values` and `keys` are JSON objects by variable, for questions with several. A question without
answers, or with an error, has one row without a rank. Parts lie in a folder
beside the table until all are there; then they become the table, in one step. What was answered before an interruption
is not asked again, as long as questions, graph and options are the same.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError
from unseen.graph.files.atomic_file import check_target, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from unseen.asking.answers import Answers
    from unseen.bulk.question_files import AskedQuestion

MANIFEST = "answers.json"
Row = dict[str, Any]


class AnswerParts:
    """The parts of a table that is being written; `identity` says which questions, graph and options they belong to."""

    def __init__(self, output: Path, identity: dict[str, Any], *, restart: bool = False) -> None:
        check_target(output)
        self.output, self.folder = output, output.with_name(f"{output.name}.parts")
        if restart and self.folder.is_dir():
            shutil.rmtree(self.folder)
        self._open(identity)

    def _open(self, identity: dict[str, Any]) -> None:
        self.folder.mkdir(exist_ok=True)
        manifest, identity = self.folder / MANIFEST, identity | {"columns": _schema().names}
        if manifest.exists():
            if json.loads(manifest.read_text(encoding="utf-8")) != identity:
                reason = "holds answers to other questions, of another graph or with other options"
                raise UnseenError(f"{self.folder}: {reason}; --restart starts over")
            return
        with replacing(manifest) as stream:
            stream.write(json.dumps(identity).encode())

    def has(self, number: int) -> bool:
        """Whether a part is there."""
        return self._path(number).exists()

    def write(self, number: int, rows: Sequence[Row]) -> None:
        """Keep the rows of a part; its file is written completely or not at all."""
        import pyarrow as pa
        from pyarrow import parquet

        with replacing(self._path(number)) as stream:
            parquet.write_table(pa.Table.from_pylist(list(rows), _schema()), stream)

    def finish(self, parts: int) -> None:
        """Make the table of all parts, and remove them."""
        from pyarrow import parquet

        with replacing(self.output) as stream, parquet.ParquetWriter(stream, _schema()) as writer:
            for number in range(parts):
                writer.write_table(parquet.read_table(self._path(number), schema=_schema()))
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08}.parquet"


def not_answered(output: Path) -> int:
    """How many questions of a table have an error."""
    from pyarrow import parquet

    errors = parquet.read_table(output, columns=["error"])["error"]
    return int(len(errors) - errors.null_count)


def _schema() -> pa.Schema:
    import pyarrow as pa

    text = pa.large_string()
    return pa.schema(
        [
            ("number", pa.int64()),
            ("id", text),
            ("question", text),
            ("rank", pa.int64()),
            ("entity", text),
            ("key", text),
            ("values", text),
            ("keys", text),
            ("known", pa.bool_()),
            ("probability", pa.float64()),
            ("warnings", text),
            ("error", text),
        ]
    )


def answer_rows(questions: Sequence[AskedQuestion], results: Sequence[Answers | UnseenError]) -> Iterator[Row]:
    """The rows of some questions with their answers, in order."""
    for pair in zip(questions, results, strict=True):
        yield from _rows(*pair)


def _rows(question: AskedQuestion, result: Answers | UnseenError) -> Iterator[Row]:
    asked = {"number": question.number, "id": question.name, "question": question.text}
    if isinstance(result, UnseenError):
        yield asked | {"error": str(result)}
        return
    asked |= {"warnings": "\n".join(result.warnings) or None}
    for answer in result:
        yield asked | {
            "rank": answer.rank,
            "entity": answer.entity,
            "key": answer.key or None,
            "values": json.dumps(answer.values, ensure_ascii=False) if answer.values else None,
            "keys": json.dumps(answer.keys, ensure_ascii=False) if answer.keys else None,
            "known": answer.known,
            "probability": answer.probability,
        }
    if not len(result):
        yield asked
