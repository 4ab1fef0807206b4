"""Comparisons of values in formulas: `population(x) > 1000`, `founded(x) < 1900-01-01`, `name(x) ~ "^New"`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unseen.graph.attributes.value_kinds import STRING, XSD, Tag
from unseen.logic.formula import Conjunction, Exists, Formula, HasValue, Place, Recorded, Test, Variable
from unseen.logic.values.test_expressions import SIGNS, Compare, Denied, Literal, Text

if TYPE_CHECKING:
    from unseen.logic.formula import Term
    from unseen.logic.values.test_expressions import Expression

SIGN = re.compile(r"<=|>=|!=|!~\*?|~\*?|=|<|>")
_AFTER = r"(?![\w.(])"
VALUES = (
    (re.compile(rf"-?\d{{4,}}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?{_AFTER}"), "dateTime"),
    (re.compile(rf"-?\d{{4,}}-\d\d-\d\d{_AFTER}"), "date"),
    (re.compile(rf"-?\d{{4,}}-\d\d{_AFTER}"), "gYearMonth"),
    (re.compile(rf"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?{_AFTER}"), "double"),
    (re.compile(rf"(?:true|false){_AFTER}"), "boolean"),
)
"""How values are written, and the types that they have."""
EXAMPLES = '`1000`, `1900-01-01`, `"text"`, or `population(y)`'


def compared(attribute: str, subject: Term, sign: str, right: Literal | tuple[str, Term], place: Place) -> Recorded:
    """That a value of an attribute stands in a relation to a value, or to that of another entity."""
    position = place.position or 0
    left = Variable(attribute, -2 * position - 1)
    parts: list[Formula] = [HasValue(attribute, subject, left, place)]
    hidden = [left]
    if isinstance(right, Literal):
        expression = _test(sign, left, right)
        shown = f"{sign} {_shown(right)}"
    else:
        other = Variable(right[0], -2 * position - 2)
        hidden.append(other)
        parts.append(HasValue(*right, other, place))
        expression, shown = Compare(sign, left, other, loose=True), ""
    parts.append(Test(expression, place))
    whole = Exists(tuple(hidden), Conjunction(tuple(parts), place), place)
    return Recorded(whole, place, (attribute, shown) if shown else ("", ""))


def _test(sign: str, left: Variable, right: Literal) -> Expression:
    if sign in SIGNS:
        return Compare(sign, left, right, loose=True)
    test = Text("regex", left, right, "i" if sign.endswith("*") else "", loose=True)
    return Denied(test) if sign.startswith("!") else test


def literal_at(text: str, position: int) -> tuple[Literal, int] | None:
    """The number, date or boolean that is written at a position, and where it ends; None if there is none."""
    for form, name in VALUES:
        match = form.match(text, position)
        if match:
            return Literal(match.group(), Tag(XSD + name)), match.end()
    return None


def _shown(value: Literal) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", value.text) + '"' if value.tag == STRING else value.text
