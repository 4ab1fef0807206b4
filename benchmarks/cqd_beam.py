"""CQD-Beam on random vectors: 2p queries a second, memory, and the same with all scores in memory at once.

Two cases, one JSON line each: the 175 % test graph (9,781 entities of dimension 400, beam 32; the target on one H200 is
5,000 queries/s) and a graph of millions (2,000,000 entities of dimension 200, beam 8; the target is 300 queries/s on
one H200, and 3 s a query in less than 10 GB on two CPU cores). Measured are `top`, the ten best answers of every query
in large batches, `alone`, the same for one query at a time, and `ranks`, the place of one answer a query among all
entities, as `unseen evaluate` finds it. The baseline is `dense`: the scores of all tails of every beam in one matrix,
then one full top-k, predictions only; it is left out where it does not fit.

    python benchmarks/cqd_beam.py [--case 175 --case millions] [--device auto] [--queries N] [--precision high]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from unseen.datasets.query_table import Ragged
from unseen.evaluation.streaming import streamed_ranks
from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.logic.algebra import Anchor, Project, Query
from unseen.methods.cqd_beam import BeamOptions, CqdBeam, VectorLinks, VectorScorer
from unseen.methods.cqd_beam.beams import RunningTop

DENSE_BYTES = {"cpu": 1 << 31, "cuda": 1 << 35}


@dataclass(frozen=True)
class Case:
    """How large a graph, its vectors and its beams are, and how many queries are asked on each kind of device."""

    entities: int
    dim: int
    relations: int
    triples: int
    beam: int
    queries: dict[str, int]


CASES = {
    "175": Case(9_781, 400, 218, 133_247, 32, {"cpu": 200, "cuda": 20_000}),
    "millions": Case(2_000_000, 200, 512, 10_000_000, 8, {"cpu": 4, "cuda": 2_000}),
}


def random_graph(case: Case) -> KnowledgeGraph:
    """Random edges, with every entity in at least one."""
    random = np.random.default_rng(0)
    heads, tails = (random.integers(0, case.entities, case.triples).astype(np.int32) for _ in range(2))
    heads[: case.entities] = np.arange(case.entities)
    relations = random.integers(0, case.relations, case.triples).astype(np.int32)
    return KnowledgeGraph(heads, relations, tails, Vocabulary.numbered(case.entities, case.relations))


def random_method(case: Case, device: torch.device, dtype: torch.dtype) -> CqdBeam:
    torch.manual_seed(0)
    entities, relations = (
        torch.randn(count, case.dim, device=device).div_(case.dim**0.25)
        for count in (case.entities, 2 * case.relations)
    )
    return CqdBeam(
        VectorScorer(VectorLinks(entities.to(dtype), relations)), BeamOptions(beam=case.beam, scale="sigmoid")
    )


def two_steps(case: Case, count: int) -> list[Query]:
    random = np.random.default_rng(1)
    heads, steps = random.integers(0, case.entities, count), random.integers(0, 2 * case.relations, (2, count))
    return [Project(int(b), Project(int(a), Anchor(int(h)))) for h, a, b in zip(heads, *steps, strict=True)]


def top(method: CqdBeam, graph: KnowledgeGraph, queries: list[Query]) -> torch.Tensor:
    """The ten best answers of every query."""
    found = method.score_blocks(graph, queries)
    best = RunningTop(len(queries), 10, found.links.device)
    for start, block in found.blocks():
        best.add(block, start)
    return best.values


def ranks(method: CqdBeam, graph: KnowledgeGraph, queries: list[Query]) -> torch.Tensor:
    """The place of one random answer a query among all entities."""
    wanted = np.random.default_rng(2).integers(0, graph.num_entities, len(queries))
    rows = Ragged.from_lengths(np.ones(len(queries), np.int64), wanted.astype(np.int32))
    found = streamed_ranks(
        method.score_blocks(graph, queries), rows, Ragged.empty(len(queries)), graph.connected_entities
    )
    return torch.from_numpy(found.ranks.expected)


def dense(method: CqdBeam, graph: KnowledgeGraph, queries: list[Query]) -> torch.Tensor:
    """The baseline: every score in memory, one full top-k a level; predictions only, no known facts."""
    links, k = method.links(graph).scores, method.choices.default.beam
    device = links.device
    heads = torch.tensor([query.source.source.entity for query in queries], device=device)
    first, second = (
        torch.tensor([one.relation for one in some], device=device)
        for some in ([query.source for query in queries], queries)
    )
    scores = links.block(links.towards(heads, first), 0, links.num_entities).sigmoid()
    beams, kept = scores.topk(k, dim=1)
    reached = links.block(links.towards(kept.reshape(-1), second.repeat_interleave(k)), 0, links.num_entities)
    joined = reached.sigmoid().view(len(queries), k, -1) * beams.unsqueeze(2)
    return joined.amax(dim=1).topk(10, dim=1).values


def seconds(work: Callable[[list[Query]], object], queries: list[Query], size: int, device: torch.device) -> float:
    """Wall time of all queries in batches, after one batch to warm up."""
    work(queries[:size])
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for first in range(0, len(queries), size):
        work(queries[first : first + size])
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def measured(name: str, arguments: argparse.Namespace, device: torch.device) -> dict[str, object]:
    case = CASES[name]
    count = arguments.queries or case.queries[device.type]
    graph = random_graph(case)
    method = random_method(case, device, getattr(torch, arguments.storage))
    queries, size = two_steps(case, count), min(count, arguments.batch_size or {"175": 1000, "millions": 512}[name])
    report: dict[str, object] = {"benchmark": "cqd_beam", "case": name, "device": str(device), "beam": case.beam}
    report |= {"entities": case.entities, "dim": case.dim, "queries": count, "batch": size}
    report |= {"precision": arguments.precision, "storage": arguments.storage, "threads": torch.get_num_threads()}
    for label, work in (("top", top), ("ranks", ranks)):
        spent = seconds(lambda some, work=work: work(method, graph, some), queries, size, device)
        report |= {
            f"{label}_queries_per_second": round(count / spent, 2),
            f"{label}_ms": round(1000 * spent / count, 3),
        }
    few = queries[:4]
    spent = seconds(lambda some: top(method, graph, some), few, 1, device)
    report["alone_ms"] = round(1000 * spent / len(few), 3)
    room = DENSE_BYTES[device.type] // (12 * case.beam * case.entities)
    if room:
        few = queries[: min(count, 4 * room, 2000)]
        spent = seconds(lambda some: dense(method, graph, some), few, min(room, len(few)), device)
        report |= {"baseline": "dense", "baseline_queries_per_second": round(len(few) / spent, 2)}
        report["ratio"] = round(float(report["top_queries_per_second"]) / (len(few) / spent), 2)
    return report | memory(device)


def memory(device: torch.device) -> dict[str, object]:
    found: dict[str, object] = {"peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}
    if device.type == "cuda":
        found["gpu_peak_mb"] = round(torch.cuda.max_memory_allocated() / 2**20)
        found["gpu"] = torch.cuda.get_device_name()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--queries", type=int)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--precision", default="high", choices=["highest", "high", "medium"])
    parser.add_argument("--storage", default="float32", choices=["float32", "bfloat16"])
    arguments = parser.parse_args()
    wanted = arguments.device
    device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted)
    torch.set_float32_matmul_precision(arguments.precision)
    for name in arguments.case or CASES:
        print(json.dumps(measured(name, arguments, device)), flush=True)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
