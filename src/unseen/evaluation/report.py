"""A folder of tables and figures made of results: `unseen report`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.errors import EvaluationError
from unseen.evaluation.report_rows import published_rows, ratio_of, rows_of
from unseen.evaluation.report_tables import Table, all_tables, long_csv
from unseen.evaluation.results import METRICS, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.evaluation.report_rows import ReportRow

PAPER_METRICS = ("hits_at_3", "hits_at_10")
"""The metrics of the paper's tables."""


def read_result(path: str | Path) -> Result:
    """The result in a JSON file; anything else is an error that names the file."""
    if Path(path).exists() and not Path(path).is_file():
        raise EvaluationError(f"{path}: is not a regular file")
    try:
        value = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise EvaluationError(f"{path}: this is not JSON") from None
    return Result.from_json(value, str(path))


def write_report(
    results: Sequence[Result],
    folder: str | Path,
    *,
    metrics: Sequence[str] = PAPER_METRICS,
    beside: Path | None = None,
    figures: bool = True,
) -> list[Path]:
    """Write tables and figures of all results into a folder; the files written, `report.md` first.

    `beside` is a CSV file of published numbers; those of the measured ratios are shown too (`published_rows`).
    """
    _check(results, metrics)
    rows = [row for result in results for row in rows_of(result)]
    if beside is not None:
        rows += _matching(published_rows(beside), results)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    tables = all_tables(rows, results, metrics)
    pictures = _write_figures(rows, results, target) if figures else []
    texts = {"results.csv": long_csv(rows)} | _table_texts(tables)
    texts = {"report.md": _document(tables, pictures)} | texts
    for name, text in texts.items():
        (target / name).write_text(text, "utf-8")
    return [target / name for name in texts] + pictures


def _check(results: Sequence[Result], metrics: Sequence[str]) -> None:
    if not results:
        raise EvaluationError("a report needs at least one result")
    for metric in metrics:
        if metric not in METRICS:
            raise EvaluationError(f"there is no metric {metric}; there are {', '.join(METRICS)}")


def _matching(rows: list[ReportRow], results: Sequence[Result]) -> list[ReportRow]:
    """The rows of the ratios that were measured."""
    ratios = {ratio_of(result) for result in results}
    return [row for row in rows if row.ratio in ratios]


def _table_texts(tables: Sequence[Table]) -> dict[str, str]:
    texts = {}
    for table in tables:
        texts[f"{table.name}.md"] = f"{table.title}\n\n{table.to_markdown()}"
        texts[f"{table.name}.tex"] = table.to_latex()
        texts[f"{table.name}.csv"] = table.to_csv()
    return texts


def _write_figures(rows: Sequence[ReportRow], results: Sequence[Result], folder: Path) -> list[Path]:
    from unseen.evaluation.figures import draw_figures  # matplotlib is optional

    return draw_figures(rows, results, folder)


def _document(tables: Sequence[Table], pictures: Sequence[Path]) -> str:
    """One page with everything on it."""
    parts = ["# Evaluation\n"]
    parts += [f"## {_heading(table.name)}\n\n{table.title}\n\n{table.to_markdown()}" for table in tables]
    shown = [picture for picture in pictures if picture.suffix == ".png"]
    if shown:
        parts.append("## Figures\n\n" + "\n".join(f"![{_heading(one.stem)}]({one.name})\n" for one in shown))
    return "\n".join(parts)


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize().replace("Roc auc", "ROC AUC")
