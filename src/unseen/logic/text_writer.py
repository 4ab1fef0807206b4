"""A query back into the readable syntax; what `parse_formula` reads again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unseen.logic.algebra import Anchor, And, Anything, Given, Loop, Not, Or, Project, Query, Valued
from unseen.logic.text import BARE_NAME, is_keyword
from unseen.logic.variables import ANSWER, inner_variables, with_variables

if TYPE_CHECKING:
    from collections.abc import Collection


def to_formula(query: Query, answer: str = ANSWER) -> str:
    """The question as text; the query carries names."""
    named = with_variables(query, answer)
    variables = {answer, *inner_variables(named)}
    return f"?{answer} : {_open(named, answer, variables)}"


def statement(query: Query, entity: str) -> str:
    """What a query with names says about an entity, as a formula without an answer variable."""
    named = with_variables(query, answer="")
    variables = set(inner_variables(named))
    return _open(named, quoted(entity, variables), variables)


def _open(query: Query, variable: str, variables: Collection[str]) -> str:
    """What a query says about `variable`, as a formula that may need parentheses in a larger one."""
    match query:
        case And():
            return " & ".join(_closed(part, variable, variables) for part in query.parts)
        case Or():
            return " | ".join(_closed(part, variable, variables) for part in query.parts)
        case Not():
            return "!" + _closed(query.part, variable, variables)
        case Project(source=Anchor() as anchor):
            return _atom(query, quoted(str(anchor.entity), variables), variable)
        case Project(variable=str(inner)):
            source = "" if isinstance(query.source, Anything) else f"{_conjunct(query.source, inner, variables)} & "
            return f"exists {inner} . {source}{_atom(query, inner, variable)}"
    return _leaf(query, variable, variables)


def _leaf(query: Query, variable: str, variables: Collection[str]) -> str:
    match query:
        case Given(text=str(text)) if text:
            return f"{variable} {text}"
        case Valued() if query.part.written[0]:
            attribute, test = query.part.written
            return f"{quoted(attribute)}({variable}) {test}"
        case Valued():
            return f"{variable} passes a test of values"
        case Loop():
            return f"{quoted(str(query.relation))}({variable}, {variable})"
        case Anchor():
            return f"{variable} = {quoted(str(query.entity), variables)}"
    raise TypeError(f"not a named query: {query!r}")


def _closed(query: Query, variable: str, variables: Collection[str]) -> str:
    text = _open(query, variable, variables)
    simple = isinstance(query, Not | Anchor | Valued) or (
        isinstance(query, Project) and isinstance(query.source, Anchor)
    )
    return text if simple else f"({text})"


def _conjunct(query: Query, variable: str, variables: Collection[str]) -> str:
    """Like `_open`, but safe to be followed by `&`."""
    return _open(query, variable, variables) if isinstance(query, And) else _closed(query, variable, variables)


def _atom(step: Project, source: str, target: str) -> str:
    ends = f"{target}, {source}" if step.inverse else f"{source}, {target}"
    return f"{quoted(str(step.relation))}({ends})"


def quoted(name: str, variables: Collection[str] = ()) -> str:
    """The name as it is written in a question: plain where that reads back as the same name, else quoted."""
    if re.fullmatch(r"<[^<>\s]*>", name):
        return name
    if BARE_NAME.fullmatch(name) and not is_keyword(name) and name not in variables:
        return name
    return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
