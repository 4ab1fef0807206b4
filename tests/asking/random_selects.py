"""Random SELECTs over graphs with values: all of SPARQL that a question may have, in any mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.logic.values.random_questions import ATTRIBUTES, ENTITIES, NUMBERS, RELATIONS, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

SIGNS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass
class RandomSelect:
    """Builds one query; variables for entities, for values, and those that may have no value are told apart."""

    random: Random
    entities: list[str] = field(default_factory=lambda: ["?x"])
    values: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)
    number: int = 0

    def text(self) -> str:
        """A SELECT."""
        body = self.body()
        bound = [*self.entities, *self.values, *self.maybe]
        return self.counted(body, bound) if self.random.random() < 0.4 else self.plain(body, bound)

    def plain(self, body: str, bound: list[str]) -> str:
        """A SELECT of variables, which may be in order; pages only of what has one order."""
        chosen = self.some(bound, 3)
        shown = "*" if self.random.random() < 0.1 else " ".join(chosen)
        distinct = self.random.choice(("DISTINCT ", ""))
        tail = ""
        if self.random.random() < 0.3:
            tail = " ORDER BY " + " ".join(self.random.choice((one, f"DESC({one})")) for one in chosen)
            if distinct and shown != "*" and set(chosen) <= set(self.entities):
                tail += f" LIMIT {self.random.randint(1, 9)} OFFSET {self.random.randint(0, 3)}"
        if shown != "*" and self.random.random() < 0.08:
            shown += f" ({self.expression()} AS ?made)"
        return f"SELECT {distinct}{shown} WHERE {body}{tail}"

    def counted(self, body: str, bound: list[str]) -> str:
        """A SELECT of aggregates, mostly with groups."""
        keys = self.some(bound, 2) if self.random.random() < 0.85 else []
        made = [self.aggregate(bound) for _ in range(self.random.choice((1, 1, 2)))]
        shown = " ".join([*keys, *(f"({one} AS ?n{place})" for place, one in enumerate(made))])
        having = ""
        if keys and self.random.random() < 0.3:
            counts = [one for one in made if "COUNT" in one] or ["COUNT(*)"]
            having = f" HAVING ({self.random.choice(counts)} {self.random.choice(SIGNS)} {self.random.randint(0, 3)})"
        group = f" GROUP BY {' '.join(keys)}{having}" if keys else ""
        order = f" ORDER BY DESC(?n0) {' '.join(keys)}" if self.random.random() < 0.3 else ""
        return f"SELECT {shown} WHERE {body}{group}{order}"

    def aggregate(self, bound: list[str]) -> str:
        if self.values and self.random.random() < 0.2:
            return f"{self.random.choice(('SUM', 'MIN', 'MAX', 'AVG'))}({self.random.choice(self.values)})"
        one = self.random.choice(bound)
        return self.random.choice(("COUNT(*)", f"COUNT({one})", f"COUNT(DISTINCT {one})"))

    def some(self, names: list[str], most: int) -> list[str]:
        return self.random.sample(names, self.random.randint(1, min(most, len(names))))

    def body(self) -> str:
        """A group of everything."""
        parts = [self.triple(self.entity()) for _ in range(self.random.randint(1, 4))]
        kinds: list[tuple[float, Callable[[], str]]] = [
            (0.5, lambda: f"FILTER({self.test(2)})"),
            (0.15, lambda: f"FILTER({self.test(2)})"),
            (0.15, lambda: self.inner("FILTER NOT EXISTS")),
            (0.1, lambda: self.inner("FILTER EXISTS")),
            (0.12, lambda: self.inner("MINUS")),
            (0.2, self.union),
            (0.2, self.optional),
            (0.12, lambda: f"BIND({self.expression()} AS {self.new('b', self.maybe)})"),
            (0.12, self.subquery),
            (0.12, self.values_clause),
            (0.1, lambda: f"{{ {self.edge(self.entity())} }}"),
        ]
        parts += [make() for chance, make in kinds if self.random.random() < chance]
        if self.random.random() < 0.3:
            self.random.shuffle(parts)
        return f"{{ {' '.join(parts)} }}"

    def entity(self) -> str:
        return self.random.choice(self.entities)

    def new(self, letter: str, names: list[str]) -> str:
        self.number += 1
        names.append(f"?{letter}{self.number}")
        return names[-1]

    def triple(self, subject: str) -> str:
        return self.edge(subject) if self.random.random() < 0.6 else self.value(subject)

    def path(self) -> str:
        one, other = self.random.choice(RELATIONS), self.random.choice(RELATIONS)
        if self.random.random() < 0.7:
            return one
        single = (f"^{one}", f"{one}/{other}", f"({one}|{other})", f"^{one}/{other}", f"({one}|^{other})")
        repeated = (f"{one}+", f"{one}*", f"{one}?", f"{one}/{other}+", f"({one}/{other})+", f"({one}|{other})*")
        return self.random.choice((*single, *repeated, f"!{one}"))

    def edge(self, subject: str) -> str:
        """A pattern between entities; no step at all would also lead from a value to itself."""
        draw = self.random.random()
        other = (
            self.random.choice(ENTITIES)
            if draw < 0.25
            else self.entity()
            if draw < 0.45
            else "[]"
            if draw < 0.48
            else self.new("e", self.entities)
        )
        ends = [subject, other] if self.random.random() < 0.5 else [other, subject]
        path = self.path()
        kinds = "".join(f" FILTER(isIRI({end}))" for end in ends if end[0] == "?") if path[-1] in "*?" else ""
        more = (
            f" ; {self.random.choice(RELATIONS)} {self.random.choice(ENTITIES)}" if self.random.random() < 0.1 else ""
        )
        return f"{ends[0]} {path} {ends[1]}{more} .{kinds}"

    def value(self, subject: str) -> str:
        attribute, draw = self.random.choice(ATTRIBUTES), self.random.random()
        if draw < 0.15:
            return f"{subject} {attribute} {self.random.choice(VALUES)} ."
        known = self.values and draw < 0.3
        return f"{subject} {attribute} {self.random.choice(self.values) if known else self.new('v', self.values)} ."

    def test(self, depth: int) -> str:
        draw = self.random.random()
        if depth and draw < 0.34:
            return f"({self.test(depth - 1)} {'&&' if draw < 0.17 else '||'} {self.test(depth - 1)})"
        if depth and draw < 0.46:
            return f"!({self.test(depth - 1)})"
        return self.value_test() if self.values and self.random.random() < 0.75 else self.entity_test()

    def entity_test(self) -> str:
        one, other = self.entity(), self.random.choice(ENTITIES)
        tests = [f"{one} = {other}", f"{one} != {other}", f"{one} != {self.entity()}", f"{one} NOT IN ({other})"]
        tests += [f"{one} IN ({other}, {ENTITIES[0]})", f"isIRI({one})", f"sameTerm({one}, {other})"]
        tests += [f'REGEX(STR({one}), "e[1-4]$")', f"BOUND({self.random.choice([one, *self.maybe])})"]
        return self.random.choice(tests)

    def value_test(self) -> str:
        one, sign, given = self.random.choice(self.values), self.random.choice(SIGNS), self.random.choice(VALUES)
        tests = [f"{one} {sign} {given}"] * 8 + [f"{one} {sign} {self.random.choice(self.values)}"] * 4
        tests += [f'REGEX({one}, "[b-t]", "i")', f'CONTAINS(STR({one}), "5")', f'LANG({one}) = "en"']
        tests += [f"isNumeric({one})", f"isLiteral({one})", f"{one} IN ({given}, {VALUES[0]})"]
        tests += [f"{one} + 1 {sign} 3", f"YEAR({one}) {sign} 2000", f"IF(isNumeric({one}), {one} > 1, false)"]
        tests += [f"COALESCE({one} > 1, true)", f'LANGMATCHES(LANG({one}), "*")', f"{one} {sign} 2 * 2.5"]
        return self.random.choice(tests)

    def inner(self, keyword: str) -> str:
        """A group that shares an entity with the rest, and for EXISTS its values too."""
        outside, shared = (list(self.entities), list(self.values)), self.entity()
        self.entities, self.values = [shared], [] if keyword == "MINUS" else self.values
        parts = [self.triple(shared) for _ in range(self.random.randint(1, 2))]
        if self.values and self.random.random() < 0.7:
            parts.append(f"FILTER({self.test(1)})")
        self.entities, self.values = outside
        return f"{keyword} {{ {' '.join(parts)} }}"

    def union(self) -> str:
        one, found = self.entity(), self.new("u", self.maybe)
        first = f"{one} {self.random.choice(ATTRIBUTES)} {found} FILTER({found} > {self.random.choice(NUMBERS)})"
        others = [f"{one} {self.random.choice(RELATIONS)} {self.random.choice(ENTITIES)}"]
        others += [f"{one} {self.random.choice(ATTRIBUTES)} {found}", f"{one} {self.random.choice(RELATIONS)} {found}"]
        return f"{{ {first} }} UNION {{ {self.random.choice(others)} }}"

    def optional(self) -> str:
        one, found = self.entity(), self.new("m", self.maybe)
        inside = f"{one} {self.random.choice((*ATTRIBUTES, *RELATIONS))} {found}"
        if self.random.random() < 0.3:
            inside += f" FILTER({found} != {self.random.choice((*NUMBERS, *ENTITIES))})"
        if self.random.random() < 0.2:
            inside += f" OPTIONAL {{ {found} {self.random.choice(RELATIONS)} {self.new('m', self.maybe)} }}"
        return f"OPTIONAL {{ {inside} }}"

    def expression(self) -> str:
        one = self.random.choice([*self.values, *self.entities])
        made = [one, f"STRLEN(STR({one}))", f"{one} + 1", f"IF({one} > 1, 'a', 'b')", f"CONCAT(STR({one}), '!')", "7"]
        made += [f"COALESCE({self.random.choice([one, *self.maybe])}, 'none')", self.random.choice(ENTITIES)]
        return self.random.choice(made)

    def subquery(self) -> str:
        one, found, relation = self.entity(), self.new("s", self.maybe), self.random.choice(RELATIONS)
        inner = [f"SELECT {one} (COUNT(*) AS {found}) {{ {one} {relation} [] }} GROUP BY {one}"]
        inner += [f"SELECT {one} (MAX(?q) AS {found}) {{ {one} {ATTRIBUTES[0]} ?q }} GROUP BY {one}"]
        inner += [f"SELECT DISTINCT {one} {found} {{ {one} {relation} {found} }}"]
        return f"{{ {self.random.choice(inner)} }}"

    def values_clause(self) -> str:
        one, draw = self.entity(), self.random.random()
        others = [other for other in self.entities if other != one]
        if others and draw < 0.3:
            rows = (f"({self.random.choice([*ENTITIES, 'UNDEF'])} {self.random.choice(ENTITIES)})" for _ in range(2))
            return f"VALUES ({one} {self.random.choice(others)}) {{ {' '.join(rows)} }}"
        if self.values and draw < 0.5:
            return f"VALUES {self.random.choice(self.values)} {{ {' '.join(self.random.sample(VALUES, 2))} }}"
        return f"VALUES {one} {{ {' '.join(self.random.sample(ENTITIES, 3))} }}"
