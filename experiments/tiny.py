"""A grid that takes a minute on a CPU: a small benchmark of its own, every method with a handful of steps.

It shows that everything fits together; its numbers mean nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.grid import METHODS, Limits, MethodPlan

if TYPE_CHECKING:
    from unseen.datasets.dataset import Dataset
    from unseen.graph import KnowledgeGraph

ENTITIES, RELATIONS, EDGES = 90, 4, 700
QUERIES = 12
"""A type and split."""
TINY_LIMITS = Limits(6, 4, 6, 6, easy_first=6, strata=6, probabilities=4, time=2, tune=3, tune_alone=3)
SHARED: dict[str, Any] = {
    "steps": 4,
    "dim": 4,
    "batch_size": 8,
    "validate_every": 0,
    "validation_queries": 2,
    "calibration_queries": 3,
    "log_every": 1,
    "threads": 1,
    "patience": 0,
}
NETWORK = SHARED | {"layers": 2, "hidden_dim": 4}
LINKS = SHARED | {"layers": 1, "tokens": 3, "negatives": 4}
_TINY: dict[str, dict[str, Any]] = {
    "gnn-qe": NETWORK,
    "nodepiece-qe": LINKS,
    "nodepiece-qe-gnn": LINKS,
    "zero-shot-fine-tuned": {key: value for key, value in SHARED.items() if key != "dim"},
    "betae": SHARED | {"hidden_dim": 8, "negatives": 4, "margin": 8.0},
}
TINY_METHODS: dict[str, MethodPlan] = {
    name: replace(plan, settings={**plan.settings, **_TINY.get(name, {})}, by_ratio={})
    for name, plan in METHODS.items()
}


def tiny_dataset(ratio: int) -> Dataset:
    """A benchmark of all fourteen types on a graph in which relations follow from each other."""
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.sampling.sample import SampleOptions
    from unseen.datasets.sampling.sample_dataset import SamplePlan, sample_dataset
    from unseen.datasets.split import inductive_split
    from unseen.logic.shapes import SHAPES

    split = inductive_split(_tiny_graph(), ratio, seed=1)
    counts = {(side, name): QUERIES for side in ("train", "valid", "test") for name in SHAPES}
    plan = SamplePlan(counts=counts, options=SampleOptions(compatible=True))
    dataset = Dataset(f"tiny-{ratio}", split, manifest={"ratio": ratio, "kind": "inductive"})
    return sample_dataset(dataset, plan)[0]


def _tiny_graph() -> KnowledgeGraph:
    """Entities on a ring: relation r leads one, two, four or eight places on, give or take one."""
    from unseen.graph import KnowledgeGraph

    random = np.random.default_rng(0)
    heads, relations = random.integers(0, ENTITIES, EDGES), random.integers(0, RELATIONS, EDGES)
    tails = (heads + 2**relations + random.integers(-1, 2, EDGES)) % ENTITIES
    columns = zip(heads.tolist(), relations.tolist(), tails.tolist(), strict=True)
    return KnowledgeGraph.from_triples([(f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail in columns])
