"""How far the mean of a sample of queries may lie from that of all queries.

Result files hold means, not the values of single queries. A value between 0 and 1 of mean m has a variance of m (1 - m)
at most, so what is computed here is an upper bound of the standard error. Training seeds are not part of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.evaluation.results import Result


def error_bound(result: Result, types: Sequence[str]) -> float:
    """The largest standard error of the mean Hits@10 over types, in points; NaN if there are none."""
    found = [result.types[name].metrics for name in types if name in result.types]
    variances = [one.hits_at_10 * (1 - one.hits_at_10) / one.queries for one in found if one.queries]
    return 100 * math.sqrt(sum(variances)) / len(variances) if variances else math.nan


def mean_error_bound(results: Sequence[Result], types: Sequence[str]) -> float:
    """The same for the mean over several datasets, whose samples are independent."""
    errors = [error_bound(result, types) for result in results]
    return math.sqrt(sum(error**2 for error in errors)) / len(errors) if errors else math.nan
