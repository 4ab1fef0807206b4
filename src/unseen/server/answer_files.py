"""Answers as files: CSV and Parquet, one row an answer, with the columns of `Answers.to_arrow`."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

if TYPE_CHECKING:
    from unseen.asking.answers import Answers

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"


def as_csv(answers: Answers) -> bytes:
    """The answers as CSV with a header."""
    table = answers.to_arrow()
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.column_names)
    writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return text.getvalue().encode("utf-8", "replace")


def as_parquet(answers: Answers) -> bytes:
    """The answers as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(answers.to_arrow(), sink)
    return sink.getvalue()
