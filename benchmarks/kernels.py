"""One pass of relational message passing against the bandwidth of memory, and against what is published.

Prints one JSON line. On a GPU: the four rows of the published table, forward and forward + backward, medians of event
timings. On the CPU: 300,000 edges and 512 columns against gather + index_add, and against copying, in the same run.

    python benchmarks/kernels.py [--check] [--device cuda|cpu] [--repeats 30]

With --check the kernels are first compared with the reference in float64; a mismatch ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unseen.graph import KnowledgeGraph, Vocabulary
from unseen.nn.kernels import EdgeViews, degrees, relational_statistics
from unseen.nn.self_check import comparisons, power_law_edges

SOURCE = "the published four-pass kernel (generalized_rspmm of torchdrug), float32, one H200"
INPUT_SETS = 3
"""Sets of random inputs that are used in turn, so that one call does not find the last one's rows in the cache."""


@dataclass(frozen=True)
class Shape:
    """A graph of the published table, how fast published code is on it, and how fast this must be (milliseconds)."""

    name: str
    nodes: int
    edges: int
    relations: int
    batch: int
    dim: int
    published: tuple[float, float] | None = None
    target: tuple[float, float] | None = None


SHAPES = (
    Shape("175 % train", 5_560, 102_521, 436, 64, 32, (4.65, 13.3), (0.55, 2.2)),
    Shape("175 % test", 9_781, 266_494, 436, 64, 32, (9.54, 28.7), (1.2, 4.8)),
    Shape("106 % train", 13_091, 493_425, 466, 64, 32, (15.0, 49.4), (2.1, 8.2)),
    Shape("FB15k-237", 14_505, 544_230, 474, 16, 64, (12.7, 38.5), (1.8, 6.4)),
)
CPU_SHAPE = Shape("CPU", 14_500, 300_000, 474, 16, 32)


def power_law_graph(shape: Shape, seed: int = 0) -> KnowledgeGraph:
    """As many triples as make the shape's directed edges; nodes and relations drawn by rank ** -0.7."""
    generator = np.random.default_rng(seed)
    relations, wanted = shape.relations // 2, shape.edges // 2
    node_share = np.arange(1, shape.nodes + 1) ** -0.7
    relation_share = np.arange(1, relations + 1) ** -0.7
    order = generator.permutation(shape.nodes)
    drawn = wanted * 3 // 2
    heads, tails = (order[generator.choice(shape.nodes, drawn, p=node_share / node_share.sum())] for _ in range(2))
    kinds = generator.choice(relations, drawn, p=relation_share / relation_share.sum())
    triples = np.unique(np.stack([heads, kinds, tails]), axis=1)
    triples = triples[:, generator.permutation(triples.shape[1])[:wanted]].astype(np.int32)
    return KnowledgeGraph(*triples, Vocabulary.numbered(shape.nodes, relations))


