"""How the published formats write shapes, queries and relations, and how that is said here.

A structure is a query with letters for ids: `("e", ("r", "r"))` is 2p. Directed relations are numbered r and r + R
(*blocks*) in InductiveQE files, 2r and 2r + 1 (*alternating*) in BetaE and Query2Box files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from unseen.errors import QueryRefused
from unseen.graph.vocabulary import directed_relation, is_inverse, undirected_relation
from unseen.logic.shapes import SHAPES, Shape, template_of
from unseen.logic.tuples import NEGATION, UNION, from_tuple, to_tuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Structure: TypeAlias = "tuple[Any, ...]"

_MARKS = {"n": NEGATION, "u": UNION}
MOST_LETTERS = 1000


@dataclass(frozen=True)
class Numbering:
    """How a format numbers directed relations, of which there are `count`."""

    count: int
    in_blocks: bool

    def split(self, directed: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """The relation of each published number, and whether it is read backwards."""
        if self.in_blocks:
            return directed % (self.count // 2), directed >= self.count // 2
        return directed // 2, directed % 2 == 1

    def to_ours(self, directed: Numbers) -> Numbers:
        """Our directed ids of published numbers."""
        relation, backwards = self.split(directed)
        plain = cast("Any", relation)
        return np.where(backwards, directed_relation(plain, True), directed_relation(plain))

    def join(self, relation: Numbers, backwards: Numbers | bool) -> Numbers:
        """The published number of a relation in one direction: `split` backwards."""
        published: Numbers = relation + backwards * (self.count // 2) if self.in_blocks else 2 * relation + backwards
        return published

    def to_published(self, directed: Numbers) -> Numbers:
        """The published numbers of our directed ids."""
        plain = cast("Any", directed)
        return self.join(cast("Any", undirected_relation(plain)), cast("Any", is_inverse(plain)))


def shape_of_structure(structure: Structure) -> Shape:
    """The shape that a structure of letters stands for, by its name if it has one."""
    template = template_of(from_tuple(_numbered(structure, [MOST_LETTERS])))
    return next((shape for shape in SHAPES.values() if shape.template == template), Shape(template, template))


def structure_of_shape(shape: Shape) -> Structure:
    """The structure of letters of a shape: `shape_of_structure` backwards."""
    return cast("Structure", _lettered(to_tuple(shape.skeleton), shape.slots))


def slots_in_place(structure: Structure, slots: list[int]) -> Structure:
    """The published query with these ids in reading order."""
    return cast("Structure", _filled(structure, iter(slots)))


def _numbered(structure: Any, left: list[int]) -> Any:
    """The structure with a number for each letter; `left` counts down, so that a tangle of references ends."""
    left[0] -= 1
    if left[0] < 0 or not isinstance(structure, tuple | str):
        raise QueryRefused("this is not the structure of a query", place=repr(structure)[:80])
    if isinstance(structure, tuple):
        return tuple(_numbered(part, left) for part in structure)
    if structure in ("e", "r"):
        return 0
    if structure not in _MARKS:
        raise QueryRefused("a structure has only the letters e, r, n and u", place=repr(structure)[:80])
    return _MARKS[structure]


def _lettered(nested: Any, slots: str) -> Any:
    if isinstance(nested, tuple):
        return tuple(_lettered(part, slots) for part in nested)
    return slots[nested] if nested >= 0 else {mark: letter for letter, mark in _MARKS.items()}[nested]


def _filled(structure: Any, slots: Iterator[int]) -> Any:
    if isinstance(structure, tuple):
        return tuple([_filled(part, slots) for part in structure])
    return _MARKS[structure] if structure in _MARKS else next(slots)
