"""Random graphs with values, and random SPARQL over them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

BASE = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
ENTITIES = [f"<{BASE}e{number}>" for number in range(8)]
RELATIONS = [f"<{BASE}r{number}>" for number in range(3)]
ATTRIBUTES = [f"<{BASE}a{number}>" for number in range(3)]
VALUES = [
    *(f'"{number}"^^<{XSD}integer>' for number in (-3, 0, 1, 2, 5, 10)),
    *(f'"{number}"^^<{XSD}decimal>' for number in ("0.5", "1.5", "5.5")),
    *(f'"{number}"^^<{XSD}double>' for number in ("2.5", "10")),
    '"alpha"',
    '"Beta"',
    '"5"',
    '"alpha"@en',
    '"Gamma"@fr',
    f'"true"^^<{XSD}boolean>',
    f'"false"^^<{XSD}boolean>',
    f'"1900-05-01"^^<{XSD}date>',
    f'"2000-01-01"^^<{XSD}date>',
    f'"2000-01-01T12:00:00Z"^^<{XSD}dateTime>',
    f'"1999"^^<{XSD}gYear>',
]
NUMBERS = [value for value in VALUES if "integer" in value or "decimal" in value or "double" in value]


def random_graph(random: Random) -> str:
    """N-Triples; attributes are mostly numbers, as in graphs that people have."""
    lines = {
        f"{random.choice(ENTITIES)} {random.choice(RELATIONS)} {random.choice(ENTITIES)} ."
        for _ in range(random.randint(4, 16))
    }
    lines |= {f"{entity} {RELATIONS[0]} {ENTITIES[0]} ." for entity in ENTITIES}
    lines |= {f"{ENTITIES[1]} {relation} {ENTITIES[2]} ." for relation in RELATIONS}
    lines |= {f"{ENTITIES[1]} {attribute} {NUMBERS[0]} ." for attribute in ATTRIBUTES}
    for _ in range(random.randint(3, 20)):
        attribute = random.choice(ATTRIBUTES)
        pool = NUMBERS if attribute == ATTRIBUTES[0] else VALUES
        lines.add(f"{random.choice(ENTITIES)} {attribute} {random.choice(pool)} .")
    return "\n".join(sorted(lines)) + "\n"


@dataclass
class RandomQuestion:
    """Builds one query; variables of entities and of values are told apart."""

    random: Random

    def __post_init__(self) -> None:
        self.entities: list[str] = []
        self.values: list[str] = []
        self.number = 0

    def text(self) -> str:
        """A SELECT DISTINCT with everything that can be compared."""
        parts = self.patterns(self.random.randint(1, 4))
        parts += [self.filter() for _ in range(self.random.choice((0, 1, 1, 2)))]
        if self.random.random() < 0.3:
            parts.append(self.inner("FILTER NOT EXISTS"))
        if self.random.random() < 0.2:
            parts.append(self.inner("FILTER EXISTS"))
        if self.random.random() < 0.2:
            parts.append(self.inner("MINUS"))
        if self.random.random() < 0.25:
            parts.append(self.union())
        self.random.shuffle(parts)
        bound = [*self.entities, *self.values]
        selected = self.random.sample(bound, self.random.randint(1, min(3, len(bound))))
        return f"SELECT DISTINCT {' '.join(selected)} WHERE {{ {' '.join(parts)} }}"

    def patterns(self, count: int) -> list[str]:
        self.entities.append("?x")
        found = []
        for _ in range(count):
            subject = self.random.choice(self.entities)
            found.append(self.edge(subject) if self.random.random() < 0.5 else self.value(subject))
        return found

    def edge(self, subject: str) -> str:
        relation, draw = self.random.choice(RELATIONS), self.random.random()
        if draw < 0.3:
            other = self.random.choice(ENTITIES)
        elif draw < 0.5:
            other = self.random.choice(self.entities)
        else:
            other = self.new("e", self.entities)
        return f"{subject} {relation} {other} ." if self.random.random() < 0.5 else f"{other} {relation} {subject} ."

    def value(self, subject: str) -> str:
        attribute, draw = self.random.choice(ATTRIBUTES), self.random.random()
        if draw < 0.15:
            return f"{subject} {attribute} {self.random.choice(VALUES)} ."
        known = self.values and draw < 0.3
        return f"{subject} {attribute} {self.random.choice(self.values) if known else self.new('v', self.values)} ."

    def new(self, letter: str, names: list[str]) -> str:
        self.number += 1
        names.append(f"?{letter}{self.number}")
        return names[-1]

    def filter(self) -> str:
        return f"FILTER({self.expression(2)})"

    def expression(self, depth: int) -> str:
        draw = self.random.random()
        if depth and draw < 0.2:
            return f"({self.expression(depth - 1)} && {self.expression(depth - 1)})"
        if depth and draw < 0.4:
            return f"({self.expression(depth - 1)} || {self.expression(depth - 1)})"
        if depth and draw < 0.55:
            return f"!({self.expression(depth - 1)})"
        return self.test()

    def test(self) -> str:  # noqa: PLR0911 - a table
        if not self.values or self.random.random() < 0.1:
            if len(self.entities) > 1 and self.random.random() < 0.5:
                return f"{self.random.choice(self.entities)} != {self.random.choice(self.entities)}"
            return (
                f"{self.random.choice(self.entities)} {self.random.choice(('=', '!='))} {self.random.choice(ENTITIES)}"
            )
        value, draw = self.random.choice(self.values), self.random.random()
        if draw < 0.1:
            return f'REGEX({value}, "{self.random.choice(("^a", "a$", "A", "[b-t]"))}", "i")'
        if draw < 0.2:
            function = self.random.choice(("STRSTARTS", "CONTAINS", "STRENDS"))
            return f'{function}(STR({value}), "{self.random.choice(("a", "5", "1", "20"))}")'
        if draw < 0.25:
            return f'LANG({value}) = "{self.random.choice(("en", "", "fr"))}"'
        if draw < 0.3:
            return f"isLiteral({self.random.choice([*self.values, *self.entities])})"
        sign = self.random.choice(("=", "!=", "<", "<=", ">", ">="))
        other = self.random.choice(self.values) if self.random.random() < 0.3 else self.random.choice(VALUES)
        return f"{value} {sign} {other}"

    def inner(self, keyword: str) -> str:
        """A group that shares ?x with the rest, and has a value of its own."""
        before, values = list(self.entities), list(self.values)
        own = self.new("w", self.values)
        self.values = [own, *(values if keyword != "MINUS" else [])]
        sign, pool = self.random.choice(("<", ">=", "=", "!=")), NUMBERS
        test = f"FILTER({own} {sign} {self.random.choice(pool)})"
        if keyword != "MINUS" and values and self.random.random() < 0.4:
            test = f"FILTER({own} {sign} {self.random.choice(values)})"
        self.entities, self.values = before, values
        return f"{keyword} {{ ?x {self.random.choice(ATTRIBUTES)} {own} . {test} }}"

    def union(self) -> str:
        self.number += 1
        value = f"?u{self.number}"
        first = f"?x {self.random.choice(ATTRIBUTES)} {value} FILTER({value} > {self.random.choice(NUMBERS)})"
        second = f"?x {self.random.choice(RELATIONS)} {self.random.choice(ENTITIES)}"
        return f"{{ {first} }} UNION {{ {second} }}"
