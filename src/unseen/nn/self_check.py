"""Whether the kernels compute what the reference defines, on this machine, and how fast.

The reference runs in float64 on the same inputs. Statistics are compared on normal random numbers; gradients on normal
random numbers rounded to eighths, whose products are exact in every type, so that equal extremes, of which there are
then many, are equal in all types and the rule for ties decides.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unseen.nn.kernels import EdgeViews, available, relational_statistics
from unseen.nn.kernels.definitions import MESSAGES, Implementation, Inputs, Message
from unseen.nn.kernels.sparse_product import sparse_product
from unseen.nn.kernels.sparse_table import Incidence, SparseTable
from unseen.nn.nbfnet import NBFNet
from unseen.version import __version__

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 1e-2}
"""Largest relative error ‖result - reference‖ / ‖reference‖ that rounding explains."""


@dataclass(frozen=True)
class Comparison:
    """How far an implementation is from the reference: the largest relative error of any statistic or gradient."""

    implementation: Implementation
    message: Message | Literal["network", "incidence"]
    """The message, a whole network with its node updates, or products with the incidence of nodes and relations."""
    dtype: str
    masked: bool
    error: float
    gradient_error: float
    passed: bool


@dataclass(frozen=True)
class Speed:
    """Milliseconds of the four statistics on a random graph; the best of several calls."""

    device: str
    implementation: Implementation
    edges: int
    columns: int
    forward: float
    forward_backward: float


@dataclass(frozen=True)
class Report:
    """All that is known about the kernels on this machine."""

    versions: dict[str, str | None]
    comparisons: list[Comparison]
    speeds: list[Speed]

    @property
    def passed(self) -> bool:
        """Whether every kernel agrees with the reference."""
        return all(comparison.passed for comparison in self.comparisons)


def self_check(progress: Callable[[int, int], None] = lambda _done, _total: None) -> Report:
    """Compare and time the kernels on every device of this machine; `progress` is told how many steps are done."""
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    dtypes = (torch.float64, torch.float32)
    total = len(devices) * (2 * len(dtypes) * len(MESSAGES) + 3 * len(dtypes) + 1)
    found: list[Comparison] = []
    times: list[Speed] = []
    for device in devices:
        edges = power_law_edges((300, 12), 3000, device=device, seed=0, chunk_edges=64)
        networks = (compared_network(device, dtype) for dtype in dtypes)
        for comparison in chain(comparisons(edges, dtypes), networks, incidence_comparisons(edges, dtypes)):
            found.append(comparison)
            progress(len(found) + len(times), total)
        times += speeds(device)
    progress(total, total)
    return Report(versions(), found, times)


def versions() -> dict[str, str | None]:
    """Versions of what computes; None for what is not installed or not there."""
    own = {"unseen": __version__, "python": platform.python_version()}
    installed = {name: _version(name) for name in ("torch", "numpy", "numba", "triton")}
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {**own, **installed, "cuda": torch.version.cuda, "gpu": gpu, "threads": str(torch.get_num_threads())}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def power_law_edges(
    size: tuple[int, int], count: int, *, device: torch.device | str, seed: int, chunk_edges: int | None = None
) -> EdgeViews:
    """About `count` random directed edges over `size` nodes and relations, degrees falling by a power law.

    The first relation and the last nodes have no edges. With 14,505 nodes and 544,230 edges the largest degree is near
    10,000, as in FB15k-237.
    """
    generator = torch.Generator().manual_seed(seed)
    nodes, relations = max(size[0] * 9 // 10, 1), max(size[1] - 1, 1)
    order = torch.randperm(nodes, generator=generator)
    weights = torch.arange(1, nodes + 1, dtype=torch.float64) ** -0.7
    ends = [order[torch.multinomial(weights, count, True, generator=generator)] for _ in range(2)]
    kinds = torch.randint(size[1] - relations, size[1], (count,), generator=generator)
    triples: Tensor = torch.unique(torch.stack([ends[0], kinds, ends[1]]), dim=1)
    return EdgeViews.from_edges(*triples, size=size, device=device, chunk_edges=chunk_edges)


def comparisons(
    edges: EdgeViews, dtypes: tuple[torch.dtype, ...], *, columns: tuple[int, int] = (3, 8), seed: int = 0
) -> Iterator[Comparison]:
    """Every implementation on the edges' device against the reference, for every message, with and without a mask."""
    generator = torch.Generator(edges.device).manual_seed(seed)
    mask = torch.rand(edges.num_edges, device=edges.device, generator=generator) < 0.7
    for implementation in available(edges.device)[1:]:
        for dtype in dtypes:
            for message in MESSAGES:
                for edge_mask in (None, mask):
                    inputs = _draw(edges, columns, dtype, generator)
                    yield _compared(edges, inputs, message, edge_mask, implementation)


