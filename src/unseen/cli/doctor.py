"""`unseen doctor`: whether the compiled parts work on this machine, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from unseen.cli.shared_options import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.nn.self_check import Comparison, Report


def doctor(as_json: AsJson = False) -> None:
    """Compare the compiled kernels with their definition on this machine; show versions and speeds.

    The first run compiles the kernels, which takes half a minute. Exit code 1 says that a kernel is wrong here.

    \b
    Examples:
      unseen doctor
      unseen doctor --json
    """
    from dataclasses import asdict

    from unseen.cli.console import progress_bar, write_json
    from unseen.nn.self_check import self_check

    with progress_bar("checking kernels", unit="steps") as progress:
        report = self_check(progress)
    if as_json:
        write_json({"passed": report.passed, **asdict(report)})
    else:
        _show(report)
    if not report.passed:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    versions = Table(box=None, show_header=False, pad_edge=False)
    for name, version in report.versions.items():
        versions.add_row(name, version or "none")
    console.print(versions)
    console.print()
    console.print(_errors(report))
    console.print()
    console.print(_speeds(report))
    verdict = "every kernel agrees with the reference" if report.passed else "SOME KERNELS ARE WRONG on this machine"
    console.print(f"\n{verdict}")


def _errors(report: Report) -> Table:
    """The largest relative error of each kernel, message and type, over runs with and without an edge mask."""
    table = _table("kernel", "message", "type", "error", "gradient error", "")
    rows: dict[tuple[str, str, str], list[Comparison]] = {}
    for one in report.comparisons:
        rows.setdefault((one.implementation, one.message, one.dtype), []).append(one)
    for name, found in rows.items():
        error, gradient = max(one.error for one in found), max(one.gradient_error for one in found)
        verdict = "ok" if all(one.passed for one in found) else "WRONG"
        table.add_row(*name, f"{error:.1e}", f"{gradient:.1e}", verdict)
    return table


def _speeds(report: Report) -> Table:
    table = _table("device", "kernel", "edges", "columns", "forward ms", "with backward ms")
    for speed in report.speeds:
        sizes = (f"{speed.edges:,}", str(speed.columns))
        table.add_row(
            speed.device, speed.implementation, *sizes, f"{speed.forward:.2f}", f"{speed.forward_backward:.2f}"
        )
    return table


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table
