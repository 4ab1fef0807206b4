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


def one_of(*values: str) -> Check:
    """A check for a few words."""
    return f"one of {', '.join(values)}", lambda value: value in values


def setting(default: Any, about: str, check: Check | None = None) -> Any:
    """A field with its documentation and its range."""
    return field(default=default, metadata={"help": about, "check": check, "fixed": False})


def fixed_setting(default: Any, about: str, check: Check | None = None) -> Any:
    """A field that cannot change when a run is resumed."""
    return field(default=default, metadata={"help": about, "check": check, "fixed": True})


@dataclass(frozen=True)
class TrainingConfig:
    """What every method's run has."""

    batch_size: int = fixed_setting(64, "Queries in a step, over all processes.", POSITIVE)
    steps: int = setting(10_000, "Steps in all.", POSITIVE)
    learning_rate: float = setting(5e-3, "Of Adam.", POSITIVE)
    schedule: str = setting(
        "constant", "How it falls to zero: constant, linear, cosine.", one_of("constant", "linear", "cosine")
    )
    warmup: int = setting(0, "Steps in which it rises from zero.", NOT_NEGATIVE)
    decay_steps: int = setting(0, "Last steps in which it falls to zero along a line, whatever it did.", NOT_NEGATIVE)
    weight_decay: float = setting(0.0, "Shrinking of weights, apart from the gradient (AdamW).", NOT_NEGATIVE)
    clip_norm: float = setting(0.0, "Largest norm of a gradient; 0 is no limit.", NOT_NEGATIVE)
    average: float = setting(
        0.999, "Decay of the average of the weights that is validated and kept; 0 is the weights themselves.", BELOW_ONE
    )
    seed: int = fixed_setting(0, "Of weights, batches and dropout.", NOT_NEGATIVE)
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
    """The settings of a resumed run, some of them changed."""
    new = from_mapping(type(old), asdict(old) | dict(overrides))
    for name in (each.name for each in fields(old) if each.metadata["fixed"]):
        if getattr(old, name) != getattr(new, name):
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
