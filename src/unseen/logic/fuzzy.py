"""Logic on fuzzy sets: memberships between 0 and 1 in place of false and true.

| logic | a and b | a or b |
| --- | --- | --- |
| product | a b | a + b - a b |
| Goedel | min(a, b) | max(a, b) |
| Lukasiewicz | max(0, a + b - 1) | min(1, a + b) |

Negation is 1 - a in all three, or 1 - aˢ with a sharpness s above 1: then only what is all but certain is excluded. On
memberships that are 0 or 1 they all agree with Boolean logic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

Pairwise = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Logic:
    """A triangular norm and its dual; both are elementwise and associative."""

    name: str
    both: Pairwise
    either: Pairwise
    sharpness: float = 1.0

    def conjunction(self, parts: Sequence[Tensor]) -> Tensor:
        """Membership in all parts."""
        return reduce(self.both, parts)

    def disjunction(self, parts: Sequence[Tensor]) -> Tensor:
        """Membership in at least one part."""
        return reduce(self.either, parts)

    def negation(self, part: Tensor) -> Tensor:
        """Membership in the complement."""
        return 1 - (part if self.sharpness == 1 else part**self.sharpness)


PRODUCT = Logic("product", lambda a, b: a * b, lambda a, b: a + b - a * b)
GOEDEL = Logic("goedel", torch.minimum, torch.maximum)
LUKASIEWICZ = Logic("lukasiewicz", lambda a, b: (a + b - 1).clamp(min=0), lambda a, b: (a + b).clamp(max=1))
LOGICS = {logic.name: logic for logic in (PRODUCT, GOEDEL, LUKASIEWICZ)}
