"""Whether settings belong to a file of weights, asked before a network is made: settings can promise any size.

Counts and widths are held against the shapes in the file's header. If the network could still be large, it is made
without memory (torch's `meta` device) and compared tensor by tensor; that takes a second of imports, so small ones,
which `load_weights` compares anyway, go without.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from unseen.errors import RunFolderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torch import nn

    from unseen.methods.training_settings import TrainingConfig

    Shapes = Mapping[str, tuple[int, ...]]

COUNTS = ("layers", "relation_layers", "hidden_layers", "state_rounds")
WIDTHS = ("dim", "hidden_dim")
FACTORS = ("tokens", "anchors_per_node", "memory_width")
_SWITCHES = {"layers": "gnn", "memory_width": "relation_memory", "state_rounds": "relation_states"}
"""Settings of parts that another setting can leave out."""
SMALL = 1 << 24
"""Numbers of a network that may be made without a closer look."""


def check_promises(config: TrainingConfig, names: int, path: Path, make: Callable[[], nn.Module]) -> None:
    """Refuse settings whose network does not fit the weights; `names` is how many relations and entities it knows."""
    shapes = read_shapes(path)
    for setting in COUNTS:
        if _value(config, setting) > len(shapes):
            problem = f"has {len(shapes):,} tensors, too few for {setting} = {_value(config, setting):,}"
            raise RunFolderError(f"does not fit the settings: it {problem}", path=path)
    widest = max((size for shape in shapes.values() for size in shape), default=0)
    for setting in WIDTHS:
        if _value(config, setting) > widest:
            problem = f"has no tensor as wide as {setting} = {_value(config, setting):,}"
            raise RunFolderError(f"does not fit the settings: it {problem}", path=path)
    if most_numbers(config, names) > SMALL:
        _compare(shapes, make, path)


def most_numbers(config: TrainingConfig, names: int) -> int:
    """More numbers than a network of these settings has."""
    counts = 1 + sum(_value(config, setting) for setting in COUNTS)
    width = max(_value(config, setting) for setting in WIDTHS)
    factor = 1 + sum(_value(config, setting) for setting in FACTORS)
    return counts * width**2 * (40 * factor + 4 * names)


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors of a safetensors file, from its header."""
    if path.exists() and not path.is_file():
        raise RunFolderError("is not a regular file", path=path)
    try:
        with safe_open(path, "numpy") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise RunFolderError(f"cannot be read: {error}", path=path) from None


def _value(config: TrainingConfig, setting: str) -> int:
    """The number that a setting has; 0 where another setting switches its part off."""
    switch = _SWITCHES.get(setting)
    if switch is not None and getattr(config, switch, True) in (False, "none"):
        return 0
    return int(getattr(config, setting, 0))


def _compare(shapes: Shapes, make: Callable[[], nn.Module], path: Path) -> None:
    """Make the network without memory; its tensors must have the names and shapes of the file."""
    import torch

    try:
        with torch.device("meta"):
            wanted = {name: tuple(tensor.shape) for name, tensor in make().state_dict().items()}
    except (RuntimeError, OverflowError, ValueError) as error:
        raise RunFolderError(f"its settings make no network: {str(error).splitlines()[0]}", path=path) from None
    for name, shape in wanted.items():
        if shapes.get(name) != shape:
            found = f"is {shapes[name]}" if name in shapes else "is missing"
            problem = f"{name} {found}, the settings ask for {shape} ({math.prod(shape):,} numbers)"
            raise RunFolderError(f"does not fit the settings: {problem}", path=path)
