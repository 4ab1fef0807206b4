"""A shape as small programs over its slots: one that answers its queries, one that grounds them from an answer.

Answering runs bottom-up on a stack of entity sets. Grounding runs top-down: every relation is drawn at the entity that
stands on its target side, and steps to a source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.logic.shapes import Shape

ANCHOR, STEP, PROJECT, BOTH, EITHER, COMPLEMENT = range(6)
"""Operations: push an anchor; push one step from an anchor; step from the top; join the top two; negate the top."""


def answering_program(shape: Shape) -> NDArray[np.int32]:
    """Rows (operation, slot, slot) that leave the answers of a query on the stack."""
    rows: list[tuple[int, int, int]] = []
    _append_operations(shape.skeleton, rows)
    return np.array(rows, np.int32)


def stack_depth(program: NDArray[np.int32]) -> int:
    """How many sets the stack holds at most."""
    change = {ANCHOR: 1, STEP: 1, BOTH: -1, EITHER: -1}
    return int(np.cumsum([change.get(operation, 0) for operation in program[:, 0].tolist()]).max())


def _append_operations(query: Query, rows: list[tuple[int, int, int]]) -> None:
    match query:
        case Anchor(entity=int(slot)):
            rows.append((ANCHOR, slot, 0))
        case Project(relation=int(slot), source=Anchor(entity=int(anchor))):
            rows.append((STEP, anchor, slot))
        case Project(relation=int(slot)):
            _append_operations(query.source, rows)
            rows.append((PROJECT, slot, 0))
        case Not():
            _append_operations(query.part, rows)
            rows.append((COMPLEMENT, 0, 0))
        case And() | Or():
            _append_operations(query.parts[0], rows)
            for part in query.parts[1:]:
                _append_operations(part, rows)
                rows.append((BOTH if isinstance(query, And) else EITHER, 0, 0))


@dataclass(frozen=True)
class GroundingStep:
    """One slot to fill: at the source reached by step `at` (-1: the root answer).

    `relation` slots draw one, not straight back over the one drawn by step `after` (-1: any); `positive` ones do not
    stand under a negation.
    """

    slot: int
    relation: bool
    at: int
    after: int
    positive: bool


def grounding_steps(shape: Shape, *, across_branches: bool) -> list[GroundingStep]:
    """The slots from the answer to the anchors; the way back is barred within a chain, or also across branches."""
    steps: list[GroundingStep] = []

    def append(query: Query, at: int, after: int, positive: bool) -> None:
        match query:
            case Anchor(entity=int(slot)):
                steps.append(GroundingStep(slot, relation=False, at=at, after=-1, positive=False))
            case Project(relation=int(slot)):
                steps.append(GroundingStep(slot, relation=True, at=at, after=after, positive=positive))
                append(query.source, len(steps) - 1, len(steps) - 1, positive)
            case Not():
                append(query.part, at, after, False)
            case And() | Or():
                for part in query.parts:
                    append(part, at, after if across_branches else -1, positive)

    append(shape.skeleton, -1, -1, True)
    return steps


def positive_links(query: Query) -> int:
    """The most edges that an answer can rest on: negated parts count nothing, of alternatives the largest counts."""
    match query:
        case Not():
            return 0
        case Project():
            return 1 + positive_links(query.source)
        case Or():
            return max(positive_links(part) for part in query.parts)
    return sum(positive_links(child) for child in query.children)
