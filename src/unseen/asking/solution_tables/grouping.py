"""Groups and counts: how many are known, how many are expected, and an interval.

What is known is counted by exact SPARQL, so it is what any engine says. Beyond that every predicted solution counts by
its probability: for each group the core is asked with the group's values, or, where something around the core says
what the group is, the most probable solutions of the core are counted into their groups.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.asking.solution_tables.uncertain_count import UncertainCount
from unseen.asking.solution_tables.wanted import ExactRows, Predicted, incomplete, table_of
from unseen.database.relation_store import key_of_term, term_of_key, text_of_term
from unseen.errors import QueryRefused
from unseen.logic.outer_form import HAVING_COUNT
from unseen.logic.stopping import check_stop
from unseen.probability.answer_counts import expected_number

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any

    from unseen.asking.answers import Answers
    from unseen.asking.solution_tables.wanted import Wanted
    from unseen.database.relation_store import Row
    from unseen.logic.outer_form import Count, CountComparison, Grouping, OuterForm

    Rows = list[tuple[Row, float, bool]]
    Values = tuple[str | None, ...]

MOST_GROUPS = 32
"""Groups whose expected counts are computed, those that come first by what is known."""
MORE_GROUPS = 8
"""Groups of which nothing is known that are looked for."""
MOST_COUNTED = 2_000
"""Predicted solutions of a group that are counted, the most probable ones."""
MOST_SOLUTIONS = 1_000
"""Predicted solutions that are counted into groups that something around the core decides."""
MOST_KNOWN = 1_000_000
LEAST = 0.01
"""Groups that are less probable are not shown."""
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
_DECIMAL = "<http://www.w3.org/2001/XMLSchema#decimal>"


class Beyond(NamedTuple):
    """What is expected beyond the known number, and the ends of an interval."""

    expected: float
    low: int
    high: int

    @classmethod
    def of(cls, answers: Answers) -> Beyond:
        """Beyond the known answers to a question: by all candidates, or, where only some were tried, by those."""
        number = answers.expected
        if number is not None:
            return cls(number.mean - answers.known, number.low - answers.known, number.high - answers.known)
        return cls.by([answer.probability for answer in answers if not answer.known])

    @classmethod
    def by(cls, probabilities: Sequence[float]) -> Beyond:
        """Beyond what is known, by the probabilities of what is not."""
        number = expected_number(np.array(probabilities, np.float64))
        return cls(number.mean, number.low, number.high)


@dataclass
class CountedGroup:
    """One group: what is known of it, and the probabilities of what is counted beyond that."""

    row: Row
    is_known: bool = True
    passes: bool = True
    """Whether what is known of it passes HAVING."""
    likely: float = 0.0
    """How probable it is that there is such a group at all."""
    counted: dict[Count, list[float]] = field(default_factory=dict)
    beyond: dict[Count, Beyond] = field(default_factory=dict)


def grouped(
    form: OuterForm, wanted: int, *, exact: bool
) -> Generator[Wanted, Any, tuple[tuple[str, ...], Rows, tuple[str, ...]]]:
    """The columns, the rows in order, and warnings about them."""
    grouping = form.grouping
    if grouping is None:
        raise TypeError("nothing is counted")
    groups, warnings = yield from _known(form, grouping)
    if not exact:
        is_inside = not form.outer and set(grouping.keys) <= set(form.core.variables) - form.core.value_names
        warnings += yield from (_by_group if is_inside else _by_solution)(form, grouping, groups, wanted)
    rows = [_row(grouping, one) for one in groups.values()]
    shown = sorted((one for one in rows if one[2] or one[1] >= LEAST), key=lambda one: _place(grouping, one))
    suffixes = ("",) if exact else ("", "_expected", "_low", "_high")
    counts = {count.name for count in grouping.counts}
    columns = [f"{name}{suffix}" for name in form.columns for suffix in (suffixes if name in counts else ("",))]
    return tuple(columns), shown, warnings


def _known(
    form: OuterForm, grouping: Grouping
) -> Generator[Wanted, Any, tuple[dict[Values, CountedGroup], tuple[str, ...]]]:
    """The groups that the graph has, by their values, and warnings about them."""
    if not form.group:
        most = MOST_KNOWN if grouping.keys else 1
        found: Answers = yield Predicted((*grouping.keys, *_counted(form, grouping.counts[0])), top=most, exact=True)
        return _counted_known(grouping, found), found.warnings
    rows: list[Row] = yield ExactRows(form.known_groups(with_having=False))
    groups = {_values(grouping, row): CountedGroup(row) for row in rows}
    if grouping.having is not None:
        passing = yield ExactRows(form.known_groups(with_having=True))
        kept = {_values(grouping, row) for row in passing}
        for values, group in groups.items():
            group.passes = values in kept
    return groups, ()


def _counted_known(grouping: Grouping, found: Answers) -> dict[Values, CountedGroup]:
    numbers: dict[tuple[str, ...], int] = defaultdict(int)
    if not grouping.keys:
        numbers[()] = found.known
    elif found.known > len(found):
        reason = f"it has {found.known:,} known solutions, and only {len(found):,} are counted by group here"
        raise QueryRefused(f"{reason}: ask in SPARQL, with GROUP BY, or say more about the variables")
    else:
        for answer in found:
            numbers[tuple(term_of_key(answer.keys[key]) for key in grouping.keys)] += 1
    name = grouping.counts[0].name
    return {
        values: CountedGroup(dict(zip(grouping.keys, values, strict=True)) | {name: _number(number)})
        for values, number in numbers.items()
    }


def _by_group(
    form: OuterForm, grouping: Grouping, groups: dict[Values, CountedGroup], wanted: int
) -> Generator[Wanted, Any, tuple[str, ...]]:
    """Count what is predicted of the first groups, each with its own values."""
    rows = sorted(groups.items(), key=lambda pair: _place(grouping, _row(grouping, pair[1])))
    chosen = dict(rows[: max(MOST_GROUPS, min(wanted, 2 * MOST_GROUPS))])
    warnings = list[str]()
    if len(chosen) < min(len(groups), wanted):
        warnings.append(f"expected counts are computed for the first {len(chosen)} groups")
    if grouping.keys:
        found: Answers = yield Predicted(grouping.keys, top=MORE_GROUPS, predicted_only=True)
        for answer in found:
            keys = answer.keys or {grouping.keys[0]: answer.key}
            row = {key: term_of_key(keys[key]) for key in grouping.keys}
            values: Values = tuple(row.values())
            row |= {one.name: _number(0) for one in grouping.counts}
            chosen[values] = groups[values] = CountedGroup(row, is_known=False, passes=False, likely=answer.probability)
    questions = [
        Predicted(_counted(form, count), _given(grouping, values), MOST_COUNTED, predicted_only=True)
        for values in chosen
        for count in _uncertain(grouping)
        if _counted(form, count) and all(value is not None and not value.startswith("_:") for value in values)
    ]
    distinct = list(dict.fromkeys(questions))
    answered: list[Answers] = (yield distinct) if distinct else []
    found_by = {
        key: ([answer.probability for answer in one], Beyond.of(one))
        for key, one in zip(distinct, answered, strict=True)
    }
    for values, group in chosen.items():
        check_stop()
        for count in _uncertain(grouping):
            if not _counted(form, count):  # the group itself is all there is to count
                group.counted[count] = [] if group.is_known else [group.likely]
                group.beyond[count] = Beyond.by(group.counted[count])
                continue
            key = Predicted(_counted(form, count), _given(grouping, values), MOST_COUNTED, predicted_only=True)
            if key in found_by:
                group.counted[count], group.beyond[count] = found_by[key]
    return tuple(dict.fromkeys([*warnings, *(w for one in answered for w in (*one.warnings, *incomplete(one)))]))


def _given(grouping: Grouping, values: Values) -> tuple[tuple[str, str], ...]:
    return tuple((key, key_of_term(value or "")) for key, value in zip(grouping.keys, values, strict=True))


def _by_solution(
    form: OuterForm, grouping: Grouping, groups: dict[Values, CountedGroup], _wanted: int
) -> Generator[Wanted, Any, tuple[str, ...]]:
    """Count the most probable solutions of the core into their groups."""
    found: Answers = yield Predicted(form.needed, top=MOST_SOLUTIONS, predicted_only=True)
    rows: list[Row] = yield ExactRows(form.around(table_of(form.needed, list(found))))
    scores: dict[tuple[Values, Count], dict[object, float]] = defaultdict(dict)
    for place, row in enumerate(rows):
        score, values = float(text_of_term(row["score"])), _values(grouping, row)
        for count in _uncertain(grouping):
            if count.variable is not None and count.variable not in row:
                continue
            what = row[count.variable] if count.is_distinct and count.variable else place
            seen = scores[values, count]
            seen[what] = max(score, seen.get(what, 0.0))
    for (values, count), seen in scores.items():
        if values not in groups:
            shown = {key: value for key, value in zip(grouping.keys, values, strict=True) if value is not None}
            row = shown | {one.name: _number(0) for one in grouping.counts}
            groups[values] = CountedGroup(row, is_known=False, passes=False)
        check_stop()
        groups[values].counted[count] = list(seen.values())
        groups[values].beyond[count] = Beyond.by(groups[values].counted[count])
        groups[values].likely = max(groups[values].likely, *seen.values())
    return (*found.warnings, *incomplete(found))


def _uncertain(grouping: Grouping) -> list[Count]:
    """What is counted: for the table, and for HAVING."""
    more = [grouping.having.counted] if grouping.having and not grouping.having.counted.name else []
    return list(dict.fromkeys([*grouping.counts, *more]))


def _counted(form: OuterForm, count: Count) -> tuple[str, ...]:
    """The variables of which each combination of values counts once."""
    keys = form.grouping.keys if form.grouping else ()
    if count.is_distinct and count.variable is not None:
        return () if count.variable in keys else (count.variable,)
    return tuple(name for name in form.core.variables if name not in keys)


def _values(grouping: Grouping, row: Row) -> Values:
    return tuple(row.get(key) for key in grouping.keys)


def _row(grouping: Grouping, group: CountedGroup) -> tuple[Row, float, bool]:
    """One group as a row, its probability, and whether it is known."""
    check_stop()
    row = dict(group.row)
    for count in grouping.counts:
        if count in group.beyond:
            known, beyond = _known_number(row, count), group.beyond[count]
            row[f"{count.name}_expected"] = f'"{known + beyond.expected:.2f}"^^{_DECIMAL}'
            row |= {
                f"{count.name}_low": _number(known + beyond.low),
                f"{count.name}_high": _number(known + beyond.high),
            }
    having = grouping.having
    if having is not None:
        return row, _chance_of(group, having), group.is_known and group.passes
    return row, 1.0 if group.is_known else group.likely, group.is_known


def _chance_of(group: CountedGroup, having: CountComparison) -> float:
    """How probable it is that a group passes HAVING."""
    count = having.counted
    if count not in group.counted:
        return float(group.passes)
    number = UncertainCount.of(_known_number(group.row, count), group.counted[count])
    return number.chance(having.sign, having.number)


def _known_number(row: Row, count: Count) -> int:
    name = count.name or HAVING_COUNT
    return int(text_of_term(row[name])) if name in row else 0


def _place(grouping: Grouping, one: tuple[Row, float, bool]) -> tuple[object, ...]:
    """What rows are sorted by: the columns that the question names, else the known ones with the largest counts."""
    row, probability, is_known = one
    if not grouping.order:
        counts = [-_known_number(row, count) for count in _uncertain(grouping)]
        expected = [-_sortable(row.get(f"{count.name}_expected"))[0] for count in grouping.counts]
        return (not is_known, *counts, *expected, -probability)
    columns = {**row, "score": f'"{probability}"', "known": f'"{int(is_known)}"'}
    keys = []
    for order in grouping.order:
        number, text = _sortable(columns.get(order.name))
        keys.append((-number, _falling(text)) if order.is_falling else (number, text))
    return (*keys, not is_known)


def _sortable(term: str | None) -> tuple[float, str]:
    """A number where a term is one, and its text."""
    if term is None:
        return 0.0, ""
    text = text_of_term(term)
    try:
        return float(text), ""
    except ValueError:
        return 0.0, text


def _falling(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)


def _number(value: int) -> str:
    return f'"{value}"^^{_INTEGER}'
