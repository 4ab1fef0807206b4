"""Statements with literals as values of their subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.database.triple_forms import LABEL_PREDICATE, is_literal, keys_of, quads_of
from unseen.graph.attributes.collecting import rows_of
from unseen.graph.attributes.value_kinds import LANGUAGE_TYPE, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unseen.database.journal import Statement
    from unseen.graph.attributes import ValueRows


def changed_values(pending: Mapping[Statement, bool]) -> tuple[ValueRows | None, ValueRows | None]:
    """The values that statements add, and those that they remove; by each statement whether it is there now."""
    values = {s: is_there for s, is_there in pending.items() if is_literal(s[2]) and s[1] != LABEL_PREDICATE}
    added, removed = ([s for s, there in values.items() if there == is_there] for is_there in (True, False))
    return _rows(added), _rows(removed)


def _rows(statements: Iterable[Statement]) -> ValueRows | None:
    found = list(statements)
    if not found:
        return None
    literals = [quad.object for quad in quads_of(found)]
    keys = [keys_of((subject, predicate, predicate)) for subject, predicate, _ in found]
    return rows_of(
        (subject, attribute, literal.value, _tag(literal))
        for (subject, attribute, _), literal in zip(keys, literals, strict=True)
    )


def _tag(literal: object) -> Tag:
    language = getattr(literal, "language", None)
    return Tag(literal.datatype.value) if language is None else Tag(LANGUAGE_TYPE, language)  # type: ignore[attr-defined]
