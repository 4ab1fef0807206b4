"""Every method that answers questions, and how to make one. A new method is one entry; then it has the whole suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.methods.edge_type import EdgeType
from unseen.methods.exact import Exact
from unseen.methods.mined_rules import MinedRules
from unseen.methods.path_counts import PathCounts
from unseen.probability.calibration import Calibrated, Calibration, Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from torch import Tensor

    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.protocols import Answerer, Estimator

RELATION_NAMES = ("r0", "r1", "r2")
"""The relations of the graphs of the suite; a method that learns per relation learns these."""


@dataclass(frozen=True)
class MethodCase:
    """One way to set a method up; `make` gives an equal one each time."""

    name: str
    make: Callable[[], Answerer]
    knows_new_relations: bool = True
    """Whether it answers questions about relations that it never met."""
    is_probability: bool = True
    """Whether its scores lie in [0, 1]."""
    is_transductive: bool = False
    """Whether what it knows belongs to entities by name. Such a method is exempt from one promise, that edges of a new
    entity count; the suite then holds it to what it says instead: they do not, and new relations are refused."""
    reload: Callable[[Answerer, Path], Answerer] | None = None
    """Saves the method in a folder and loads it again; a method without state is made again instead."""

    def made_again(self, method: Answerer, folder: Path) -> Answerer:
        return self.make() if self.reload is None else self.reload(method, folder)


@dataclass(frozen=True)
class Estimated:
    """The probabilities of a method as its answers, so that they pass the suite too."""

    method: Estimator

    def answer(self, graph: KnowledgeGraph, queries: Sequence[Query]) -> Tensor:
        return self.method.estimate(graph, queries).stacked(queries)


def gnn_qe(*, known_facts: bool = True) -> Answerer:
    """An untrained network with the same random weights each time."""
    import torch

    from unseen.methods.fuzzy_gnn.neural_projector import Answering
    from unseen.methods.gnn_qe.gnn_qe import GnnQe, GnnQeShape

    torch.manual_seed(0)
    shape = GnnQeShape(dim=4, num_layers=2, hidden_dim=4)
    return GnnQe(RELATION_NAMES, shape, answering=Answering(known_facts)).eval()


def zero_shot(*, known_facts: bool = True, certain: bool = False, remembers: Sequence[str] = ()) -> Answerer:
    """An untrained model with the same random weights each time; what it remembers of relations is random too."""
    import torch

    from unseen.methods.fuzzy_gnn.neural_projector import Answering
    from unseen.methods.zero_shot.zero_shot import ZeroShot, ZeroShotShape

    torch.manual_seed(0)
    shape = ZeroShotShape(dim=4, num_layers=2, relation_layers=2, hidden_dim=4)
    answering = Answering(known_facts, sharpens_alone=certain)
    method = ZeroShot(shape, answering=answering, remembers=remembers, memory_width=3)
    if method.relation_memory is not None:
        for table in method.relation_memory.parameters():
            torch.nn.init.normal_(table, std=0.1)
    return method.eval()


def combined(**ways: float) -> Answerer:
    """The untrained model together with rules, by made-up weights."""
    from unseen.methods.combination import Combination
    from unseen.methods.combined import Combined

    evidence = {"network": {"one": 1.0, "size": -0.1}, "rules": {"one": 0.3, "quality": 0.5}, "sources": {"one": 0.1}}
    offset = {"one": -1.0, "known": 0.2, "tails": 0.1, "total": -0.5}
    return Combined(zero_shot(), MinedRules(samples=20), Combination(evidence, offset, **ways))


def reloaded_zero_shot(method: Answerer, folder: Path) -> Answerer:
    """The same for the zero-shot model."""
    return reloaded_weights(method, folder, zero_shot(known_facts=method.answering.known_facts))


def nodepiece_qe(layers: int = 0, known_facts: bool = True, anchors: bool = False) -> Answerer:
    """An untrained model with the same random weights each time."""
    import torch

    from unseen.methods.nodepiece_qe.nodepiece_qe import NodePieceQe
    from unseen.methods.nodepiece_qe.token_shape import NodePieceShape

    torch.manual_seed(0)
    encoder = "concat" if layers or anchors else "random-projection"
    shape = NodePieceShape(dim=6, tokens=2, encoder=encoder, layers=layers, anchors_per_node=2 if anchors else 0)
    names = ("entity 1/0", "entity 1/3", "entity 2/1") if anchors else ()
    return NodePieceQe(RELATION_NAMES, shape, anchor_names=names, known_facts=known_facts).eval()


def reloaded_nodepiece_qe(method: Answerer, folder: Path) -> Answerer:
    """The same for NodePiece-QE."""
    return reloaded_weights(method, folder, nodepiece_qe(method.architecture.layers, method.known_facts))


def reloaded_weights(method: Answerer, folder: Path, other: Answerer | None = None) -> Answerer:
    """The weights written as safetensors and read into a network that had others."""
    from safetensors.torch import load_model, save_model

    save_model(method, folder / "weights.safetensors")
    other = other or gnn_qe(known_facts=method.answering.known_facts)
    for weights in other.parameters():
        weights.data.zero_()
    load_model(other, folder / "weights.safetensors")
    return other


def beta_e() -> Answerer:
    """An untrained model that knows half of the suite's entities."""
    import torch

    from unseen.methods.beta_e.beta_e import BetaE
    from unseen.methods.beta_e.beta_shape import BetaShape

    torch.manual_seed(0)
    names = [f"entity 1/{number}" for number in range(6)]
    return BetaE(RELATION_NAMES, names, BetaShape(dim=6, hidden_dim=8)).eval()


