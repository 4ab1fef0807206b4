"""When something that weights have made is out of date."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

Version = tuple[bool, int, int]


def weights_version(weights: Sequence[Tensor], is_training: bool) -> Version:
    """Something else whenever these weights have changed or moved, or dropout is switched on or off."""
    return is_training, weights[0].data_ptr(), sum(weight._version for weight in weights)
