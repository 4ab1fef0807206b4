"""Settings of a training run: one frozen dataclass per method is the TOML file, the flags and the documentation.

```toml
steps = 2000
learning_rate = 0.002
types = ["1p", "2p", "2i"]
```

A key that does not exist is an error, and so is a value outside its range. Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, TypeVar, cast, get_args, get_type_hints

from unseen.errors import ConfigError

Check = tuple[str, Callable[[Any], bool]]
Config = TypeVar("Config", bound="TrainingConfig")

POSITIVE: Check = ("positive", lambda value: value > 0)
NOT_NEGATIVE: Check = ("zero or more", lambda value: value >= 0)
BELOW_ONE: Check = ("at least 0 and below 1", lambda value: 0 <= value < 1)
EVEN: Check = ("positive and even", lambda value: value > 0 and value % 2 == 0)
SHARE: Check = ("between 0 and 1", lambda value: 0 <= value <= 1)

TRAINED_TYPES = ("1p", "2p", "3p", "2i", "3i", "2in", "3in", "inp", "pin", "pni")
"""The ten types that the paper trains on; ip, pi, 2u and up are only tested."""
TYPES = (*TRAINED_TYPES[:5], "pi", "ip", "2u", "up", *TRAINED_TYPES[5:])
"""All fourteen."""
SCORERS = ("complex", "distmult", "transe", "rotate")


def one_of(*values: str) -> Check:
    """A check for a few words."""
    return f"one of {', '.join(values)}", lambda value: value in values


def setting(default: Any, about: str, check: Check | None = None) -> Any:
    """A field with its documentation and its range."""
    return field(default=default, metadata={"help": about, "check": check})


@dataclass(frozen=True)
class TrainingConfig:
    """What every method's run has."""

    batch_size: int = setting(64, "Queries in a step, over all processes.", POSITIVE)
    steps: int = setting(10_000, "Steps in all.", POSITIVE)
    learning_rate: float = setting(5e-3, "Of Adam.", POSITIVE)
    schedule: str = setting(
        "constant", "How it falls to zero: constant, linear, cosine.", one_of("constant", "linear", "cosine")
    )
    warmup: int = setting(0, "Steps in which it rises from zero.", NOT_NEGATIVE)
    weight_decay: float = setting(0.0, "Shrinking of weights, apart from the gradient (AdamW).", NOT_NEGATIVE)
    clip_norm: float = setting(0.0, "Largest norm of a gradient; 0 is no limit.", NOT_NEGATIVE)
    average: float = setting(
        0.999, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    seed: int = setting(0, "Of weights, batches and dropout.", NOT_NEGATIVE)
    validate_every: int = setting(500, "Steps between validations; 0 is only at the end.", NOT_NEGATIVE)
    validation_queries: int = setting(100, "Queries a type in a validation, always the same ones.", POSITIVE)
    validation_types: tuple[str, ...] = setting((), "Types of queries in a validation; all that there are by default.")
    validation_metric: str = setting(
        "hits_at_10",
        "What the best checkpoint is best at.",
        one_of("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "hits_at_100"),
    )
    calibration_queries: int = setting(
        300, "Validation queries a type that probabilities are fitted to at the end; 0 is none.", NOT_NEGATIVE
    )
    patience: int = setting(0, "Stop after so many validations without a better one; 0 is never.", NOT_NEGATIVE)
    checkpoint_every: int = setting(500, "Steps between checkpoints.", POSITIVE)
    log_every: int = setting(20, "Steps between lines of metrics.jsonl.", POSITIVE)
    device: str = setting("auto", "cpu, cuda, cuda:1, ...; auto takes a GPU if there is one.")
    threads: int = setting(0, "Threads on the CPU; 0 leaves it to torch.", NOT_NEGATIVE)
    precision: str = setting(
        "high",
        "Of matrix products in float32: highest, high (TF32 on a GPU), medium.",
        one_of("highest", "high", "medium"),
    )
    tensorboard: bool = setting(False, "Write TensorBoard logs too; needs the package tensorboard.")

    def __post_init__(self) -> None:
        _checked_values(type(self), asdict(self))


@dataclass(frozen=True)
class GnnQeConfig(TrainingConfig):
    """Settings of GNN-QE; defaults are the paper's table and what validation queries added to it (docs/gnn-qe.md)."""

    types: tuple[str, ...] = setting(TRAINED_TYPES, "Types of queries to train on.")
    type_weights: tuple[str, ...] = setting((), "How often a type is drawn beside others, as 1p=2; 1 by default.")
    layers: int = setting(4, "Layers of the network in each projection.", POSITIVE)
    dim: int = setting(32, "Width of the network.", POSITIVE)
    hidden_dim: int = setting(64, "Width of the output's hidden layer.", POSITIVE)
    message: str = setting(
        "distmult", "How messages are made: distmult, transe, rotate.", one_of("distmult", "transe", "rotate")
    )
    relation_dropout: float = setting(0.3, "Share of the relations' numbers that is left out in a step.", BELOW_ONE)
    traversal_dropout: float = setting(0.5, "Probability that an edge on a walk to an answer is hidden.", SHARE)
    edge_dropout: float = setting(0.0, "Largest share of all edges that is hidden in a step.", SHARE)
    temperature: float = setting(0.1, "Of the weights of negatives; small means that only the hardest count.", POSITIVE)
    ceiling: float = setting(0.9, "Answering: the largest membership of what no observed edge supports.", SHARE)
    sharpness: float = setting(
        16.0,
        "Answering: predictions count to this power; without known facts or --inner-facts, those under a not.",
        POSITIVE,
    )
    inner_facts: bool = setting(True, "Inner sets in training follow visible edges, as answering with known facts.")
    known_weight: float = setting(0.3, "Weight of an answer that visible edges give; 1 is the paper's.", SHARE)
    memory_gib: float = setting(0.0, "Memory for one projection; 0 is half of the GPU, or 8 on the CPU.", NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        parsed_weights(self.type_weights)


@dataclass(frozen=True)
class ZeroShotConfig(GnnQeConfig):
    """Settings of the zero-shot model: those of GNN-QE, and the network over relations; the shape is the published."""

    layers: int = setting(6, "Layers of the network in each projection.", POSITIVE)
    relation_layers: int = setting(6, "Layers of the network over the graph of relations.", POSITIVE)
    dim: int = setting(64, "Width of both networks.", POSITIVE)
    statistics: bool = setting(False, "Vectors of relations also come from statistics of the graph's relations.")
    relation_dropout: float = setting(0.0, "Share of the relations' numbers that is left out in a step.", BELOW_ONE)
    relation_memory: bool = setting(
        False, "Remember the dataset's relations by name, beside reading them as any; with --from the default."
    )
    memory_width: int = setting(
        32, "Numbers of a query relation that each layer remembers others by; 0 is none.", NOT_NEGATIVE
    )
    learning_rate: float = setting(1e-3, "Of Adam.", POSITIVE)
    clip_norm: float = setting(1.0, "Largest norm of a gradient; 0 is no limit.", NOT_NEGATIVE)


@dataclass(frozen=True)
class PretrainingConfig(ZeroShotConfig):
    """Settings of pre-training: those of the zero-shot model, and how worlds are cut out of graphs."""

    batch_size: int = setting(32, "Queries in a step, all on one world.", POSITIVE)
    types: tuple[str, ...] = setting(TYPES, "Types of queries to train on.")
    known_weight: float = setting(0.1, "Weight of an answer that visible edges give; 1 is the paper's.", SHARE)
    schedule: str = setting(
        "cosine", "How it falls to zero: constant, linear, cosine.", one_of("constant", "linear", "cosine")
    )
    warmup: int = setting(200, "Steps in which it rises from zero.", NOT_NEGATIVE)
    validation_queries: int = setting(50, "Queries a type and graph in a validation, always the same ones.", POSITIVE)
    validation_types: tuple[str, ...] = setting(
        ("1p", "2p", "2i", "pi", "2in", "pin"), "Types of queries in a validation."
    )
    calibration_queries: int = setting(
        200, "Queries a type and graph that probabilities are fitted to at the end; 0 is none.", NOT_NEGATIVE
    )
    worlds_at_once: int = setting(4, "Worlds that take turns, step by step.", POSITIVE)
    steps_per_world: int = setting(32, "Steps in each world before it is replaced.", POSITIVE)
    smallest_world: int = setting(5_000, "Edges of the smallest worlds, about.", POSITIVE)
    largest_world: int = setting(300_000, "Edges of the largest worlds.", POSITIVE)
    queries_per_type: int = setting(400, "Most queries of a type that a world is asked.", POSITIVE)
    whole_worlds: float = setting(0.3, "Share of the worlds in which no edge is hidden beforehand.", SHARE)
    hidden_share: float = setting(0.4, "In the others, the largest share of all edges that is hidden.", SHARE)
    growing_worlds: float = setting(
        0.6, "Of these worlds, the share in which only edges of new entities are hidden.", SHARE
    )
    rare_relations: float = setting(0.3, "And the largest share of relations that keep a handful of edges.", SHARE)
    dense_worlds: float = setting(0.0, "Share of the worlds that are a few entities with many edges.", SHARE)
    made_up_relations: float = setting(
        0.0, "Largest share of relations that are cut into pieces in a world, and of shortcuts added to it.", SHARE
    )
    held_out: float = setting(0.1, "Share of entities and relations set aside for validation.", BELOW_ONE)
    sampler_threads: int = setting(0, "Threads that make worlds; 0 is all cores but one, at most 8.", NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relation_memory:
            raise ConfigError("relation_memory is for a dataset of one's own; worlds are to be answered without names")


@dataclass(frozen=True)
class NodePieceQeConfig(TrainingConfig):
    """Settings of NodePiece-QE; defaults are the paper's for its reference dataset, see `recipes`."""

    recipe: str = setting(
        "paper",
        "Where other defaults come from: paper (its reference dataset), large-batch (minutes on a GPU).",
        one_of("paper", "large-batch"),
    )
    batch_size: int = setting(256, "Triples in a step, over all processes.", POSITIVE)
    steps: int = setting(400_477, "Steps in all.", POSITIVE)
    learning_rate: float = setting(1e-4, "Of Adam.", POSITIVE)
    average: float = setting(
        0.0, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    validate_every: int = setting(2000, "Steps between validations; 0 is only at the end.", NOT_NEGATIVE)
    validation_queries: int = setting(1000, "Queries a type in a validation, always the same ones.", POSITIVE)
    validation_types: tuple[str, ...] = setting(("1p",), "Types of queries in a validation; it learns from 1p alone.")
    gnn: bool = setting(False, "Refine entity vectors by CompGCN along the edges.")
    layers: int = setting(3, "Layers of CompGCN, if there is one.", POSITIVE)
    dim: int = setting(400, "Width of tokens, relations and entities; even.", EVEN)
    hidden_dim: int = setting(0, "Width of the encoder's hidden layer; 0 is dim, with concat twice that.", NOT_NEGATIVE)
    encoder: str = setting(
        "auto",
        "How tokens become a vector: random-projection, concat; auto is concat with a GNN or anchors.",
        one_of("auto", "random-projection", "concat"),
    )
    tokens: int = setting(20, "Relation tokens of a node; random-projection has so many for each direction.", POSITIVE)
    anchors: int = setting(0, "Nodes of the training graph that are tokens too; 0 is none.", NOT_NEGATIVE)
    anchors_per_node: int = setting(20, "Nearest anchors among a node's tokens, if there are anchors.", POSITIVE)
    aggregate: str = setting("sum", "How CompGCN adds messages up: sum, mean.", one_of("sum", "mean"))
    scorer: str = setting("complex", "How a link is scored: complex, distmult, transe, rotate.", one_of(*SCORERS))
    margin: float = setting(12.0, "Logit of a link of distance 0, for transe and rotate.", POSITIVE)
    dropout: float = setting(0.0, "Of the encoder's hidden layer and of CompGCN's updates.", BELOW_ONE)
    negatives: int = setting(128, "Negatives for each triple; 0 takes all nodes.", NOT_NEGATIVE)
    share_negatives: bool = setting(False, "Draw negatives once for all triples of a batch.")
    temperature: float = setting(0.5, "Of the weights of negatives; small means that only the hardest count.", POSITIVE)
    loss: str = setting("bce", "bce (logits are memberships), or softmax (they only rank).", one_of("bce", "softmax"))
    hidden_targets: float = setting(
        0.0, "Probability that an edge to predict is hidden from the tokens and the GNN that predict it.", SHARE
    )
    token_dropout: float = setting(0.0, "Probability that a token of a node is left out in a step.", BELOW_ONE)
    storage: str = setting(
        "float32", "How entity vectors are kept to answer: float32, bfloat16.", one_of("float32", "bfloat16")
    )


@dataclass(frozen=True)
class BetaEConfig(TrainingConfig):
    """Settings of BetaE; defaults are the paper's, and where it is silent the published ones for FB15k-237."""

    batch_size: int = setting(512, "Queries in a step, over all processes.", POSITIVE)
    steps: int = setting(200_000, "Steps in all.", POSITIVE)
    learning_rate: float = setting(5e-4, "Of Adam.", POSITIVE)
    average: float = setting(
        0.0, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    validate_every: int = setting(10_000, "Steps between validations; 0 is only at the end.", NOT_NEGATIVE)
    validation_metric: str = setting(
        "mrr",
        "What the best checkpoint is best at.",
        one_of("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "hits_at_100"),
    )
    checkpoint_every: int = setting(10_000, "Steps between checkpoints.", POSITIVE)
    log_every: int = setting(100, "Steps between lines of metrics.jsonl.", POSITIVE)
    types: tuple[str, ...] = setting(TRAINED_TYPES, "Types of queries to train on.")
    type_weights: tuple[str, ...] = setting((), "How often a type is drawn beside others, as 1p=2; 1 by default.")
    dim: int = setting(400, "Beta distributions of an entity, numbers of a relation.", POSITIVE)
    hidden_dim: int = setting(1600, "Width of the projection's hidden layers.", POSITIVE)
    hidden_layers: int = setting(2, "Hidden layers of the projection.", POSITIVE)
    margin: float = setting(60.0, "Distance at which an entity is as likely an answer as not.", POSITIVE)
    negatives: int = setting(32, "Entities for each query that do not answer it.", POSITIVE)
    rare_first: bool = setting(True, "Weigh queries of few answers up, as published.")

    def __post_init__(self) -> None:
        super().__post_init__()
        parsed_weights(self.type_weights)


CONFIGS: dict[str, type[TrainingConfig]] = {
    "gnn-qe": GnnQeConfig,
    "nodepiece-qe": NodePieceQeConfig,
    "zero-shot": ZeroShotConfig,
    "betae": BetaEConfig,
}
"""The settings of each trainable method, by its name."""

PRETRAINING = "pretraining"
RUNS: dict[str, type[TrainingConfig]] = CONFIGS | {PRETRAINING: PretrainingConfig}
"""The settings of everything that a run folder can be of."""

FIXED = (
    *("layers", "relation_layers", "statistics", "relation_memory", "memory_width", "dim", "hidden_dim", "message"),
    *("batch_size", "seed", "types", "type_weights"),
    *("worlds_at_once", "steps_per_world", "smallest_world", "largest_world", "queries_per_type", "held_out"),
    *("whole_worlds", "hidden_share", "rare_relations", "growing_worlds", "dense_worlds", "made_up_relations"),
    *("gnn", "encoder", "tokens", "anchors", "anchors_per_node", "aggregate", "scorer", "hidden_layers", "margin"),
)
"""What cannot change when a run is resumed."""
BEFORE = {
    "inner_facts": False,
    "known_weight": 1.0,
    "growing_worlds": 0.0,
    "made_up_relations": 0.0,
    "memory_width": 0,
    "dense_worlds": 0.0,
    "statistics": False,
}
"""What was so before there was a setting of that name: runs whose file does not have it were made with these."""


def as_before(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    """The settings of a file that may be older than some of them."""
    known = {each.name for each in fields(kind)}
    return from_mapping(kind, {name: value for name, value in BEFORE.items() if name in known} | dict(values), source)


def from_mapping(kind: type[Config], values: Mapping[str, Any], source: str = "the settings") -> Config:
    """The settings with these values and defaults for the rest; an unknown key is an error."""
    known = [each.name for each in fields(kind)]
    for key in values:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are: {', '.join(known)}"
            raise ConfigError(f"{source}: there is no setting {key!r}{hint}")
    return kind(**_checked_values(kind, values))


def resumed(old: Config, overrides: Mapping[str, Any]) -> Config:
    """The settings of a run that goes on with some of them changed."""
    new = from_mapping(type(old), asdict(old) | dict(overrides))
    for name in FIXED:
        if getattr(old, name, None) != getattr(new, name, None):
            raise ConfigError(f"{name} cannot change when a run is resumed: it was {getattr(old, name)!r}")
    return new


def parsed_weights(texts: tuple[str, ...]) -> dict[str, float]:
    """Weights of types from texts like 1p=2."""
    weights = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            raise ConfigError(f"type_weights: {text!r} is not a type and a number, as in 1p=2") from None
        if not weights[name] >= 0:
            raise ConfigError(f"type_weights: {text!r} is negative")
    return weights


def _checked_values(kind: type[TrainingConfig], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values in the types of their settings."""
    hints = get_type_hints(kind)
    return {
        each.name: _checked(each, hints[each.name], values[each.name]) for each in fields(kind) if each.name in values
    }


def _checked(each: Field[Any], kind: Any, value: Any) -> Any:
    """The value in its type; one of another type or outside its range is an error."""
    if isinstance(value, int | float) and not abs(value) < 2**63:
        raise ConfigError(f"{each.name} must be a number smaller than 2^63")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if get_args(kind):
        value = tuple(value) if isinstance(value, list | tuple) else value
        fits = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    else:
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not fits:
        raise ConfigError(f"{each.name} must be {_type_name(kind)}, not {value!r}")
    check = cast("Check | None", each.metadata["check"])
    if check is not None and not check[1](value):
        raise ConfigError(f"{each.name} must be {check[0]}, not {value!r}")
    return value


def _type_name(kind: Any) -> str:
    return (
        "a list of texts"
        if get_args(kind)
        else {int: "an integer", float: "a number", bool: "true or false"}.get(kind, "a text")
    )
