"""The certainty threshold: without known facts, memberships from there on count as certain.

A network that learned to predict what is missing need not give memberships near 1 to what edges say; it is enough
that they lie above all others. Logic needs more: what is known to be excluded must be excluded. So a few facts of the
graph itself are asked for. Half way between what nearly all of them reach and what hardly any other entity does, a
membership begins to count as a known fact would; below, as a prediction. No answer of any query is looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unseen.methods.fuzzy_gnn.edge_following import follow_in_parts
from unseen.methods.fuzzy_gnn.training_batch import one_hot
from unseen.methods.fuzzy_gnn.training_pass import Believed, believed
from unseen.nn.weights_version import Version, weights_version

if TYPE_CHECKING:
    from unseen.methods.fuzzy_gnn.compact_graph import CompactGraph
    from unseen.methods.fuzzy_gnn.neural_projector import NeuralProjector

FACTS = 48
"""Facts that are asked for, each together with all others of its source and relation."""
ALL = 256
"""Directed edges of a graph of which all are asked for: then the level does not depend on how entities are numbered."""
FEW = 0.02, 0.1
"""The share of seen facts that may lie below their level, and of rows whose best other entity may lie above its."""
TRACE = 1e-5
"""How far certain memberships are told apart."""

_levels: WeakKeyDictionary[CompactGraph, tuple[Version, float]] = WeakKeyDictionary()


def certain_level(model: NeuralProjector, compact: CompactGraph) -> float:
    """The membership from which on the model is certain on this graph; measured once for its weights."""
    version = weights_version(list(model.parameters()), model.training)
    known = _levels.get(compact)
    if known is None or known[0] != version:
        known = _levels[compact] = (version, _measured(model, compact))
    return known[1]


def with_certain(
    predicted: Float[Tensor, "row node"], level: float, beside_facts: Believed
) -> Float[Tensor, "row node"]:
    """Memberships as they count without known facts: certain ones nearly 1, in their order, others as predictions.

    In float64: the float32 numbers between 1 - TRACE and 1 are too few to keep distinct memberships apart.
    """
    certain = 1 - TRACE * (1 - predicted.double())
    return torch.where(predicted >= level, certain, believed(predicted, beside_facts).double())


def _measured(model: NeuralProjector, compact: CompactGraph) -> float:
    source, relation, _ = compact.canonical_ends
    if not len(source):
        return 1.0
    count = len(source) if len(source) <= ALL else FACTS
    drawn = torch.randperm(len(source), generator=torch.Generator().manual_seed(0))[:count].to(source.device)
    sets, relations = one_hot(source[drawn], compact.num_nodes), relation[drawn].cpu()
    with torch.no_grad():
        predicted = model.project_nodes(compact, sets, relations)
    is_seen = follow_in_parts(compact, sets, relations.numpy()) > 0
    seen = float(np.quantile(predicted[is_seen].cpu().numpy(), FEW[0]))
    others = float(np.quantile(predicted.masked_fill(is_seen, 0.0).amax(dim=1).cpu().numpy(), 1 - FEW[1]))
    return math.sqrt(seen * others) if others else seen  # there may be no other entity
