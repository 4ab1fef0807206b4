"""Answers as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.asking.answers import Answers

_XSD = "http://www.w3.org/2001/XMLSchema#"
_WHOLE, _BROKEN = f'"^^<{_XSD}integer>', (f'"^^<{_XSD}decimal>', f'"^^<{_XSD}double>', f'"^^<{_XSD}float>')


def answer_table(answers: Answers) -> pa.Table:
    """One row an answer, its own columns first, then those of variables, then those of attributes."""
    columns = {
        "rank": pa.array([answer.rank for answer in answers], pa.int64()),
        "entity": pa.array([answer.entity for answer in answers], pa.large_string()),
        "key": pa.array([answer.key or None for answer in answers], pa.large_string()),
        "known": pa.array([answer.known for answer in answers], pa.bool_()),
        "probability": pa.array([answer.probability for answer in answers], pa.float64()),
    }
    for name in answers.variables:
        texts = [answer.values.get(name) for answer in answers]
        keys = [answer.keys.get(name) for answer in answers]
        if any(keys) and all(key is None or key.startswith('"') for key in keys):  # literals need no key
            columns[_free(name, columns)] = _literals(texts, keys)
        else:
            columns[_free(name, columns)] = pa.array(texts, pa.large_string())
            columns[_free(f"{name}_key", columns)] = pa.array(keys, pa.large_string())
    for name in dict.fromkeys(name for answer in answers for name in answer.attributes):
        texts = [answer.attributes.get(name) for answer in answers]
        columns[_free(name, columns)] = pa.array(texts, pa.large_string())
    return pa.table(columns)


def _free(name: str, columns: dict[str, pa.Array]) -> str:
    """A name for a column that no other one has."""
    while name in columns:
        name += "_"
    return name


def _literals(texts: Sequence[str | None], keys: Sequence[str | None]) -> pa.Array:
    """A column of literals: numbers if all of them are, else texts."""
    written = [key for key in keys if key is not None]
    try:
        if all(key.endswith(_WHOLE) for key in written):
            return pa.array([None if text is None else int(text) for text in texts], pa.int64())
        if all(key.endswith((_WHOLE, *_BROKEN)) for key in written):
            return pa.array([None if text is None else float(text) for text in texts], pa.float64())
    except (ValueError, OverflowError, pa.ArrowInvalid):  # "1"^^xsd:integer may hold any text
        pass
    return pa.array(texts, pa.large_string())
