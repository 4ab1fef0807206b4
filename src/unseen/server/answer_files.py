"""Answers as files: CSV and Parquet, one row an answer."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from unseen.asking.answers import Answers

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
COLUMNS = ("rank", "entity", "key", "known", "probability")


def as_csv(answers: Answers) -> bytes:
    """The answers as CSV with a header."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([getattr(answer, column) for column in COLUMNS] for answer in answers)
    return text.getvalue().encode("utf-8", "replace")


def as_parquet(answers: Answers) -> bytes:
    """The answers as a Parquet file."""
    types = (pa.int64(), pa.string(), pa.string(), pa.bool_(), pa.float64())
    columns = {
        name: pa.array([getattr(answer, name) for answer in answers], type_)
        for name, type_ in zip(COLUMNS, types, strict=True)
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()
