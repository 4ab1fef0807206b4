"""What a check found, as a notebook shows it: a table of relations with a bar for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.displays import bar, block, heading, note, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unseen.displays import Markup
    from unseen.evaluation.check_result import CheckResult, CheckScore

NOTHING_BETTER = "none is better than chance"


def check_html(found: CheckResult) -> str:
    """Hits@10 of each method on each relation, the mean of all relations first."""
    counts = f"{found.tried:,} of {found.planned:,} planned facts hidden and asked for, {found.seconds:.0f} s"
    header = ("relation", "facts", "tried", *(f"Hits@10 of {name}" for name in found.methods), "chance", "best")
    return block(heading(f"CheckResult: {counts}"), table(header, list(_rows(found))), *_notes(found))


def _rows(found: CheckResult) -> Iterator[tuple[object, ...]]:
    means = [_hits(found.overall, name) for name in found.methods]
    yield "all, weighted by facts", f"{found.triples:,}", f"{found.tried:,}", *means, "", ""
    for row in found.rows:
        hits = [_hits(row.scores, name) for name in found.methods]
        best = row.best or NOTHING_BETTER
        yield row.relation, f"{row.facts:,}", f"{row.tried:,}", *hits, f"{row.chance:.3f}", best


def _hits(scores: Mapping[str, CheckScore], name: str) -> Markup:
    return bar(scores[name].hits_at_10 if name in scores else None)


def _notes(found: CheckResult) -> Iterator[Markup]:
    if found.stopped:
        yield note(f"Not all facts were tried: {found.stopped}.")
    for method, why in (found.skipped or {}).items():
        yield note(f"{method} was not tried: {why}")
    if found.untried:
        yield note(f"{len(found.untried):,} relations were not tried.")
