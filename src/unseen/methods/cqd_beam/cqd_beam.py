"""CQD-Beam: any tree-shaped query, answered with a method that only scores single links (the paper, section 4.1).

A query is a formula over atoms r(h, t). Every atom has a membership between 0 and 1 from the link's logit
(`memberships`), operators are those of a fuzzy logic, and an inner variable takes the value that makes the whole most
likely: membership of t in a projection is the maximum over heads h of (membership of h) and (membership of the link).
Of every inner variable only the `beam` likeliest values are kept, so a projection costs beam x dim x entities, and
memory does not grow with queries x entities x beam. With all values kept it is the exact maximum over all assignments.

| beyond the paper | option |
| --- | --- |
| negation: 1 - min(1, c m)ˢ | `negation`, `sharpness` |
| many heads that lead to one tail add up | `heads` |
| entities with many links are likelier tails | `popularity` |
| observed links are certain, predictions stay below them | `known_facts`, `ceiling` |
| memberships from learned affine maps, or from a softmax times the degree | `scale` |
| the value of every inner variable on the best way to an answer | `Execution.best_bindings` |

Options are per type of query (`Choices`); `unseen tune` chooses them on validation queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution
from unseen.logic.protocols import LinkScorer
from unseen.methods.cqd_beam.beam_execution import BeamExecution, MixedExecution
from unseen.methods.cqd_beam.graph_links import GraphFacts, GraphLinks, device_of
from unseen.methods.cqd_beam.link_calibration import LinkCalibration
from unseen.methods.cqd_beam.options import BeamOptions, Choices
from unseen.methods.cqd_beam.score_blocks import BeamScoreBlocks


class CqdBeam:
    """The method: an `Answerer`, an `Estimator` and a `BlockwiseAnswerer` over any `LinkScorer`.

    What a graph alone says (its edges, its candidates) is kept as long as the graph is; graphs never change, and one
    that has grown is another graph. What the scorer knows is asked of it in every call: keeping it is up to the scorer.
    """

    def __init__(
        self,
        scorer: LinkScorer,
        choices: Choices | BeamOptions | None = None,
        link_calibration: LinkCalibration | None = None,
    ) -> None:
        """With options for all queries or for each type; `calibrated` ones need a `link_calibration`."""
        self.scorer, self.link_calibration = scorer, link_calibration
        self.choices = choices if isinstance(choices, Choices) else Choices(choices or BeamOptions())
        used = [self.choices.default, *self.choices.types.values()]
        if link_calibration is None and any(options.scale == "calibrated" for options in used):
            raise UnseenError("calibrated memberships need a calibration of links: `unseen tune` fits one")
        self._facts: WeakKeyDictionary[KnowledgeGraph, dict[torch.device, GraphFacts]] = WeakKeyDictionary()

    def with_choices(self, choices: Choices | BeamOptions) -> CqdBeam:
        """The same with other options; what is known of graphs is shared."""
        other = CqdBeam(self.scorer, choices, self.link_calibration)
        other._facts = self._facts
        return other

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """Memberships of all entities in the answers of each query."""
        with torch.no_grad():
            links = self.links(graph)
            scores = torch.empty(len(queries), graph.num_entities, device=links.device)
            for execution, rows in self._executed(links, queries):
                scores[rows] = execution.dense([queries[row] for row in rows])
        return scores

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same, and the beams of all inner variables."""
        with torch.no_grad():
            links = self.links(graph)
            executions = {execution.options: execution for execution, _ in self._executed(links, queries)}
        if len(executions) == 1:
            return next(iter(executions.values()))
        return MixedExecution(
            links, executions or {self.choices.default: BeamExecution(links, self.choices.default, [])}
        )

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> BeamScoreBlocks:
        """The same memberships, a block of entities at a time, for graphs too large to score at once."""
        with torch.no_grad():
            links = self.links(graph)
            return BeamScoreBlocks(len(queries), list(self._executed(links, queries)), queries, links)

    def links(self, graph: KnowledgeGraph) -> GraphLinks:
        """A graph with its facts and its scored links."""
        scores = self.scorer.opened(graph)
        device = device_of(scores, graph)
        known = self._facts.setdefault(graph, {})
        if device not in known:
            known[device] = GraphFacts(graph, device)
        affine = None if self.link_calibration is None else self.link_calibration.columns(graph).to(device)
        return GraphLinks(graph, scores, known[device], affine)

    def _executed(self, links: GraphLinks, queries: Sequence[Query]) -> list[tuple[BeamExecution, list[int]]]:
        """One execution for all queries of the same options, and the positions of those queries."""
        rows: dict[BeamOptions, list[int]] = {}
        for row, query in enumerate(queries):
            rows.setdefault(self.choices.of(query), []).append(row)
        return [(BeamExecution(links, options, [queries[row] for row in some]), some) for options, some in rows.items()]
