"""What a question is: an expression over five node types, and sets that are given.

A query denotes a set of entities.

| node | denotes |
| --- | --- |
| `Anchor(entity)` | the set of that one entity |
| `Project(relation, source)` | what the relation leads to from any member of `source` |
| `Repeat(relation, source, sign)` | what some steps of `relation` in a row lead to |
| `And(parts)` | members of all parts |
| `Or(parts)` | members of at least one part |
| `Not(part)` | all entities of the graph that are not members of `part` |
| `Given(members)` | exactly these entities: recorded kinds, values that pass a test, everything |
| `Anything()`, `Loop(relation)` | all entities; those related to themselves: `resolving` makes a `Given` of them |
| `Valued(part)` | entities by their recorded values; `resolving` makes a `Given` of it |
| `Graded(degrees)`, `Unrecorded(part)` | entities by probabilities of predicted values; nobody is known to be in them |

The same nodes carry names (as written by a user) or ids (bound to one graph's vocabulary): `bind` turns the first
into the second. In names a relation is followed backwards by `inverse=True`; in ids the direction is part of the id.
Nodes are frozen and hashable, so equal sub-questions are found by a dictionary look-up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused, QuestionTooLarge
from unseen.logic.formula import constants_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from unseen.logic.formula import Recorded, Variable

    Ids = NDArray[np.int32]

MAX_DEPTH = 100
"""Deepest nesting accepted; every walk over a query may therefore be recursive."""
MAX_SIZE = 1 << 17
"""Most nodes of a query, shared ones counted wherever they stand, as every walk meets them there."""


@dataclass(frozen=True)
class Query:
    """Any expression; use one of the five node types."""

    depth: int = field(init=False, repr=False, compare=False, default=1)
    size: int = field(init=False, repr=False, compare=False, default=1)
    """Nodes that a walk meets: a sub-query that stands in two places counts twice."""

    @property
    def children(self) -> tuple[Query, ...]:
        """The direct sub-queries, left to right."""
        return ()

    def __post_init__(self) -> None:
        depth = 1 + max((child.depth for child in self.children), default=0)
        if depth > MAX_DEPTH:
            raise QuestionTooLarge(f"it is nested deeper than {MAX_DEPTH} levels")
        size = 1 + sum(child.size for child in self.children)
        if size > MAX_SIZE:
            raise QuestionTooLarge(
                f"it has more than {MAX_SIZE:,} parts, each alternative on the way to a variable counted"
            )
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "size", size)


@dataclass(frozen=True)
class Anchor(Query):
    """The set that holds one entity, by name or by id."""

    entity: str | int

    def __str__(self) -> str:
        return _show_name(self.entity)


@dataclass(frozen=True)
class Project(Query):
    """Everything that `relation` leads to from a member of `source`.

    `variable` is what the user called a member of `source`; it only serves explanations and is not compared.
    """

    relation: str | int
    source: Query
    inverse: bool = False
    variable: str | None = field(default=None, compare=False, repr=False)

    @property
    def children(self) -> tuple[Query, ...]:
        """The source."""
        return (self.source,)

    def __str__(self) -> str:
        return f"{_show_name(self.relation)}{'⁻¹' if self.inverse else ''}({self.source})"


@dataclass(frozen=True)
class Repeat(Query):
    """What steps of a relation lead to from a member of `source`: `+` one or more, `*` any number, `?` one or none.

    `resolving` makes known steps and a few predicted ones of it.
    """

    relation: str | int
    source: Query
    sign: str
    inverse: bool = False
    variable: str | None = field(default=None, compare=False, repr=False)

    @property
    def children(self) -> tuple[Query, ...]:
        """The source."""
        return (self.source,)

    def __str__(self) -> str:
        return f"{_show_name(self.relation)}{'⁻¹' if self.inverse else ''}{self.sign}({self.source})"


@dataclass(frozen=True)
class And(Query):
    """Members of all parts; at least one part."""

    parts: tuple[Query, ...]

    def __post_init__(self) -> None:
        _require_parts(self.parts)
        super().__post_init__()

    @property
    def children(self) -> tuple[Query, ...]:
        """The parts."""
        return self.parts

    def __str__(self) -> str:
        return " ∧ ".join(_show_part(part) for part in self.parts)


@dataclass(frozen=True)
class Or(Query):
    """Members of at least one part; at least one part."""

    parts: tuple[Query, ...]

    def __post_init__(self) -> None:
        _require_parts(self.parts)
        super().__post_init__()

    @property
    def children(self) -> tuple[Query, ...]:
        """The parts."""
        return self.parts

    def __str__(self) -> str:
        return " ∨ ".join(_show_part(part) for part in self.parts)


@dataclass(frozen=True)
class Not(Query):
    """All entities of the graph that are not in `part`."""

    part: Query

    @property
    def children(self) -> tuple[Query, ...]:
        """The negated part."""
        return (self.part,)

    def __str__(self) -> str:
        return f"¬{_show_part(self.part)}"


class Members:
    """Sorted ids of entities that can be compared and hashed as a whole."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self._digest = hashlib.blake2b(ids.tobytes(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Members) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Members({len(self.ids):,})"


