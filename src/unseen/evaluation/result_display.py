"""An evaluation as a notebook shows it: a table of question types, with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.displays import bar, block, heading, note, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.displays import Markup
    from unseen.evaluation.results import Result

SHOWN = {"mrr": "MRR", "hits_at_1": "Hits@1", "hits_at_3": "Hits@3", "hits_at_10": "Hits@10"}


def result_html(result: Result) -> str:
    """Ranks of each question type, then their averages."""
    rows = [
        (name, f"{found.metrics.queries:,}", *(bar(getattr(found.metrics, metric)) for metric in SHOWN))
        for name, found in result.types.items()
    ]
    rows += [(name, "", *_means(mean)) for name, mean in result.averages.items() if "mrr" in mean]
    if result.links is not None:
        links = result.links.metrics
        rows.append(("links", f"{links.queries:,}", *(bar(getattr(links, metric)) for metric in SHOWN)))
    told = f"{result.method} on {result.dataset}, {result.split} queries"
    sampled = [note(f"At most {result.limit:,} queries of a type.")] if result.limit else []
    return block(heading(f"Result: {told}"), table(("type", "queries", *SHOWN.values()), rows), *sampled)


def _means(mean: Mapping[str, Any]) -> list[Markup]:
    return [bar(mean.get(metric)) for metric in SHOWN]
