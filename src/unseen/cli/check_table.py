"""The table of a check: a row for each relation, a column for each method, and what it means in words."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from unseen.evaluation.check_result import CheckResult, CheckScore

WIDTH = 80
"""Columns of the table where there is no terminal."""
LONGEST_METHOD = 9
NOTHING = "-"
HOW_TO_READ = (
    "Hits@1/Hits@10 in per cent. says, true: what probability the best method gives its first predictions, and how "
    "many of them are true. Every question here has a hidden answer, which one of yours may not have, so true is "
    "mostly above says."
)


def check_table(found: CheckResult, top: int, width: int | None = None) -> Table:
    """At most `top` relations, then all of them together; names of relations are cut so that it fits."""
    from rich.markup import escape
    from rich.table import Table

    rows = [[row.relation, f"{row.tried}", *_cells(row.scores, found.methods, row.best)] for row in found.rows[:top]]
    best = max(found.overall, key=lambda name: found.overall[name].mrr) if found.overall else None
    last = ["all facts", f"{found.tried:,}", *_cells(found.overall, found.methods, best)]
    titles = ["relation", "tried", *(_cut(name, LONGEST_METHOD) for name in found.methods), "best", "says", "true"]
    widths = [max(len(line[place]) for line in (titles, *rows, last)) for place in range(1, len(titles))]
    longest = max(8, (width or WIDTH) - sum(widths) - 2 * len(widths))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, title in enumerate(titles):
        table.add_column(escape(title), justify="left" if place == 0 else "right", no_wrap=True)
    for line in rows:
        table.add_row(escape(_cut(line[0], longest)), *map(escape, line[1:]))
    table.add_section()
    table.add_row(*map(escape, last), style="bold")
    return table


def remarks(found: CheckResult, top: int) -> list[str]:
    """How to read the table, and what is not in it."""
    texts = []
    if len(found.rows) > top:
        texts.append(f"{len(found.rows) - top:,} more relations: --top {len(found.rows)} lists them all.")
    if found.untried:
        texts.append(f"Not tried (too few facts, entities without other facts, or no time): {_listed(found.untried)}.")
    if found.stopped:
        reason = "Interrupted" if found.stopped == "interrupted" else "Time was up"
        texts.append(f"{reason}: {found.tried:,} of {found.planned:,} facts were tried in {found.seconds:.0f} s.")
    else:
        texts.append(f"{found.tried:,} facts were hidden and asked for from both ends in {found.seconds:.0f} s.")
    return [*how_to_read(found), *(line for text in texts for line in wrap(text, WIDTH))]


def how_to_read(found: CheckResult) -> list[str]:
    """What the columns mean, and what chance would do."""
    return [line for text in (HOW_TO_READ, _calibration(found)) for line in wrap(text, WIDTH)]


def _calibration(found: CheckResult) -> str:
    """The calibration errors of all methods, and what chance would find."""
    errors = {name: score.calibration_error for name, score in found.overall.items()}
    told = ", ".join(f"{name} {100 * error:.0f} %" for name, error in errors.items() if error is not None)
    weights = sum(row.facts for row in found.rows)
    chance = sum(row.facts * row.chance for row in found.rows) / max(1, weights)
    return f"Calibration error: {told or NOTHING}. Hits@10 by chance: {100 * chance:.2g} %."


def _cells(scores: object, methods: Sequence[str], best: str | None) -> list[str]:
    found: dict[str, CheckScore] = dict(scores)  # type: ignore[call-overload]
    cells = [
        f"{100 * found[name].hits_at_1:.0f}/{100 * found[name].hits_at_10:.0f}" for name in methods if name in found
    ]
    if best is None:
        return [*cells, NOTHING, NOTHING, NOTHING]
    return [*cells, _cut(best, LONGEST_METHOD), _percent(found[best].probability), _percent(found[best].true)]


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.0f} %"


def _cut(name: str, longest: int) -> str:
    """A name cut to fit; the end of a path is kept."""
    if len(name) <= longest:
        return name
    return "…" + name[len(name) - longest + 1 :] if "/" in name else name[: longest - 1] + "…"


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
