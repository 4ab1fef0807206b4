"""Files to graphs: seconds and peak memory, against pandas on the same file in the same run.

    python benchmarks/read_graph.py [--triples 5000000] [--rdf-triples 1000000] [--repeats 5]

Generates a seeded TSV (power law: a fifth as many entities as triples, 200 relations) and an N-Triples file (one
statement in ten has a literal as object) in a temporary folder, then reads each in fresh processes: unseen and pandas
take turns, and the median of `--repeats` is reported. Prints one line of JSON.

pandas does less: `read_csv` and `factorize` (heads and tails together, then relations) give numbers, while
`read_graph` also checks every name, removes duplicates, numbers by first appearance and builds the vocabulary.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = [
    "Amber",
    "River",
    "Stone",
    "Golden",
    "Silent",
    "Northern",
    "Ancient",
    "Little",
    "Grand",
    "Royal",
    "Harbour",
    "Museum",
    "Station",
    "Album",
]
NUM_RELATIONS = 200
ROWS_AT_ONCE = 500_000

MEASURED = """
import json, resource, sys, time
{imports}
started, cpu_started = time.perf_counter(), time.process_time()
{work}
seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({{"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_gb": peak, "triples": triples}}))
"""
UNSEEN = MEASURED.format(
    imports="from unseen.graph.files.readers import read_graph",
    work="triples = read_graph(sys.argv[1]).graph.num_triples",
)
PANDAS = MEASURED.format(
    imports="import pandas",
    work="""
frame = pandas.read_csv(sys.argv[1], sep="\\t", header=None, names=["head", "relation", "tail"])
codes, names = pandas.factorize(pandas.concat([frame["head"], frame["tail"]]))
relation_codes, relation_names = pandas.factorize(frame["relation"])
triples = len(frame)
""",
)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        table, rdf = Path(folder, "graph.tsv"), Path(folder, "graph.nt")
        _write_table(table, options.triples)
        _write_rdf(rdf, options.rdf_triples)
        runs = [(_measure(UNSEEN, table), _measure(PANDAS, table)) for _ in range(options.repeats)]
        rdf_runs = [_measure(UNSEEN, rdf) for _ in range(options.repeats)]
        ours, theirs = (_median(list(side)) for side in zip(*runs, strict=True))
        result = {
            "benchmark": "read_graph",
            "cores": len(os.sched_getaffinity(0)),
            "python": platform.python_version(),
            "tsv": {"triples": options.triples, "megabytes": table.stat().st_size // 10**6, **ours},
            "pandas": theirs,
            "relative_to_pandas": {key: _ratio(runs, key) for key in ("seconds", "cpu_seconds", "peak_gb")},
            "n_triples": {"triples": options.rdf_triples, **_median(rdf_runs)},
        }
    print(json.dumps(result))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triples", type=int, default=5_000_000, help="lines of the TSV file")
    parser.add_argument("--rdf-triples", type=int, default=1_000_000, help="lines of the N-Triples file")
    parser.add_argument("--repeats", type=int, default=5, help="fresh processes per measurement")
    return parser.parse_args()


def _measure(code: str, path: Path) -> dict[str, float]:
    """What one fresh process takes."""
    finished = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(finished.stdout)
    return measured


def _ratio(runs: list[tuple[dict[str, float], dict[str, float]]], key: str) -> float:
    """The median of ours to theirs, each pair measured one right after the other."""
    return round(statistics.median(ours[key] / theirs[key] for ours, theirs in runs), 2)


def _median(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(statistics.median(run[key] for run in runs), 2) for key in ("seconds", "cpu_seconds", "peak_gb")}


def _write_table(path: Path, num_triples: int) -> None:
    entities, relations = _names(num_triples)
    with path.open("wb") as file:
        for heads, relation_ids, tails in _edges(num_triples, len(entities)):
            columns = (entities.take(heads), relations.take(relation_ids), entities.take(tails))
            file.write(
                "".join(line + "\n" for line in pc.binary_join_element_wise(*columns, "\t").to_pylist()).encode()
            )


def _write_rdf(path: Path, num_triples: int) -> None:
    entities, relations = (names.to_pylist() for names in _names(num_triples))
    entity, prop = "http://example.org/entity/", "http://example.org/property/"
    with path.open("w") as file:
        for columns in _edges(num_triples, len(entities)):
            for row, (head, relation, tail) in enumerate(zip(*(column.to_pylist() for column in columns), strict=True)):
                value = f'"{entities[tail]}"@en' if row % 10 == 9 else f"<{entity}{entities[tail]}>"
                file.write(f"<{entity}{entities[head]}> <{prop}{relations[relation]}> {value} .\n")


def _names(num_triples: int) -> tuple[pa.Array, pa.Array]:
    """Names of 12 to 30 characters."""
    generator = np.random.default_rng(1)
    pairs = generator.integers(0, len(WORDS), (max(num_triples // 5, 10), 2)).tolist()
    entities = [f"{WORDS[first]}_{WORDS[second]}_{number}" for number, (first, second) in enumerate(pairs)]
    relations = [f"{WORDS[i % 14].lower()}_{WORDS[i // 14 % 14].lower()}_of" for i in range(NUM_RELATIONS)]
    return pa.array(entities), pa.array(relations)


def _edges(num_triples: int, num_entities: int) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
    """Ids of heads, relations and tails, some rows at a time; few entities and relations take part in most edges."""
    generator = np.random.default_rng(0)
    shuffled = generator.permutation(num_entities)
    for start in range(0, num_triples, ROWS_AT_ONCE):
        rows = min(ROWS_AT_ONCE, num_triples - start)
        heads, tails = (shuffled[(num_entities * generator.random(rows) ** 2.5).astype(int)] for _ in range(2))
        relations = (NUM_RELATIONS * generator.random(rows) ** 3).astype(int)
        yield pa.array(heads), pa.array(relations), pa.array(tails)


if __name__ == "__main__":
    main()
