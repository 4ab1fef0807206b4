"""What a method supplies, and what the rest of the world sees of it. The graph is always an argument.

Axis words: `batch` rows of one call, `query` questions, `entity` all entities of the graph's vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query


@runtime_checkable
class Projector(Protocol):
    """One relation step on fuzzy sets of entities."""

    def project(
        self, graph: KnowledgeGraph, sets: Float[Tensor, "batch entity"], relations: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch entity"]:
        """Row i: membership of each entity in what directed relation `relations[i]` leads to from `sets[i]`."""
        ...


@runtime_checkable
class Answerer(Protocol):
    """Anything that ranks the entities of a graph for questions: higher is better."""

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Scores of all entities for each query (with ids of the graph's vocabulary)."""
        ...


@runtime_checkable
class ScoreBlocks(Protocol):
    """Scores of a batch of questions, some entities at a time."""

    def blocks(self) -> Iterator[tuple[int, Float[Tensor, "query block"]]]:
        """The first entity of every block and the scores of its entities: all of them, the same values each time."""
        ...


@runtime_checkable
class BlockwiseAnswerer(Protocol):
    """A method that can rank more entities than there is memory for their scores."""

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> ScoreBlocks:
        """The scores of `answer`, block by block."""
        ...


@runtime_checkable
class Estimates(Protocol):
    """Probabilities of a batch of questions; an `Execution` is one."""

    def stacked(self, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Probabilities of all entities for some of the questions, one a row."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """A method whose answers are probabilities: they can be counted and held against what came true."""

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Estimates:
        """Probabilities of all entities for each query (with ids of the graph's vocabulary)."""
        ...


@runtime_checkable
class LinkScorer(Protocol):
    """A method that scores single links; CQD-Beam answers whole queries with it."""

    def opened(self, graph: KnowledgeGraph) -> LinkScores:
        """What it knows of the entities of a graph, computed once for each graph."""
        ...


@runtime_checkable
class LinkScores(Protocol):
    """The links of one graph: logits of (head, directed relation, any tail), for a block of tails at a time."""

    @property
    def num_entities(self) -> int:
        """Entities of the graph's vocabulary."""
        ...

    def towards(self, heads: Int[Tensor, " row"], relations: Int[Tensor, " row"]) -> Float[Tensor, "row dim"]:
        """One vector a row that stands for where its head and relation lead."""
        ...

    def block(self, towards: Float[Tensor, "row dim"], start: int, stop: int) -> Float[Tensor, "row block"]:
        """The logit of every entity from `start` to before `stop` being there."""
        ...