def reloaded_beta_e(method: Answerer, folder: Path) -> Answerer:
    """The same for BetaE."""
    return reloaded_weights(method, folder, beta_e())


def calibrated() -> Calibrated:
    """A method with made-up curves of probability."""
    curve = Curve("temperature", (-24.0, 0.0, 24.0), (0.0, 0.25, 1.0))
    return Calibrated(EdgeType(), Calibration({"p1": curve, "p2": curve, "n1": curve}))


def calibrated_by_query() -> Calibrated:
    """A method with made-up probabilities by membership, rank and known answers."""
    from unseen.probability.query_calibration import QueryCalibration, QueryTerms

    predicted = {"offset": {"one": -2.0, "log_known": 0.2, "largest": 0.1}, "membership": {"one": 0.5, "depth": 0.1}}
    ranks = {"rank": {"one": 0.3, "negation": -1.0}, "relative_rank": {"one": 0.2}}
    known = QueryTerms({"offset": {"one": 1.0}, "membership": {"one": 0.7}})
    return Calibrated(EdgeType(), QueryCalibration(QueryTerms(predicted | ranks), known))


def calibrated_cqd_beam() -> Calibrated:
    """A method that gives its scores in blocks, with made-up probabilities by query."""
    from unseen.probability.calibration import calibrated as with_probabilities

    return with_probabilities(cqd_beam(), calibrated_by_query().calibration)


def cqd_beam(**options: object) -> Answerer:
    """Beams over vectors that belong to names; the beam holds all entities of the suite's graphs, which may tie."""
    from tests.methods.cqd_beam.scorers import NamedVectors
    from unseen.methods.cqd_beam import BeamOptions, Choices, CqdBeam
    from unseen.methods.cqd_beam.link_calibration import LinkCalibration

    chosen = BeamOptions(**{"beam": 20, **options})
    types = {"2i": BeamOptions(logic="goedel"), "3p": BeamOptions(beam=3, known_facts=False)}
    calibration = LinkCalibration((1.0, 0.0), {"r0": ((1.5, 0.5), (0.5, -1.0))})
    return CqdBeam(NamedVectors(), Choices(chosen, types), calibration)


METHODS = [
    MethodCase("exact", Exact),
    MethodCase("edge-type", EdgeType),
    MethodCase("edge-type probabilities", lambda: Estimated(EdgeType())),
    MethodCase("path-counts", PathCounts),
    MethodCase("rules", lambda: MinedRules(samples=20)),
    MethodCase("calibrated edge-type", calibrated),
    MethodCase("calibrated probabilities", lambda: Estimated(calibrated())),
    MethodCase("probabilities by query", lambda: Estimated(calibrated_by_query())),
    MethodCase("gnn-qe", lambda: gnn_qe(known_facts=False), knows_new_relations=False, reload=reloaded_weights),
    MethodCase("gnn-qe with known facts", gnn_qe, knows_new_relations=False, reload=reloaded_weights),
    MethodCase("zero-shot", zero_shot, reload=reloaded_zero_shot),
    MethodCase(  # untrained, and without known facts: which answer is best is nothing that it promises
        "zero-shot without known facts",
        lambda: zero_shot(known_facts=False),
        knows_new_relations=False,
        reload=reloaded_zero_shot,
    ),
    MethodCase(
        "zero-shot, certain of what it sees",
        lambda: zero_shot(known_facts=False, certain=True),
        knows_new_relations=False,
    ),
    MethodCase("zero-shot with a memory of relations", lambda: zero_shot(remembers=RELATION_NAMES[:2])),
    MethodCase("network and rules", combined),
    MethodCase("network and rules, sharpened", lambda: combined(sharpness=2.0, inner_sharpness=4.0)),
    MethodCase("cqd-beam", cqd_beam),
    MethodCase("cqd-beam, calibrated", lambda: cqd_beam(scale="calibrated", logic="goedel")),
    MethodCase("cqd-beam, softmax", lambda: cqd_beam(scale="softmax", negation=2.0, heads="any")),
    MethodCase("cqd-beam, min-max", lambda: cqd_beam(scale="min-max", beam=0)),
    MethodCase("cqd-beam probabilities", lambda: Estimated(cqd_beam())),
    MethodCase("calibrated cqd-beam", calibrated_cqd_beam),
    MethodCase("calibrated cqd-beam probabilities", lambda: Estimated(calibrated_cqd_beam())),
    MethodCase("nodepiece-qe", nodepiece_qe, knows_new_relations=False, reload=reloaded_nodepiece_qe),
    MethodCase(
        "nodepiece-qe with gnn",
        lambda: nodepiece_qe(layers=2, known_facts=False),
        knows_new_relations=False,
        reload=reloaded_nodepiece_qe,
    ),
    MethodCase(
        "betae",
        beta_e,
        knows_new_relations=False,
        is_probability=False,
        is_transductive=True,
        reload=reloaded_beta_e,
    ),
    MethodCase("betae memberships", lambda: Estimated(beta_e()), knows_new_relations=False, is_transductive=True),
    MethodCase("nodepiece-qe with anchors", lambda: nodepiece_qe(anchors=True), knows_new_relations=False),
]
