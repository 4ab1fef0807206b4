"""What the loop asks of a method, the methods it can make, and what each of them learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.errors import ConfigError
from unseen.methods.beta_e import Architecture as BetaArchitecture
from unseen.methods.beta_e import BetaE
from unseen.methods.beta_e import Objective as BetaObjective
from unseen.methods.gnn_qe import Answering, Architecture, GnnQe, Objective
from unseen.methods.nodepiece_qe import Architecture as NodePieceArchitecture
from unseen.methods.nodepiece_qe import NodePieceQe
from unseen.methods.nodepiece_qe import Objective as LinkObjective
from unseen.methods.training_settings import BetaEConfig, GnnQeConfig, NodePieceQeConfig, TrainingConfig, ZeroShotConfig
from unseen.methods.zero_shot import Architecture as ZeroShotArchitecture
from unseen.methods.zero_shot import ZeroShot
from unseen.training.batches import AnswerSource, QuerySource
from unseen.training.link_batches import LinkSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from unseen.datasets.dataset import Dataset
    from unseen.training.batches import BatchSource

Trainable = GnnQe | NodePieceQe | ZeroShot | BetaE
"""A torch module with `losses(prepared batch, generator)`, one for each row, and `answer` and `estimate`.

Its batches come from its own `BatchSource`; all randomness of a step comes from the generator.
"""


def batch_source(method: Trainable, dataset: Dataset, config: TrainingConfig) -> BatchSource:
    """What a method learns from: queries with all or with one of their answers, or triples of the training graph."""
    if isinstance(method, GnnQe | ZeroShot) and isinstance(config, GnnQeConfig):
        return QuerySource.of(method, dataset, config)
    if isinstance(method, NodePieceQe) and isinstance(config, NodePieceQeConfig):
        return LinkSource.of(method, dataset, config)
    if isinstance(method, BetaE) and isinstance(config, BetaEConfig):
        return AnswerSource.of(method, dataset, config)
    raise ConfigError(f"{type(method).__name__} is not trained with {type(config).__name__}")


def chosen_device(wanted: str, local_rank: int = 0) -> torch.device:
    """The device of a name; `auto` is this process's GPU if there is one."""
    import torch

    if wanted == "auto":
        return torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ConfigError(f"there is no device {wanted!r}: use auto, cpu, cuda or cuda:1") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"the device {wanted} is asked for, but torch finds no GPU here")
    return torch.device("cuda", local_rank) if wanted == "cuda" else device


def make_method(
    config: TrainingConfig,
    relation_names: Sequence[str],
    entity_names: Sequence[str] = (),
    *,
    known_facts: bool = True,
) -> Trainable:
    """A method with fresh weights, as the settings and their seed say; `entity_names` are those that it knows."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        if isinstance(config, ZeroShotConfig):
            return _zero_shot(config, relation_names, known_facts)
        if isinstance(config, GnnQeConfig):
            return _gnn_qe(config, relation_names, known_facts)
        if isinstance(config, NodePieceQeConfig):
            return _nodepiece_qe(config, relation_names, entity_names, known_facts)
        if isinstance(config, BetaEConfig):
            return _beta_e(config, relation_names, entity_names)
    raise ConfigError(f"no method is trained with {type(config).__name__}")


def _answering(config: GnnQeConfig, known_facts: bool) -> Answering:
    return Answering(known_facts, config.ceiling, config.sharpness, sharpens_alone=config.inner_facts)


def _objective(config: GnnQeConfig) -> Objective:
    return Objective(
        config.traversal_dropout, config.edge_dropout, config.temperature, config.inner_facts, config.known_weight
    )


def _zero_shot(config: ZeroShotConfig, relation_names: Sequence[str], known_facts: bool) -> ZeroShot:
    shape = ZeroShotArchitecture(
        config.dim,
        config.layers,
        config.relation_layers,
        config.hidden_dim,
        config.message,  # type: ignore[arg-type]
        config.statistics,
        config.relation_dropout,
    )
    answering = _answering(config, known_facts)
    objective = _objective(config)
    remembers = relation_names if config.relation_memory else ()
    return ZeroShot(
        shape,
        objective,
        answering=answering,
        memory=int(config.memory_gib * 2**30) or None,
        remembers=remembers,
        memory_width=config.memory_width,
    )


def _gnn_qe(config: GnnQeConfig, relation_names: Sequence[str], known_facts: bool) -> GnnQe:
    memory = int(config.memory_gib * 2**30) or None
    shape = Architecture(
        config.dim,
        config.layers,
        config.hidden_dim,
        config.message,  # type: ignore[arg-type]
        config.relation_dropout,
    )
    answering = _answering(config, known_facts)
    objective = _objective(config)
    return GnnQe(relation_names, shape, objective, answering=answering, memory=memory)


def _nodepiece_qe(
    config: NodePieceQeConfig, relation_names: Sequence[str], anchor_names: Sequence[str], known_facts: bool
) -> NodePieceQe:
    import torch

    storage = {"float32": torch.float32, "bfloat16": torch.bfloat16}[config.storage]
    shape: dict[str, Any] = {
        "dim": config.dim,
        "tokens": config.tokens,
        "encoder": _encoder(config),
        "hidden_dim": config.hidden_dim,
        "layers": config.layers if config.gnn else 0,
        "aggregate": config.aggregate,
        "scorer": config.scorer,
        "margin": config.margin,
        "dropout": config.dropout,
        "anchors_per_node": config.anchors_per_node if config.anchors else 0,
        "token_seed": config.seed,
    }
    objective = LinkObjective(
        config.negatives,
        config.share_negatives,
        config.temperature,
        config.loss,  # type: ignore[arg-type]
        config.hidden_targets,
        config.token_dropout,
    )
    options = {"anchor_names": anchor_names, "known_facts": known_facts, "storage": storage}
    return NodePieceQe(relation_names, NodePieceArchitecture(**shape), objective, **options)  # type: ignore[arg-type]


def _beta_e(config: BetaEConfig, relation_names: Sequence[str], entity_names: Sequence[str]) -> BetaE:
    shape = BetaArchitecture(config.dim, config.hidden_dim, config.hidden_layers, config.margin, config.seed)
    return BetaE(relation_names, entity_names, shape, BetaObjective(config.negatives, config.rare_first))


def _encoder(config: NodePieceQeConfig) -> str:
    if config.encoder == "random-projection" and config.anchors:
        raise ConfigError("anchors need --encoder concat: random-projection has two sets of relations only")
    if config.encoder != "auto":
        return config.encoder
    return "concat" if config.gnn or config.anchors else "random-projection"