def random_inputs(edges: EdgeViews, shape: Shape, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    sizes = (edges.num_nodes, edges.num_relations, edges.num_nodes)
    return [torch.randn(size, shape.batch, shape.dim, device=edges.device).to(dtype) for size in sizes]


def milliseconds(work: Callable[[int], object], device: torch.device, repeats: int) -> list[float]:
    """The time of each call, by events on a GPU; the calls before the measured ones compile and warm up."""
    for index in range(INPUT_SETS):
        work(index)
    times = []
    for index in range(repeats):
        if device.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            work(index % INPUT_SETS)
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        else:
            begin = time.perf_counter()
            work(index % INPUT_SETS)
            times.append(1000 * (time.perf_counter() - begin))
    return times


def both_passes(
    edges: EdgeViews, sets: list[list[Tensor]], edge_mask: Tensor | None = None
) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Forward, and forward + backward with a random gradient of every statistic."""
    leaves = [[value.clone().requires_grad_() for value in inputs] for inputs in sets]
    upstream = [torch.randn_like(value) for value in relational_statistics(edges, *sets[0])]

    def forward(index: int) -> object:
        return relational_statistics(edges, *sets[index], edge_mask=edge_mask)

    def forward_backward(index: int) -> object:
        results = relational_statistics(edges, *leaves[index], edge_mask=edge_mask)
        return torch.autograd.grad(results, leaves[index], upstream)

    return forward, forward_backward


def copy_bandwidth(device: torch.device, repeats: int) -> float:
    """Gigabytes per second of a large copy, bytes read plus bytes written."""
    values = torch.randn((1 << 31 if device.type == "cuda" else 1 << 29) // 4, device=device)
    target = torch.empty_like(values)
    best = min(milliseconds(lambda _: target.copy_(values), device, repeats))
    return 2 * values.numel() * 4 / best / 1e6


def on_gpu(device: torch.device, repeats: int) -> dict[str, object]:
    bandwidth = copy_bandwidth(device, repeats)
    rows = [gpu_row(shape, device, repeats, bandwidth) for shape in SHAPES]
    return {"device": torch.cuda.get_device_name(device), "copy_gb_s": round(bandwidth), "rows": rows}


def gpu_row(shape: Shape, device: torch.device, repeats: int, bandwidth: float) -> dict[str, object]:
    edges = EdgeViews.of(power_law_graph(shape), device)
    row: dict[str, object] = {"graph": shape.name, "edges": edges.num_edges, "max_degree": int(degrees(edges).max())}
    mask = torch.rand(edges.num_edges, device=device) < 0.9
    for name, dtype, edge_mask in (
        ("float32", torch.float32, None),
        ("float32, 10 % of edges masked", torch.float32, mask),
        ("bfloat16", torch.bfloat16, None),
    ):
        works = both_passes(edges, [random_inputs(edges, shape, dtype) for _ in range(INPUT_SETS)], edge_mask)
        times = [statistics.median(milliseconds(work, device, repeats)) for work in works]
        row[name] = [round(value, 3) for value in times]
        if name == "float32" and shape.published and shape.target:
            row["speedup"] = [round(old / new, 1) for old, new in zip(shape.published, times, strict=True)]
            row["within_target"] = [new <= wanted for new, wanted in zip(times, shape.target, strict=True)]
    row["published_ms"], row["target_ms"] = shape.published, shape.target
    gathered = 2 * edges.num_edges * shape.batch * shape.dim * 4
    row["gather_at_copy_speed_ms"] = round(gathered / bandwidth / 1e6, 3)
    return row


def gather_index_add(edges: EdgeViews, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
    """What one writes without a kernel, for the two sums alone: every message is written out."""
    view = edges.by_target
    messages = inputs[0][view.source] * inputs[1][view.relation]
    total = inputs[2].index_add(0, view.target, messages)
    return total, (inputs[2] * inputs[2]).index_add(0, view.target, messages * messages)


def on_cpu(repeats: int) -> dict[str, object]:
    """Minima, because the machine may have other things to do."""
    device = torch.device("cpu")
    edges = EdgeViews.of(power_law_graph(CPU_SHAPE))
    sets = [random_inputs(edges, CPU_SHAPE) for _ in range(INPUT_SETS)]
    forward, forward_backward = both_passes(edges, sets)
    bandwidth, mine = 0.0, float("inf")
    for _ in range(3):
        bandwidth = max(bandwidth, copy_bandwidth(device, repeats))
        mine = min(mine, *milliseconds(forward, device, repeats))
    naive = min(milliseconds(lambda index: gather_index_add(edges, sets[index]), device, 3))
    columns = CPU_SHAPE.batch * CPU_SHAPE.dim
    moved = 4 * columns * (edges.num_edges + 5 * edges.num_nodes)
    return {
        "edges": edges.num_edges,
        "threads": torch.get_num_threads(),
        "forward_ms": round(mine, 1),
        "forward_backward_ms": round(min(milliseconds(forward_backward, device, max(repeats // 3, 3))), 1),
        "gather_index_add_ms": round(naive, 1),
        "speedup": round(naive / mine, 1),
        "copy_gb_s": round(bandwidth, 1),
        "moved_mb": round(moved / 1e6),
        "moved_at_copy_speed_ms": round(moved / bandwidth / 1e6, 1),
        "times_copy": round(mine * bandwidth * 1e6 / moved, 2),
    }


def check(device: torch.device) -> dict[str, object]:
    """Every message, with and without a mask, on a graph with hubs, isolated nodes and unused relations."""
    dtypes = [torch.float64, torch.float32] + ([torch.bfloat16] if device.type == "cuda" else [])
    edges = power_law_edges((3_000, 40), 60_000, device=device, seed=int(time.time()))
    found = list(comparisons(edges, tuple(dtypes), columns=(5, 24), seed=int(time.time())))
    worst = {
        f"{one.implementation} {one.dtype}": max(
            max(other.error, other.gradient_error) for other in found if other.dtype == one.dtype
        )
        for one in found
    }
    failed = [f"{one.message} {one.dtype} masked={one.masked}" for one in found if not one.passed]
    return {"compared": len(found), "largest_relative_error": worst, "failed": failed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    device = torch.device(options.device)
    report: dict[str, object] = {
        "benchmark": "kernels",
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    if options.check:
        report["check"] = checked = check(device)
        if checked["failed"]:
            print(json.dumps(report))
            sys.exit(1)
    if device.type == "cuda":
        report |= on_gpu(device, options.repeats) | {"published_source": SOURCE}
    else:
        report |= on_cpu(options.repeats) | {"baseline": "gather + index_add of sum and sum of squares, in torch"}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
