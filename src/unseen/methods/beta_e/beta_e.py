"""BetaE: a transductive method, the control of the paper's section 5.2 (Ren and Leskovec, 2020; `nn.beta`).

Every entity of the training graph has a learned vector, known by the entity's *name*; queries become Beta distributions
(`embedding`), and the score of an entity is margin - distance. Edges of the graph that is asked are never looked at.
An entity that was not trained on has a random vector, made from its name (`named_vectors`): it is answered about, but
nothing is known of it. A question about a relation that the model never saw is refused.

    L = w/2 [ softplus(d(a) - margin) + 1/n Σ_j softplus(margin - d(n_j)) ]

for one random answer a and n random entities n_j that are no answers of the query; w weighs rare queries up.

Cost of a step of B queries: one matrix of about B dim hidden_dim for each level, terms of B (n + 1) entities, or of
all if these are fewer. To answer: 4 dim operations for each query and entity, one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import softplus

from unseen.graph import KnowledgeGraph
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution
from unseen.logic.shapes import Shape, slot_values, template_of
from unseen.methods.beta_e.beta_shape import BetaObjective, BetaShape
from unseen.methods.beta_e.distance_execution import BetaExecution
from unseen.methods.beta_e.embedding import FormGroup, Networks, branches_of, embed
from unseen.methods.beta_e.entity_table import BetaScores, EntityTable
from unseen.methods.beta_e.named_vectors import named_vectors
from unseen.methods.beta_e.training_questions import AnsweredQueries, QuestionBatch, TrainingQuestions
from unseen.methods.model_relations import ModelRelations
from unseen.methods.trainable import Trainable
from unseen.nn.beta import BetaIntersection, BetaProjection, distances_to_own, entity_terms, regular


class BetaE(Trainable):
    """The method: an `Answerer`, an `Estimator`, a `BlockwiseAnswerer`, and trainable."""

    def __init__(
        self,
        relation_names: Sequence[str],
        entity_names: Sequence[str],
        architecture: BetaShape | None = None,
        objective: BetaObjective | None = None,
    ) -> None:
        """For relations and entities of these names."""
        super().__init__()
        shape = self.architecture = architecture or BetaShape()
        self.objective = objective or BetaObjective()
        self.relation_names, self.entity_names = tuple(relation_names), tuple(entity_names)
        first = named_vectors(self.entity_names, 2 * shape.dim, shape.spread, shape.seed)
        self.entities = nn.Parameter(torch.from_numpy(first))
        self.relations = nn.Parameter(torch.empty(2 * len(self.relation_names), shape.dim))
        nn.init.uniform_(self.relations, -shape.spread, shape.spread)
        self.projection = BetaProjection(shape.dim, shape.hidden_dim, shape.hidden_layers)
        self.intersection = BetaIntersection(shape.dim)
        self._tables: WeakKeyDictionary[KnowledgeGraph, EntityTable] = WeakKeyDictionary()

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where everything is computed."""
        return self.entities.device

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Float[Tensor, "query entity"]:
        """The margin less the distance of all entities for each query."""
        scores = torch.empty(len(queries), graph.num_entities, device=self.device)
        for start, block in self.score_blocks(graph, queries).blocks():
            scores[:, start : start + block.shape[1]] = block
        return scores

    def estimate(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Execution:
        """The same as memberships, sigmoid of the score; of sub-queries when they are asked for."""
        return BetaExecution(graph, self, queries, self.device)

    def score_blocks(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> BetaScores:
        """The same scores, a block of entities at a time."""
        with torch.no_grad():
            table = self.table(graph)
            branches = self._embedded(table, queries)
        return BetaScores(table, self.architecture.margin, len(queries), branches)

    def table(self, graph: KnowledgeGraph) -> EntityTable:
        """The entities of a graph: made once for each graph and state of the weights, gone when the graph is."""
        weights = self.entities.detach().double()
        state = (str(self.device), *torch.stack([weights.sum(), weights.square().sum()]).tolist())
        known = self._tables.get(graph)
        if known is None or known.state != state:
            relations = ModelRelations.of(graph, self.relation_names) if known is None else known.relations
            ids = graph.vocabulary.entities.find_keys(self.entity_names).astype(np.int64)
            found = (ids, self.entities.detach())
            known = self._tables[graph] = EntityTable.of(graph, relations, found, self.architecture, state)
        return known

    def training_questions(self, graph: KnowledgeGraph, tables: Sequence[AnsweredQueries]) -> TrainingQuestions:
        """Queries about a graph, and their answers, on the model's device."""
        numbers = np.full(graph.num_entities, -1, np.int64)
        ids = graph.vocabulary.entities.find_keys(self.entity_names)
        numbers[ids[ids >= 0]] = np.flatnonzero(ids >= 0)
        relations = ModelRelations.of(graph, self.relation_names)
        return TrainingQuestions.of(tables, numbers, relations, len(self.entity_names), self.device)

    def losses(self, batch: QuestionBatch, generator: torch.Generator) -> Float[Tensor, " row"]:
        """The loss of each query of a prepared batch."""
        each = self.objective.negatives
        draws = torch.rand(batch.batch_size, each, generator=generator, device=self.device, dtype=torch.float64)
        drawn = batch.questions.negatives(batch.numbers, draws[batch.places])
        wanted = torch.cat([batch.positives.unsqueeze(1), drawn], dim=1)
        parameters = regular(self.entities)
        networks = Networks(self.projection, self.intersection, parameters, self.relations)
        far = self._nearest(embed(batch.groups, networks), batch.branches, *_terms_of(parameters, wanted))
        margin = self.architecture.margin
        losses = softplus(far[:, 0] - margin) + softplus(margin - far[:, 1:]).mean(dim=1)
        return losses / 2 * (batch.weights if self.objective.rare_first else 1.0)

    def _nearest(
        self,
        embedded: Sequence[Float[Tensor, "_ numbers"]],
        branches: Sequence[int],
        directions: Float[Tensor, "row each numbers"],
        constants: Float[Tensor, "row each"],
    ) -> Float[Tensor, "row each"]:
        """The distance of each query to entities of its own, by the nearest of its branches."""
        queries, start = list(embedded), 0
        if set(branches) == {1}:
            return distances_to_own(torch.cat(queries), directions, constants)
        found = []
        for count in branches:
            some, queries = queries[:count], queries[count:]
            part = slice(start, start + len(some[0]))
            start = part.stop
            each = [distances_to_own(one, directions[part], constants[part]) for one in some]
            found.append(torch.stack(each).amin(dim=0))
        return torch.cat(found)

    def _embedded(self, table: EntityTable, queries: Sequence[Query]) -> list[tuple[Tensor, Tensor]]:
        """The queries by the number of their branch, all of one form at a time."""
        rows: dict[str, list[int]] = {}
        for row, query in enumerate(queries):
            rows.setdefault(template_of(query), []).append(row)
        slots = {form: self._slots(table, form, [queries[row] for row in some]) for form, some in rows.items()}
        networks = Networks(self.projection, self.intersection, table.parameters, self.relations)
        keys = [(place, form) for form in rows for place in range(len(branches_of(form)))]
        found = embed([FormGroup(branches_of(form)[place], slots[form]) for place, form in keys], networks)
        levels: dict[int, list[tuple[list[int], Tensor]]] = {}
        for (place, form), parameters in zip(keys, found, strict=True):
            levels.setdefault(place, []).append((rows[form], parameters))
        return [_joined(levels[place], self.device) for place in sorted(levels)]

    def _slots(self, table: EntityTable, form: str, queries: Sequence[Query]) -> Int[Tensor, "row slot"]:
        """What stands in the slots, relations in the model's numbers."""
        slots = np.array([slot_values(query) for query in queries], np.int64)
        for place, kind in enumerate(Shape(form, form).slots):
            if kind == "r":
                slots[:, place] = table.relations.known(slots[:, place])
        return torch.from_numpy(slots).to(self.device)


def _terms_of(
    parameters: Float[Tensor, "entity numbers"], wanted: Int[Tensor, "row each"]
) -> tuple[Float[Tensor, "row each numbers"], Float[Tensor, "row each"]]:
    """What some entities bring into distances; computed for all where that is less."""
    flat = wanted.flatten()
    if len(parameters) <= len(flat):
        directions, constants = (term.index_select(0, flat) for term in entity_terms(parameters))
    else:
        directions, constants = entity_terms(parameters.index_select(0, flat))
    return directions.view(*wanted.shape, -1), constants.view(wanted.shape)


def _joined(parts: Sequence[tuple[list[int], Tensor]], device: torch.device) -> tuple[Tensor, Tensor]:
    rows = torch.tensor([row for some, _ in parts for row in some], device=device)
    return rows, torch.cat([parameters for _, parameters in parts])
