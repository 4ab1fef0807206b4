"""One model from several of the same shape: the mean of their weights, which is often better than each of them.

They should lie close to one another: runs that began with the same model, or stages of one run. The mean of networks
that began with different random weights rarely works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from unseen.errors import RunFolderError
from unseen.models.checkpoint import write_json, write_tensors
from unseen.models.model_folder import ModelFolder, card_of, small_weights, weights_and_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

FEWEST = 2


def average_models(names: Sequence[str | Path], path: Path, *, licence: str | None = None) -> ModelFolder:
    """Write the mean of models or runs as a model in a new folder; its card names them.

    Settings other than the shape, and the licence unless one is given, are those of the first.
    """
    if len(names) < FEWEST:
        raise RunFolderError("a mean needs at least two models", path=path)
    if (path / "card.json").exists():
        raise RunFolderError("is a model already; name another folder", path=path)
    weights, settings = _mean(names)
    cards = [card_of(name) for name in names]
    small = small_weights(weights)
    path.mkdir(parents=True, exist_ok=True)
    write_tensors(path / "weights.safetensors", small)
    write_json(path / "card.json", _card(cards, names, small, settings, licence))
    return ModelFolder(path)


def _mean(names: Sequence[str | Path]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The mean of all weights, and the settings of the first; models of different shapes are an error."""
    first, settings, shape = weights_and_settings(names[0])
    total = {key: tensor.double() for key, tensor in first.items()}
    for name in names[1:]:
        weights, own, _ = weights_and_settings(name)
        for key in shape:
            if own[key] != settings[key]:
                problem = (
                    f"has {key} = {own[key]!r}, {names[0]} has {settings[key]!r}: a mean needs models of one shape"
                )
                raise RunFolderError(problem, path=name)
        for key, tensor in weights.items():
            total[key] += tensor.double()
    return {key: (tensor / len(names)).to(torch.float32) for key, tensor in total.items()}, settings


def _card(
    cards: Sequence[dict[str, Any]],
    names: Sequence[str | Path],
    weights: dict[str, Tensor],
    settings: dict[str, Any],
    licence: str | None,
) -> dict[str, Any]:
    """The card of the first with what differs: data of all, no metrics, since nothing was measured of the mean."""
    data = {str(graph.get("name")): graph for card in cards for graph in card["data"]}
    origins = [
        {"name": str(name)} | {key: card.get(key) for key in ("steps", "seed", "commit", "start")}
        for name, card in zip(names, cards, strict=True)
    ]
    return cards[0] | {
        "data": list(data.values()),
        "mean_of": origins,
        "metrics": {},
        "licence": licence or cards[0]["licence"],
        "parameters": sum(tensor.numel() for tensor in weights.values()),
        "dtype": str(next(iter(weights.values())).dtype).removeprefix("torch."),
        "settings": settings,
    }
