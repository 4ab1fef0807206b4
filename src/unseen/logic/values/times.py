"""Spans of time: when a day, a month or a year ends, and when a year begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.graph.attributes.value_kinds import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Seconds = NDArray[np.float64]

DAY = 86_400.0
MOST_YEARS = 100_000


def is_year(numbers: Seconds) -> NDArray[np.bool_]:
    """Whether numbers can be years."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.bool_] = (np.abs(numbers) < MOST_YEARS) & (numbers == np.floor(numbers))
    return found


def start_of_year(years: NDArray[Any]) -> Seconds:
    """Seconds from 1970 to the start of years."""
    starts = (years.astype(np.int64) - 1970).astype("datetime64[Y]").astype("datetime64[s]")
    return starts.astype(np.int64).astype(np.float64)


def ends_of(kinds: NDArray[np.uint8], starts: Seconds) -> Seconds:
    """When what begins at some seconds is over: a year, by its number too, a month or a day; others at once."""
    ends = starts.copy()
    ends[kinds == Kind.DATE] += DAY
    for kinds_of_span, unit in (((Kind.YEAR, Kind.NUMBER), "Y"), ((Kind.MONTH,), "M")):
        places = np.isin(kinds, kinds_of_span) & np.isfinite(starts) & (np.abs(starts) < MOST_YEARS * 366 * DAY)
        # noon, so that a time zone does not move it into another year
        spans = (starts[places] + DAY / 2).astype(np.int64).astype("datetime64[s]").astype(f"datetime64[{unit}]") + 1
        ends[places] = spans.astype("datetime64[s]").astype(np.int64)
    return ends
