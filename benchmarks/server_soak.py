"""Mixed load for a long time, in pieces: nothing may fail, and the memory of the server may not grow.

Starts `unseen serve` on a database with the embedded graph, on 127.0.0.1. Sends exact and predicted questions, writes,
updates, deletes and backups (`GET /store`), whose answers are checked; statements, tables, views of the page, calls of
agents; bad input; slow and dropped connections. Prints
one JSON line for each piece: requests by kind, refusals (503 with Retry-After), errors by kind, and the memory of all
processes of the server at the beginning and at the end, each after some seconds of
rest. Afterwards the database is backed up, and the copy must hold exactly what was acknowledged.

    python benchmarks/server_soak.py [--pieces 6] [--minutes 10] [--rate 1] [--model edge-type] [--replicas 1]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import unseen
from server_load import exact_requests, predicted_requests, served
from soak_traffic import Tally, Traffic

REST = 20.0
"""Seconds without load before memory is measured."""
KINDS = {"Pss": "all", "Pss_Anon": "own"}
"""Kinds of memory: all, and what processes have allocated. Files in memory may be shared with programs elsewhere."""
WARM = 90.0
"""Seconds of load before the first piece."""


def processes(root: int) -> list[int]:
    """A process and all that it has started."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [root]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def megabytes(process: int) -> dict[str, float]:
    """Memory of one process by kind; pages that several processes share are divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return dict.fromkeys(KINDS, 0.0)
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines[1:]}
    return {kind: sizes[kind] for kind in KINDS}


async def rested(server: int) -> dict[str, object]:
    """Memory of all processes after some rest, and of the first one alone; medians of five measurements."""
    await asyncio.sleep(REST)
    seen: dict[str, list[float]] = {}
    for _ in range(5):
        sizes = [megabytes(one) for one in processes(server)]
        for kind, name in KINDS.items():
            seen.setdefault(f"tree_{name}_mb", []).append(sum(one[kind] for one in sizes))
            seen.setdefault(f"server_{name}_mb", []).append(sizes[0][kind])
        await asyncio.sleep(0.5)
    return {
        **{name: round(statistics.median(values), 1) for name, values in seen.items()},
        "processes": len(processes(server)),
        "open_files": len(list(Path(f"/proc/{server}/fd").iterdir())),
    }


def line_of(number: int, tally: Tally, seconds: float, before: object, after: object) -> dict[str, object]:
    return {
        "benchmark": f"server_soak piece {number}",
        "seconds": round(seconds, 1),
        "requests": sum(tally.sent.values()),
        "by_kind": dict(sorted(tally.sent.items())),
        "refused": dict(tally.refused),
        "errors": dict(tally.errors),
        **({"examples": tally.examples} if tally.examples else {}),
        "before": before,
        "after": after,
        "load": round(os.getloadavg()[0], 1),
    }


async def soaked(server: int, traffic: Traffic, arguments: argparse.Namespace) -> int:
    """Send all pieces; how many errors there were."""
    errors = sum((await traffic.run(arguments.warm, arguments.rate)).errors.values())
    before = await rested(server)
    for number in range(1, arguments.pieces + 1):
        began = time.monotonic()
        tally = await traffic.run(60 * arguments.minutes, arguments.rate)
        seconds, after = time.monotonic() - began, await rested(server)
        print(json.dumps(line_of(number, tally, seconds, before, after)), flush=True)
        before, errors = after, errors + sum(tally.errors.values())
    return errors


def backed_up(path: Path, names: set[str], triples: int) -> dict[str, object]:
    """Whether a backup of the stopped database holds exactly what was acknowledged."""
    copy = path.with_name("copy.db")
    command("db", "backup", str(path), str(copy))
    graph = unseen.load(str(copy))
    new = {head for head, _, _ in graph.triples() if head.startswith("Newland")}
    return {"triples": graph.num_triples, "is_right": new == names and graph.num_triples == triples + 2 * len(names)}


def command(*words: str) -> None:
    code = "from unseen.cli.main import run; run()"
    subprocess.run([sys.executable, "-c", code, *words], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=10, help="of one piece")
    parser.add_argument("--rate", type=float, default=1, help="1 is about 150 requests a second")
    parser.add_argument("--warm", type=float, default=WARM, help="seconds of load before the first piece")
    parser.add_argument("--model", default="edge-type")
    parser.add_argument("--replicas", type=int, default=0)
    arguments = parser.parse_args()
    graph = unseen.load("countries")
    with tempfile.TemporaryDirectory(prefix="unseen-soak-") as folder:
        path = Path(folder) / "soak.db"
        command("db", "create", str(path), "countries")
        more = ["--replicas", str(arguments.replicas)] if arguments.replicas else []
        with served(str(path), arguments.model, "--query-memory", "128", *more) as (url, server):
            traffic = Traffic(url, exact_requests(graph), predicted_requests(graph), graph.num_triples)
            errors = asyncio.run(soaked(server, traffic, arguments))
        line = {"benchmark": "server_soak end", "errors": errors, **backed_up(path, traffic.present, graph.num_triples)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
