"""Which rows pass a test of values. Every result is a pair: where the test is true, and where it is an error.

Comparisons are those of SPARQL: numbers by value whatever their type; texts, booleans and dates with their like;
anything else has no order, which is an error. In `loose` comparisons, those of formulas, dates of all kinds are points
in time, a value on the right that says only a day, a month or a year stands for all of it, and texts count whatever
their language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.arrow_arrays import TEXT, id_array, text_array
from unseen.graph.attributes.literal_table import LiteralTable
from unseen.graph.attributes.value_kinds import IN_TIME, STRING, TEXTS, Kind
from unseen.graph.prefixes import iri_of
from unseen.logic.formula import Constant, Variable
from unseen.logic.stopping import check_stop
from unseen.logic.values.matching import matched
from unseen.logic.values.test_expressions import Both, Compare, Denied, Either, IsKind, Literal, Text, TextOf
from unseen.logic.values.times import ends_of, is_year

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.logic.values.test_expressions import Expression, Operand

    Ids = NDArray[np.int32]
    Mask = NDArray[np.bool_]
    Outcome = tuple[Mask, Mask]
    """Where a test is true, and where it is an error."""


MOST_ROWS, MOST_BYTES = 1 << 17, 1 << 25
"""Rows that are tested together, and about how many bytes of texts."""


@dataclass(frozen=True)
class _Column:
    """One operand for all rows: places in a table of literals, or entities where the place is negative."""

    literals: LiteralTable
    places: NDArray[np.int64]
    entities: NDArray[np.int64]
    names: Callable[[NDArray[np.int64]], list[str]]

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        found = np.full(len(self.places), Kind.ENTITY, np.uint8)
        found[self._has] = self.literals.kinds[self.places[self._has]]
        return found

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        found = np.full(len(self.places), np.nan)
        found[self._has] = self.literals.numbers[self.places[self._has]]
        return found

    @cached_property
    def texts(self) -> pa.Array:
        """The text of each value; null for entities."""
        return self._taken(self.literals.texts, self.places)

    @cached_property
    def tags(self) -> pa.Array:
        """Type and language of each value as one text."""
        tags = text_array(["\0".join(tag) for tag in self.literals.tags])
        return self._taken(tags, self._tag_numbers)

    def _taken(self, texts: pa.Array, places: NDArray[np.int64]) -> pa.Array:
        """Some of the texts, null where the place is negative."""
        if self._has.all():
            return texts.take(id_array(places))
        return texts.take(pa.array(places, mask=~self._has))

    @property
    def _tag_numbers(self) -> NDArray[np.int64]:
        found = np.full(len(self.places), -1)
        found[self._has] = self.literals.tag_numbers[self.places[self._has]]
        return found

    @property
    def _has(self) -> Mask:
        return self.places >= 0


class RowTests:
    """Tests on tables of values; a node is the id of an entity, or the number of entities and a place in `literals`."""

    def __init__(self, graph: KnowledgeGraph, entity_id: Callable[[str], int]) -> None:
        self.graph, self.entity_id = graph, entity_id

    def passing(self, expression: Expression, columns: Mapping[Variable, Ids], rows: int) -> Mask:
        """The rows for which an expression is true; some after the others, because of each its texts are taken."""
        size = min(MOST_ROWS, max(1, MOST_BYTES // max(1, self.graph.attributes.literals.longest)))
        found = []
        for start in range(0, rows, size):
            check_stop()
            piece = {variable: column[start : start + size] for variable, column in columns.items()}
            found.append(self._outcome(expression, piece, min(size, rows - start))[0])
        return np.concatenate(found) if found else np.zeros(0, bool)

    def _outcome(self, expression: Expression, columns: Mapping[Variable, Ids], rows: int) -> Outcome:
        match expression:
            case Both() | Either():
                return _combined(expression, [self._outcome(part, columns, rows) for part in expression.parts])
            case Denied():
                true, error = self._outcome(expression.part, columns, rows)
                return ~true & ~error, error
            case Compare():
                left, right = (self._column(one, columns, rows) for one in (expression.left, expression.right))
                return (_loosely if expression.loose else _compared)(expression.sign, left, right)
            case Text():
                return _text_test(expression, self._column(expression.operand, columns, rows))
            case IsKind():
                return _is_kind(expression.kind, self._column(expression.operand, columns, rows))

    def _column(self, operand: Operand, columns: Mapping[Variable, Ids], rows: int) -> _Column:
        match operand:
            case Variable():
                return self._of_nodes(columns[operand].astype(np.int64))
            case Constant():
                return self._of_nodes(np.full(rows, self.entity_id(operand.name), np.int64))
            case Literal():
                own = LiteralTable.of_pairs([(operand.text, operand.tag)])
                return _Column(own, np.zeros(rows, np.int64), np.full(rows, -1), self._names)
            case TextOf():
                return self._text_of(operand.part, self._column(operand.operand, columns, rows))

    def _of_nodes(self, nodes: NDArray[np.int64]) -> _Column:
        places = nodes - self.graph.num_entities
        is_value = places >= 0
        entities = np.where(is_value, -1, nodes)
        return _Column(self.graph.attributes.literals, np.where(is_value, places, -1), entities, self._names)

    def _names(self, entities: NDArray[np.int64]) -> list[str]:
        keys: list[str] = self.graph.vocabulary.entities.keys.take(id_array(entities)).to_pylist()
        return keys

    def _text_of(self, part: str, column: _Column) -> _Column:
        """A column of plain texts: errors are entities, which no test of texts takes."""
        is_entity = column.kinds == Kind.ENTITY
        if part == "LANG":
            languages = [(tag or "\0").partition("\0")[2] for tag in column.tags.to_pylist()]
            texts: list[str | None] = [None if one else text for one, text in zip(is_entity, languages, strict=True)]
        else:
            texts = column.texts.to_pylist()
            places = np.flatnonzero(is_entity)
            for place, key in zip(places.tolist(), column.names(column.entities[places]), strict=True):
                texts[place] = None if key.startswith("_:") else iri_of(key)
        encoded = pa.array(texts, TEXT).dictionary_encode()
        distinct = LiteralTable.of(encoded.dictionary, np.zeros(len(encoded.dictionary), np.int32), [STRING])
        found = np.array([-1 if one is None else one for one in encoded.indices.to_pylist()], np.int64)
        return _Column(distinct, found, np.full(len(found), -1), column.names)


def _combined(expression: Both | Either, outcomes: list[Outcome]) -> Outcome:
    """And, or, with errors: what decides alone does so whatever is an error beside it."""
    true = [outcome[0] for outcome in outcomes]
    false = [~outcome[0] & ~outcome[1] for outcome in outcomes]
    if isinstance(expression, Both):
        holds, fails = np.logical_and.reduce(true), np.logical_or.reduce(false)
    else:
        holds, fails = np.logical_or.reduce(true), np.logical_and.reduce(false)
    return holds, ~holds & ~fails


def _compared(sign: str, left: _Column, right: _Column) -> Outcome:
    same = left.kinds == right.kinds
    with np.errstate(invalid="ignore"):
        equal, less, more = (
            same & one
            for one in (left.numbers == right.numbers, left.numbers < right.numbers, left.numbers > right.numbers)
        )
    is_text = same & np.isin(left.kinds, TEXTS)
    is_other, is_entity = same & (left.kinds == Kind.OTHER), same & (left.kinds == Kind.ENTITY)
    # engines order no booleans, so neither does this
    comparable = same & ~is_other & ~is_entity & (left.kinds != Kind.BOOLEAN)
    if is_text.any() or is_other.any():
        same_tag = _true(pc.equal(left.tags, right.tags))
        equal |= (is_text | is_other) & same_tag & _true(pc.equal(left.texts, right.texts))
        less |= is_text & same_tag & _true(pc.less(left.texts, right.texts))
        more |= is_text & same_tag & _true(pc.greater(left.texts, right.texts))
        comparable &= ~is_text | same_tag
    equal |= is_entity & (left.entities == right.entities)
    if sign not in ("=", "!="):
        is_same = equal & (is_other | (left.kinds == Kind.BOOLEAN))
        return _ordered(sign, equal, less, more) & (comparable | is_same), ~comparable & ~is_same
    one_is_other = (left.kinds == Kind.OTHER) | (right.kinds == Kind.OTHER)
    apart = np.isin(left.kinds, (Kind.LANGUAGE, Kind.ENTITY)) | np.isin(right.kinds, (Kind.LANGUAGE, Kind.ENTITY))
    error = one_is_other & ~equal & ~apart
    return (equal if sign == "=" else ~equal & ~error), error


def _ordered(sign: str, equal: Mask, less: Mask, more: Mask) -> Mask:
    match sign:
        case "<":
            return less
        case "<=":
            return less | equal
        case ">":
            return more
        case ">=":
            return more | equal
        case "=":
            return equal
    return less | more


def _loosely(sign: str, left: _Column, right: _Column) -> Outcome:
    """The comparison of formulas; what cannot be compared is an error, for `!=` too."""
    left_time, right_time = _in_time(left, right), _in_time(right, left)
    times = left_time & right_time
    first, last = np.where(times, _starts(right, times), right.numbers), right.numbers
    begins = np.where(times, _starts(left, times), left.numbers)
    last = np.where(times, ends_of(right.kinds, first), last)
    comparable = times | ((left.kinds == right.kinds) & np.isin(left.kinds, (Kind.NUMBER, Kind.BOOLEAN, Kind.TIME)))
    with np.errstate(invalid="ignore"):
        less = comparable & (begins < first)
        equal = comparable & (begins >= first) & ((begins < last) | (begins == first))
        more = comparable & ~less & ~equal & (begins > first)
    is_text = np.isin(left.kinds, TEXTS) & np.isin(right.kinds, TEXTS)
    if is_text.any():
        equal |= is_text & _true(pc.equal(left.texts, right.texts))
        less |= is_text & _true(pc.less(left.texts, right.texts))
        more |= is_text & _true(pc.greater(left.texts, right.texts))
    return _ordered(sign, equal, less, more), ~comparable & ~is_text


def _in_time(column: _Column, other: _Column) -> Mask:
    """Where a value is a date, or a whole number beside a date, which is a year."""
    years = (column.kinds == Kind.NUMBER) & np.isin(other.kinds, IN_TIME) & is_year(column.numbers)
    found: Mask = np.isin(column.kinds, IN_TIME) | years
    return found


def _starts(column: _Column, times: Mask) -> NDArray[np.float64]:
    """Seconds since 1970 at which each value begins; years are numbers beside dates."""
    from unseen.logic.values.times import start_of_year

    starts = column.numbers.copy()
    years = times & (column.kinds == Kind.NUMBER)
    starts[years] = start_of_year(column.numbers[years])
    return starts


def _text_test(test: Text, column: _Column) -> Outcome:
    is_text = np.isin(column.kinds, TEXTS)
    if test.pattern.tag.language and not test.loose:
        is_text &= _true(pc.equal(column.tags, pa.scalar("\0".join(test.pattern.tag), TEXT)))
    texts, pattern = column.texts, test.pattern.text
    match test.test:
        case "regex":
            found = matched(texts, pattern, test.flags)
        case "starts":
            found = pc.starts_with(texts, pattern)
        case "ends":
            found = pc.ends_with(texts, pattern)
        case "contains":
            found = pc.match_substring(texts, pattern)
        case _:
            lowered = pc.utf8_lower(texts)
            wanted = pattern.lower()
            exact = pc.or_(pc.equal(lowered, pa.scalar(wanted, TEXT)), pc.starts_with(lowered, f"{wanted}-"))
            found = pc.not_equal(texts, pa.scalar("", TEXT)) if pattern == "*" else exact
    return is_text & _true(found), ~is_text


def _is_kind(kind: str, column: _Column) -> Outcome:
    no_error = np.zeros(len(column.kinds), bool)
    is_entity = column.kinds == Kind.ENTITY
    if kind == "literal":
        return ~is_entity, no_error
    if kind == "numeric":
        return column.kinds == Kind.NUMBER, no_error
    is_blank = np.zeros(len(is_entity), bool)
    places = np.flatnonzero(is_entity)
    is_blank[places] = [key.startswith("_:") for key in column.names(column.entities[places])]
    return (is_blank if kind == "blank" else is_entity & ~is_blank), no_error


def _true(found: pa.Array) -> Mask:
    values: Mask = found.fill_null(False).to_numpy(zero_copy_only=False)
    return values
