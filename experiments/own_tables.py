"""Our own tables of the grid: hardness, time, which cells are filled, and where numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.grid import EXPERIMENTS, METHODS, cells_of
from unseen.evaluation.report_rows import METRIC_NAMES, method_name, rows_of
from unseen.evaluation.report_tables import Table

if TYPE_CHECKING:
    from experiments.cell_files import Filled
    from experiments.comparison import GridResults


def strata_table(found: GridResults) -> Table:
    """Hits@10 by the number of missing links, averaged over the types that have such answers."""
    results = found.results("strata")
    names = sorted({name for result in results for one in result.types.values() for name in one.strata})
    body = []
    for result in results:
        cells = []
        for name in names:
            values = [one.strata[name].hits_at_10 for one in result.types.values() if name in one.strata]
            answers = sum(one.strata[name].answers for one in result.types.values() if name in one.strata)
            cells += [number(100 * sum(values) / len(values) if values else None), f"{answers:,}" if answers else ""]
        body.append((f"{result.ratio:g} %", method_name(result.method), *cells))
    header = ("Ratio", "Method", *(part for name in names for part in (f"{name} missing", f"{name}: answers")))
    title = "Hits@10 (%) by the number of missing links that an answer needs, mean over types; answers measured."
    return Table("strata", title, header, tuple(body), 2)


def probability_averages(found: GridResults) -> Table:
    """Errors of probabilities and of expected numbers of answers, mean over types: one line a ratio and method."""
    metrics = ("mape", "spearman", "ece")
    body = []
    for result in found.results("probabilities"):
        rows = {row.metric: row for row in rows_of(result)}
        counts = {one.metrics.queries for one in result.types.values()}
        pairs = (f"{number(rows[name].avg_p)} / {number(rows[name].avg_n)}" for name in metrics)
        body.append((f"{result.ratio:g} %", method_name(result.method), f"{max(counts):,}", *pairs))
    header = ("Ratio", "Method", "Queries a type", *(METRIC_NAMES[name] for name in metrics))
    title = (
        "Expected numbers of answers: mean absolute percentage error (MAPE) and rank correlation with the true number "
        "(Spearman); error of single probabilities (ECE); all x 100, avg_p / avg_n."
    )
    return Table("probability_averages", title, header, tuple(body), 2)


def time_table(found: GridResults) -> Table:
    """Milliseconds a query, training minutes, and the device."""
    body = []
    asked, trained = (
        {(one.cell.ratio, one.cell.method): one for one in found.done(what)} for what in ("time", "train")
    )
    for place in [one for one in _places(found) if one in asked or one in trained]:
        timed, run = asked.get(place), trained.get(place)
        minutes = run.content["training"]["seconds"] / 60 if run else None
        steps = f"{run.content['training']['step']:,}" if run else ""
        memory = run.content.get("peak_memory_gib") if run else None
        about = (f"{place[0]} %", method_name(place[1]))
        answering = (*_milliseconds(timed), _asked_on(timed))
        body.append((*about, *answering, number(minutes), steps, number(memory or None), _device(run)))
    answering_header = ("ms, alone", "ms, in a batch", "of", "asked on")
    header = ("Ratio", "Method", *answering_header, "training minutes", "steps", "peak GiB", "trained on")
    title = (
        "Milliseconds a query on the test graph, mean over the fourteen types: alone (median), and in a batch; "
        "the edge-type heuristic on the machine's CPU; training without validation, beside other processes where there "
        "were any."
    )
    return Table("time", title, header, tuple(body), 2)


def _places(found: GridResults) -> list[tuple[int, str]]:
    """Ratio and method of all cells, in order."""
    return list(dict.fromkeys((one.cell.ratio, one.cell.method) for one in found.cells))


def _asked_on(timed: Filled | None) -> str:
    """The device; and that weights were random, where a trained method has been asked without its run."""
    if timed is None:
        return ""
    plan, run = METHODS.get(timed.cell.method), timed.content.get("made_by", {}).get("run")
    is_random = plan is not None and plan.trained_as is not None and run is None
    return _device(timed) + (", random weights" if is_random else "")


def _device(filled: Filled | None) -> str:
    return "" if filled is None else str(filled.content.get("made_by", {}).get("device", ""))


def _milliseconds(timed: Filled | None) -> tuple[str, str, str]:
    """A query alone, in a batch, and how large that was, mean over types; nothing where it was not measured."""
    if timed is None:
        return "", "", ""
    times = timed.content["seconds_per_query"]
    alone, batch = (1000 * sum(one[key] for one in times.values()) / max(1, len(times)) for key in ("alone", "batch"))
    return f"{alone:.2f}", f"{batch:.3f}", str(max(one["batch_size"] for one in times.values()))


def coverage(found: GridResults) -> Table:
    """Which cells are filled, which have not been begun, and why others are not filled."""
    groups: dict[tuple[int, str], list[Filled]] = {}
    for one in found.cells:
        groups.setdefault((one.cell.ratio, one.cell.method), []).append(one)
    body = []
    for (ratio, method), some in groups.items():
        done = " ".join(one.cell.what for one in some if one.is_done)
        reasons = {one.reason for one in some if not one.is_done}
        begun = {one.cell.what for one in some}
        wanted = cells_of(ratio, method, METHODS[method], EXPERIMENTS) if method in METHODS else ()
        left = " ".join(what for what in wanted if what not in begun)
        body.append((f"{ratio} %", method_name(method), done, left, "; ".join(sorted(reasons))))
    title = "Cells that are filled, those that nobody has measured yet, and the reason where one could not be filled."
    return Table("coverage", title, ("Ratio", "Method", "Filled", "Open", "Reason"), tuple(body), 5)


def origins(found: GridResults) -> Table:
    """Where the numbers come from: run folder or model, seed, commit, command."""
    trained = {(one.cell.ratio, one.cell.method): one for one in found.done("train")}
    body = []
    for one in found.done("test"):
        made = one.content.get("made_by", {})
        run = trained.get((one.cell.ratio, one.cell.method))
        seed = run.content["seed"] if run else one.content["result"]["seed"]
        commit = str((run.content.get("training_commit") if run else None) or made.get("commit") or "")[:8]
        settings = ", ".join(f"{key}={value}" for key, value in run.content["settings"].items()) if run else ""
        about = (f"{one.cell.ratio} %", method_name(one.cell.method), str(made.get("run") or made.get("model") or ""))
        body.append((*about, str(seed), commit, str(one.content["result"]["limit"]), settings, made.get("command", "")))
    header = ("Ratio", "Method", "Run or model", "Seed", "Commit", "Queries a type", "Settings", "Command")
    return Table("origins", "Where the numbers of test queries come from.", header, tuple(body), 8)


def number(value: float | None, sign: bool = False) -> str:
    """A number with one digit, with its sign where it is a difference; nothing where there is none."""
    if value is None:
        return ""
    shown = round(value, 1) + 0.0  # no minus before a zero
    return f"{shown:+.1f}" if sign else f"{shown:.1f}"
