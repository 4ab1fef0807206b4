"""Named query shapes as templates.

A template is read left to right as one walks: `e` is an entity, `/r` follows a relation, `&`, `|` and `!` are and, or
and not. Its slots, in reading order, are the ids of a query in the published files. A new shape is one line:

    FOUR_HOPS = Shape("4p", "e/r/r/r/r")
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from unseen.errors import QuerySyntaxError
from unseen.logic.algebra import MAX_DEPTH, Anchor, And, Not, Or, Project, Query, conjunction, disjunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Shape:
    """A query with its entities and relations left open."""

    name: str
    template: str

    @cached_property
    def skeleton(self) -> Query:
        """The template as a query whose slots are numbered in reading order."""
        return _TemplateParser(self.template).parse()

    @cached_property
    def slots(self) -> str:
        """What each slot takes, in reading order: a text of `e` and `r`."""
        return "".join(re.findall("[er]", self.template))

    @property
    def has_negation(self) -> bool:
        """Whether the shape negates anything."""
        return "!" in self.template

    def fill(self, values: Sequence[str] | Sequence[int]) -> Query:
        """The query with these entities and relations (read forwards, or directed ids) in the slots, in order."""
        if len(values) != len(self.slots):
            raise ValueError(f"the shape {self.name} has {len(self.slots)} slots, not {len(values)}")
        return _filled(self.skeleton, values)


SHAPES = {
    name: Shape(name, template)
    for name, template in {
        "1p": "e/r",
        "2p": "e/r/r",
        "3p": "e/r/r/r",
        "2i": "e/r & e/r",
        "3i": "e/r & e/r & e/r",
        "ip": "(e/r & e/r)/r",
        "pi": "e/r/r & e/r",
        "2u": "e/r | e/r",
        "up": "(e/r | e/r)/r",
        "2in": "e/r & !e/r",
        "3in": "e/r & e/r & !e/r",
        "inp": "(e/r & !e/r)/r",
        "pin": "e/r/r & !e/r",
        "pni": "!e/r/r & e/r",
    }.items()
}
"""The fourteen shapes of the paper."""


def template_of(query: Query) -> str:
    """The template of a query, without its entities and relations; branches in the order of the query."""
    match query:
        case Project():
            inner = template_of(query.source)
            return f"({inner})/r" if isinstance(query.source, And | Or | Not) else f"{inner}/r"
        case And():
            return " & ".join(_grouped(part, And) for part in query.parts)
        case Or():
            return " | ".join(_grouped(part, Or) for part in query.parts)
        case Not():
            return "!" + _grouped(query.part, Not)
    return "e"


def shape_of(query: Query) -> Shape:
    """The named shape of a query in any order of branches, else an unnamed shape called by its template."""
    canonical = _canonical_template(query)
    for shape in SHAPES.values():
        if _canonical_template(shape.skeleton) == canonical:
            return shape
    template = template_of(query)
    return Shape(template, template)


def slot_values(query: Query) -> list[str | int]:
    """The entities and relations of a query in reading order: what `Shape.fill` takes."""
    match query:
        case Anchor():
            return [query.entity]
        case Project():
            return [*slot_values(query.source), query.relation]
    return [value for child in query.children for value in slot_values(child)]


def _grouped(part: Query, parent: type[Query]) -> str:
    text = template_of(part)
    loose = isinstance(part, And | Or) or (parent is Not and isinstance(part, Not))
    return f"({text})" if loose else text


def _canonical_template(query: Query) -> str:
    """A text that is the same for all orders of branches."""
    inner = [_canonical_template(child) for child in query.children]
    if isinstance(query, And | Or):
        inner.sort()
    return f"{type(query).__name__}({','.join(inner)})"


def _filled(skeleton: Query, values: Sequence[str] | Sequence[int]) -> Query:
    """The skeleton with slot number i replaced by `values[i]`."""
    match skeleton:
        case Anchor(entity=int(slot)):
            return Anchor(values[slot])
        case Project(relation=int(slot)):
            return Project(values[slot], _filled(skeleton.source, values))
        case And():
            return And(tuple(_filled(part, values) for part in skeleton.parts))
        case Or():
            return Or(tuple(_filled(part, values) for part in skeleton.parts))
        case Not():
            return Not(_filled(skeleton.part, values))
    raise TypeError(f"not a skeleton: {skeleton!r}")


class _TemplateParser:
    """Parses a template; each `e` and `r` takes the next slot number."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.tokens = list(re.finditer(r"\S", template))
        self.next_token = 0
        self.next_slot = 0
        self.depth = 0

    def parse(self) -> Query:
        query = self.alternatives()
        if self.next_token < len(self.tokens):
            self.fail("expected `/`, `&`, `|` or the end")
        return query

    def alternatives(self) -> Query:
        return disjunction(list(self.separated("|", lambda: conjunction(list(self.separated("&", self.part))))))

    def separated(self, sign: str, part: Callable[[], Query]) -> Iterator[Query]:
        yield part()
        while self.take(sign):
            yield part()

    def part(self) -> Query:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"it is nested deeper than {MAX_DEPTH} levels")
        query = Not(self.part()) if self.take("!") else self.chain()
        self.depth -= 1
        return query

    def chain(self) -> Query:
        query = self.start()
        while self.take("/"):
            self.expect("r")
            query = Project(self.slot(), query)
        return query

    def start(self) -> Query:
        if self.take("("):
            query = self.alternatives()
            self.expect(")")
            return query
        self.expect("e")
        return Anchor(self.slot())

    def slot(self) -> int:
        self.next_slot += 1
        return self.next_slot - 1

    def take(self, sign: str) -> bool:
        found = self.next_token < len(self.tokens) and self.tokens[self.next_token].group() == sign
        self.next_token += found
        return found

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            self.fail(f"expected `{sign}`")

    def fail(self, problem: str) -> None:
        ended = self.next_token >= len(self.tokens)
        position = len(self.template) if ended else self.tokens[self.next_token].start()
        raise QuerySyntaxError(f"in a shape template: {problem}", text=self.template, position=position)
