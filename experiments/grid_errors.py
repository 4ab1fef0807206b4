"""What can go wrong with the grid.

```
UnseenError
└── ReproductionError        a grid that cannot be planned, run or written up as asked for
    └── CellMissing          a cell that cannot be filled here and now; its reason is written down
```
"""

from __future__ import annotations

from unseen.errors import UnseenError


class ReproductionError(UnseenError):
    """A grid that cannot be planned, run or written up as asked for."""


class CellMissing(ReproductionError):
    """A cell that cannot be filled here and now; its reason is written down."""
