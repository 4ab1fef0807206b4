"""A batch of queries executed by beams, level by level.

Level by level, the inner variables of all queries get their beams in one walk over the blocks of entities; the answers
are one more walk. What is kept are beams: `beam` entities for each inner variable. The fuzzy set of a query or
sub-query is written out only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, walk
from unseen.logic.execute import Choose, Execution, LikelyWitness, projection_levels
from unseen.logic.link import Link
from unseen.methods.cqd_beam.beams import Beams, RunningTop
from unseen.methods.cqd_beam.graph_links import GraphLinks
from unseen.methods.cqd_beam.options import BeamOptions
from unseen.methods.cqd_beam.stage import Stage

MOST_TOGETHER = 1 << 26
"""Memberships written out for all answers of a batch as soon as one of them is asked for: 256 MB."""


class BeamExecution(Execution):
    """The beams of one batch, from which the fuzzy set of each query and sub-query follows."""

    def __init__(self, links: GraphLinks, options: BeamOptions, queries: Sequence[Query]) -> None:
        super().__init__(links.graph, options.operators, links.device)
        links = replace(links, popularity=options.popularity)
        self.links, self.options, self.queries = links, options, list(dict.fromkeys(queries))
        self.width = min(options.beam or links.num_entities, links.num_entities)
        self.beams = Beams.empty(self.width, links.device)
        self._witnesses: dict[Query, Stage] = {}
        for level in projection_levels(self.queries):
            self._keep([projection.source for projection in level])

    def stage(self, queries: Sequence[Query]) -> Stage:
        """The memberships of all entities in some queries or sub-queries of the batch, as blocks."""
        return Stage(self.links, self.options, self.beams, queries)

    def answers(self, queries: Sequence[Query]) -> Stage:
        """The same for queries that are asked for themselves: known answers are never lost."""
        return self.stage(queries).with_known_answers(queries)

    def dense(self, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """The memberships of all entities in some queries, all at once."""
        values = torch.empty(len(queries), self.links.num_entities, device=self.links.device)
        if queries:
            for start, block in self.answers(queries).blocks():
                values[:, start : start + block.shape[1]] = block
        return values

    def memberships(self, query: Query) -> Float[Tensor, " entity"]:
        """The fuzzy set of a query or sub-query of the batch."""
        if query not in self._sets:
            together = query in self.queries and len(self.queries) * self.links.num_entities <= MOST_TOGETHER
            asked = self.queries if together else [query]
            self._sets.update(zip(asked, self.dense(asked), strict=True))
        return self._sets[query]

    def has(self, query: Query) -> bool:
        """Whether it is a query or sub-query of the batch."""
        return any(query == node for known in self.queries for node in walk(known))

    def _keep(self, sources: Sequence[Query]) -> None:
        """Find the beams of these variables, in one walk over the entities."""
        wanted = [source for source in dict.fromkeys(sources) if not isinstance(source, Anchor)]
        variables = [source for source in wanted if source not in self.beams.row_of]
        if not variables:
            return
        top = RunningTop(len(variables), self.width, self.links.device)
        stage = self.stage(variables)
        for start, block in stage.blocks():
            if self.links.facts.candidates_in(start, start + block.shape[1]) or self.options.beam == 0:
                top.add(self.links.only_candidates_(block, start, -1.0), start)
        self.beams.add(variables, self._filled(top))

    def _filled(self, top: RunningTop) -> RunningTop:
        """As wide as a beam, where there are fewer candidates."""
        missing = self.width - top.values.shape[1]
        if missing > 0:
            top.values = torch.nn.functional.pad(top.values, (0, missing), value=-1)
            top.entities = torch.nn.functional.pad(top.entities, (0, missing))
        return top

    def _bind(self, query: Query, entity: int, witness: LikelyWitness, choose: Choose) -> None:
        match query:
            case Project(relation=int(relation)):
                source, value = self._best_head(query, entity)
                if query.variable is not None:
                    witness.bindings.setdefault(query.variable, (source, value))
                self._bind(query.source, source, witness, choose)
                witness.links.append(Link(source, relation, entity))
            case And():
                for part in query.parts:
                    self._bind(part, entity, witness, choose)
            case Or():
                if query not in self._witnesses:
                    self._witnesses[query] = self.stage(query.parts)
                values = self._witnesses[query].values(entity, entity + 1)
                self._bind(query.parts[int(values.argmax())], entity, witness, choose)
            case Not():
                witness.excluded.append((query.part, entity))

    @torch.no_grad()
    def _best_head(self, query: Project, entity: int) -> tuple[int, float]:
        """The head through which a tail has its membership, and the head's own."""
        if isinstance(query.source, Anchor):
            return int(query.source.entity), 1.0
        if query not in self._witnesses:  # its scales may take a walk over all candidates
            self._witnesses[query] = self.stage([query])
        atoms = self._witnesses[query].atoms[0]
        best = int(atoms.carried(slice(None), entity, entity + 1).argmax())
        entities, memberships = self.beams.of([query.source])
        return int(entities[0, best]), float(memberships[0, best])


class MixedExecution(Execution):
    """Queries of several types, each executed with the options of its type."""

    def __init__(self, links: GraphLinks, executions: dict[BeamOptions, BeamExecution]) -> None:
        first = next(iter(executions.values()))
        super().__init__(links.graph, first.logic, links.device)
        self._executions = executions
        self._of = {query: execution for execution in executions.values() for query in execution.queries}

    def memberships(self, query: Query) -> Float[Tensor, " entity"]:
        """The fuzzy set of a query, by its own options; of a sub-query, by those of the first query that has it."""
        return self._execution_of(query).memberships(query)

    def likely_witness(self, query: Query, entity: int, choose: Choose | None = None) -> LikelyWitness:
        """The best way to `entity` by the options of the query's own type."""
        return self._execution_of(query).likely_witness(query, entity, choose)

    def _execution_of(self, query: Query) -> BeamExecution:
        if query not in self._of:
            self._of[query] = next(each for each in self._executions.values() if each.has(query))
        return self._of[query]