@dataclass(frozen=True)
class Given(Query):
    """Exactly some entities, by id: nothing is predicted about who belongs to them."""

    members: Members
    text: str = field(default="", compare=False)
    """What the question says about a member, after its name: `a Country`."""

    def __str__(self) -> str:
        return f"{{{self.text or f'{len(self.members):,} entities'}}}"


class Degrees:
    """Sorted ids of entities with a probability each, that can be compared and hashed as a whole."""

    def __init__(self, ids: Ids, degrees: NDArray[np.float32]) -> None:
        self.ids, self.degrees = ids, degrees
        self._digest = hashlib.blake2b(ids.tobytes() + degrees.tobytes(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Degrees) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Degrees({len(self.ids):,}, {self._digest.hex()})"


@dataclass(frozen=True)
class Graded(Query):
    """Entities that each belong to a set with some probability; those of one `cause` rise and fall together."""

    degrees: Degrees
    cause: str

    def __str__(self) -> str:
        return f"{{{self.cause}: {self.degrees}}}"


@dataclass(frozen=True)
class Unrecorded(Query):
    """The members of `part`, all of them only predicted: none is known."""

    part: Query

    @property
    def children(self) -> tuple[Query, ...]:
        """The part."""
        return (self.part,)

    def __str__(self) -> str:
        return f"predicted {self.part}"


@dataclass(frozen=True)
class Anything(Query):
    """All entities: a variable of which nothing else is said."""

    def __str__(self) -> str:
        return "anything"


@dataclass(frozen=True)
class Valued(Query):
    """The entities of which something about recorded values holds; `constants` are the ids of entities it names."""

    part: Recorded
    variable: Variable
    text: str | None = field(default=None, compare=False)
    """The question as written, to show the place of an error."""
    constants: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{{{' '.join(self.part.written).strip() or 'by values'}}}"


@dataclass(frozen=True)
class Loop(Query):
    """What a relation leads from to itself, as the graph records it."""

    relation: str | int

    def __str__(self) -> str:
        return f"{_show_name(self.relation)}(x, x)"


def conjunction(parts: list[Query]) -> Query:
    """`And` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def disjunction(parts: list[Query]) -> Query:
    """`Or` of the parts, or the only part itself."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def walk(query: Query) -> Iterator[Query]:
    """Every node of the expression, children before parents, repeated where they are repeated."""
    for child in query.children:
        yield from walk(child)
    yield query


def rebuild(query: Query, children: tuple[Query, ...]) -> Query:  # noqa: PLR0911  # one for each kind of node
    """The same node over other children."""
    match query:
        case Project():
            return Project(query.relation, children[0], query.inverse, query.variable)
        case Repeat():
            return replace(query, source=children[0])
        case And():
            return And(children)
        case Or():
            return Or(children)
        case Not():
            return Not(children[0])
        case Unrecorded():
            return Unrecorded(children[0])
    return query


def bind(query: Query, entity_id: Callable[[str], int], relation_id: Callable[[str, bool], int]) -> Query:
    """The query with ids in place of names; nodes that carry ids already stay as they are, and so does `Anything`."""
    if isinstance(query, Anchor):
        return Anchor(entity_id(query.entity)) if isinstance(query.entity, str) else query
    if isinstance(query, Valued):
        names = dict.fromkeys(constant.name for constant in constants_of(query.part.part))
        return replace(query, constants=tuple((name, entity_id(name)) for name in names))
    if isinstance(query, Loop):
        return Loop(relation_id(query.relation, False)) if isinstance(query.relation, str) else query
    children = tuple(bind(child, entity_id, relation_id) for child in query.children)
    if isinstance(query, Project) and isinstance(query.relation, str):
        return Project(relation_id(query.relation, query.inverse), children[0], variable=query.variable)
    if isinstance(query, Repeat) and isinstance(query.relation, str):
        found = relation_id(query.relation, query.inverse)
        return Repeat(found, children[0], query.sign, variable=query.variable)
    return rebuild(query, children)


def unbind(query: Query, entity_name: Callable[[int], str], relation_name: Callable[[int], tuple[str, bool]]) -> Query:
    """The query with names in place of ids: `bind` backwards."""
    if isinstance(query, Anchor):
        return Anchor(entity_name(query.entity)) if isinstance(query.entity, int) else query
    if isinstance(query, Loop):
        return Loop(relation_name(query.relation)[0]) if isinstance(query.relation, int) else query
    children = tuple(unbind(child, entity_name, relation_name) for child in query.children)
    if isinstance(query, Project) and isinstance(query.relation, int):
        name, inverse = relation_name(query.relation)
        return Project(name, children[0], inverse, query.variable)
    if isinstance(query, Repeat) and isinstance(query.relation, int):
        name, inverse = relation_name(query.relation)
        return Repeat(name, children[0], query.sign, inverse, query.variable)
    return rebuild(query, children)


def _require_parts(parts: tuple[Query, ...]) -> None:
    if not parts:
        raise QueryRefused("a conjunction or disjunction needs at least one part")


def _show_name(name: str | int) -> str:
    return name if isinstance(name, str) else f"#{name}"


def _show_part(part: Query) -> str:
    return f"({part})" if isinstance(part, And | Or) else str(part)