def compared_network(device: torch.device | str, dtype: torch.dtype) -> Comparison:
    """A small network on a device, whose node updates have kernels of their own there, against float64 on the CPU."""
    found, truth = (_network_results(place, kind) for place, kind in ((device, dtype), ("cpu", torch.float64)))
    error, *gradient_errors = (_distance(ours.cpu(), theirs) for ours, theirs in zip(found, truth, strict=True))
    passed = max(error, *gradient_errors) <= 30 * TOLERANCE[dtype]  # rounding grows over the layers
    name = str(dtype).removeprefix("torch.")
    return Comparison(available(device)[-1], "network", name, False, error, max(gradient_errors), passed)


def _network_results(device: torch.device | str, dtype: torch.dtype) -> list[Tensor]:
    """Logits of two columns, and the gradients of all weights; weights and graph are the same on every device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = NBFNet(12, dim=8, num_layers=2, hidden_dim=8).to(device, dtype)
    edges = power_law_edges((300, 12), 3000, device=device, seed=0, chunk_edges=64)
    sets = torch.zeros(300, 2, device=device, dtype=dtype)
    sets[:2] = 1
    logits = network(edges, sets, torch.tensor([1, 2], device=device))
    return [logits.detach(), *torch.autograd.grad(logits.square().mean(), list(network.parameters()))]


def incidence_comparisons(edges: EdgeViews, dtypes: tuple[torch.dtype, ...], *, seed: int = 0) -> Iterator[Comparison]:
    """Both products with the incidence of some edges, with and without a mask, against the reference."""
    incidence = Incidence.of(edges)
    generator = torch.Generator(edges.device).manual_seed(seed)
    mask = torch.rand(edges.num_edges, device=edges.device, generator=generator) < 0.7
    for implementation in available(edges.device)[1:]:
        for dtype in dtypes:
            for is_masked in (False, True):
                weights = incidence.visible(mask, dtype) if is_masked else None
                yield _compared_products(incidence.table, weights, dtype, implementation, generator)


def _compared_products(
    table: SparseTable,
    weights: Tensor | None,
    dtype: torch.dtype,
    implementation: Implementation,
    generator: torch.Generator,
) -> Comparison:
    """A product there and one back; the gradient runs through both the other way."""
    x = torch.randn(table.size[1], 3, 8, device=table.by_row.other.device, generator=generator, dtype=torch.float64)
    results = []
    both: list[tuple[Implementation, torch.dtype]] = [(implementation, dtype), ("reference", torch.float64)]
    for who, kind in both:
        leaf = x.to(kind).requires_grad_()
        at_rows = sparse_product(table, leaf, weights, implementation=who)
        back = sparse_product(table.transposed, at_rows, weights, implementation=who)
        results.append((back.detach(), *torch.autograd.grad(back.square().sum(), [leaf])))
    error, gradient_error = (_distance(ours, theirs) for ours, theirs in zip(*results, strict=True))
    passed = max(error, gradient_error) <= TOLERANCE[dtype]
    name = str(dtype).removeprefix("torch.")
    return Comparison(implementation, "incidence", name, weights is not None, error, gradient_error, passed)


def speeds(device: torch.device | str = "cpu", *, count: int = 20_000, repeats: int = 3) -> list[Speed]:
    """How fast each implementation is on a power-law graph of `count` edges, 8 x 32 columns of float32."""
    edges = power_law_edges((count // 20, 400), count, device=device, seed=1)
    inputs = _draw(edges, (8, 32), torch.float32, torch.Generator(edges.device).manual_seed(1))
    return [_speed(edges, inputs, name, repeats) for name in available(device)]


def _compared(
    edges: EdgeViews,
    inputs: Inputs,
    message: Message,
    edge_mask: Bool[Tensor, " edge"] | None,
    implementation: Implementation,
) -> Comparison:
    double: Inputs = (inputs[0].double(), inputs[1].double(), inputs[2].double())
    found = relational_statistics(edges, *inputs, message=message, edge_mask=edge_mask, implementation=implementation)
    truth = relational_statistics(edges, *double, message=message, edge_mask=edge_mask, implementation="reference")
    error = max(_distance(ours, theirs) for ours, theirs in zip(found, truth, strict=True))
    rounded = tuple((value * 8).round() / 8 for value in inputs)
    upstream = [(torch.randn_like(value) * 8).round() / 8 for value in truth]
    grads = _gradients(edges, rounded, message, edge_mask, implementation, upstream)
    truths = _gradients(edges, tuple(value.double() for value in rounded), message, edge_mask, "reference", upstream)
    gradient_error = max(_distance(ours, theirs) for ours, theirs in zip(grads, truths, strict=True))
    dtype = inputs[0].dtype
    passed = error <= TOLERANCE[dtype] and gradient_error <= TOLERANCE[dtype]
    name = str(dtype).removeprefix("torch.")
    return Comparison(implementation, message, name, edge_mask is not None, error, gradient_error, passed)


def _gradients(
    edges: EdgeViews,
    inputs: tuple[Tensor, ...],
    message: Message,
    edge_mask: Tensor | None,
    implementation: Implementation,
    upstream: list[Tensor],
) -> tuple[Tensor, ...]:
    leaves = [value.clone().requires_grad_() for value in inputs]
    results = relational_statistics(
        edges, leaves[0], leaves[1], leaves[2], message=message, edge_mask=edge_mask, implementation=implementation
    )
    return torch.autograd.grad(results, leaves, [g.to(r.dtype) for g, r in zip(upstream, results, strict=True)])


def _distance(ours: Float[Tensor, "*shape"], theirs: Float[Tensor, "*shape"]) -> float:
    """‖ours - theirs‖ / ‖theirs‖; infinite if ours has a NaN."""
    if theirs.numel() == 0:
        return 0.0
    scale = theirs.norm().clamp(min=1e-30)
    return float(((ours.double() - theirs).norm() / scale).nan_to_num(nan=float("inf")))


def _draw(edges: EdgeViews, columns: tuple[int, int], dtype: torch.dtype, generator: torch.Generator) -> Inputs:
    sizes = (edges.num_nodes, edges.num_relations, edges.num_nodes)
    drawn = [torch.randn(size, *columns, device=edges.device, generator=generator).to(dtype) for size in sizes]
    return drawn[0], drawn[1], drawn[2]


def _speed(edges: EdgeViews, inputs: Inputs, implementation: Implementation, repeats: int) -> Speed:
    leaves = [value.clone().requires_grad_() for value in inputs]

    def forward() -> None:
        relational_statistics(edges, *inputs, implementation=implementation)

    def forward_backward() -> None:
        results = relational_statistics(edges, leaves[0], leaves[1], leaves[2], implementation=implementation)
        torch.autograd.grad(results, leaves, list(results))

    columns = inputs[0].shape[1] * inputs[0].shape[2]
    times = [_best(work, edges.device, repeats) for work in (forward, forward_backward)]
    return Speed(edges.device.type, implementation, edges.num_edges, columns, times[0], times[1])


def _best(work: Callable[[], None], device: torch.device, repeats: int) -> float:
    """Milliseconds of the fastest of several calls, after one that compiles what has to be compiled."""
    work()
    times = []
    for _ in range(repeats):
        _wait(device)
        start = time.perf_counter()
        work()
        _wait(device)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
