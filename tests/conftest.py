"""What all tests share: shapes in signatures are checked, Hypothesis is repeatable, a few graphs are at hand."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

SOURCE = Path(__file__).resolve().parents[1] / "src"
SHAPED_MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if "from jaxtyping import" in path.read_text(encoding="utf-8")
]
"""Modules whose signatures say the shapes of tensors; the hook must stand before any of them is imported."""

os.environ["UNSEEN_FIT"] = "0"  # models are tried as they are shipped; tests of weights for a graph turn it on
os.environ["UNSEEN_CACHE"] = ""  # tests find and leave nothing; those of the cache name a folder
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tensors here are tiny; threads would only wait for each other
install_import_hook(SHAPED_MODULES, "beartype.beartype")

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("repeatable"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("UNSEEN_HYPOTHESIS_PROFILE", "repeatable"))

FAMILY = [
    ("Ada", "parent", "Ben"),
    ("Ada", "parent", "Cleo"),
    ("Ben", "parent", "Dora"),
    ("Cleo", "parent", "Emil"),
    ("Ben", "likes", "Chess"),
    ("Dora", "likes", "Chess"),
    ("Emil", "likes", "Go"),
    ("Ada", "likes", "Go"),
]


def pytest_collection_finish() -> None:
    """Leave what has been imported out of garbage collection, which took a sixth of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session")
def countries() -> KnowledgeGraph:
    """The embedded graph; read once."""
    import unseen

    return unseen.load("countries")


@pytest.fixture
def family() -> KnowledgeGraph:
    """Eight facts about seven things: Ada, Ben, Cleo, Dora, Emil, Chess, Go."""
    from unseen.graph import KnowledgeGraph

    return KnowledgeGraph.from_triples(FAMILY)


@pytest.fixture
def single_edge() -> KnowledgeGraph:
    """The smallest graph that says anything."""
    from unseen.graph import KnowledgeGraph

    return KnowledgeGraph.from_triples([("a", "r", "b")])
