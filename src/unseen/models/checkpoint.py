"""Weights and the state of the optimizer as safetensors: files that cannot execute code, there whole or not at all.

```
best.safetensors                     the weights that did best in validation
last.json                            the step, the best score, and the names of the two files that belong to it
last-00000500.weights.safetensors
last-00000500.optimizer.safetensors
```

The two files are complete before `last.json` names them, and the older ones go after it does: whenever the process
dies, `last.json` names a complete checkpoint.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.torch import load, save

from unseen.errors import GraphError, RunFolderError
from unseen.graph.files.atomic_file import replacing
from unseen.graph.files.git_lfs import POINTER_PROBLEM, is_pointer_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class Progress:
    """The progress of a run: the part of a checkpoint that is not tensors."""

    step: int = 0
    best_score: float | None = None
    best_step: int = 0
    validations_since_best: int = 0
    seconds: float = 0.0
    """Of training, validation excluded, over all slices."""


def save_weights(path: Path, model: nn.Module) -> None:
    """The model's weights, alone."""
    write_tensors(path, {name: tensor.detach() for name, tensor in model.state_dict().items()})


def load_weights(path: Path, model: nn.Module) -> None:
    """Put weights into a model of the same shape; each must be a finite number."""
    import torch

    weights = read_tensors(path)
    for name, tensor in weights.items():
        if tensor.is_complex() or not bool(torch.isfinite(tensor.float()).all()):
            raise RunFolderError(f"is damaged: {name} holds something that is not a finite number", path=path)
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise RunFolderError(f"does not fit the model: {str(error).splitlines()[-1].strip()}", path=path) from None


def save_checkpoint(folder: Path, progress: Progress, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Everything a run needs to resume."""
    stem = f"last-{progress.step:08d}"
    names = {"weights": f"{stem}.weights.safetensors", "optimizer": f"{stem}.optimizer.safetensors"}
    save_weights(folder / names["weights"], model)
    write_tensors(folder / names["optimizer"], _optimizer_tensors(model, optimizer))
    write_json(folder / "last.json", asdict(progress) | names)
    for old in folder.glob("last-*.safetensors"):
        if old.name not in names.values():
            old.unlink(missing_ok=True)


def load_checkpoint(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress | None:
    """Put the last checkpoint into a model and its optimizer; None if there is none yet."""
    path = folder / "last.json"
    if not path.exists():
        return None
    state = read_json(path)
    try:
        names = state.pop("weights"), state.pop("optimizer")
        progress = Progress(**state)
    except (KeyError, TypeError):
        raise RunFolderError("is not a checkpoint of this version", path=path) from None
    if not all(isinstance(name, str) for name in names) or not _is_progress(progress):
        raise RunFolderError("is damaged: a name or a number has another type", path=path)
    load_weights(folder / names[0], model)
    _restore_optimizer(model, optimizer, folder / names[1])
    return progress


def _is_progress(progress: Progress) -> bool:
    """Whether all numbers are of the type that they should have."""
    counts = (progress.step, progress.best_step, progress.validations_since_best)
    return (
        all(type(count) is int and count >= 0 for count in counts)
        and isinstance(progress.seconds, int | float)
        and isinstance(progress.best_score, int | float | None)
    )


def write_json(path: Path, value: Any) -> None:
    """One JSON document, whole or not at all."""
    with replacing(path) as stream:
        stream.write(json.dumps(value, indent=2, ensure_ascii=False).encode())


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; anything else is an error."""
    _check_file(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError("there is no such file", path=path) from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunFolderError(f"cannot be read: {error}", path=path) from None
    if not isinstance(value, dict):
        raise RunFolderError("is not a JSON object", path=path)
    return value


def _check_file(path: Path) -> None:
    """Refuse what is there but is no file (a pipe would be waited for without end), and a Git LFS pointer."""
    if path.exists() and not path.is_file():
        raise RunFolderError("is not a regular file", path=path)
    if is_pointer_file(path):
        raise RunFolderError(POINTER_PROBLEM, path=path)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file."""
    _check_file(path)
    try:
        tensors: dict[str, Tensor] = load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise RunFolderError(f"cannot be read: {error}", path=path) from None
    return tensors


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """A safetensors file, whole or not at all."""
    content = save({name: tensor.contiguous().cpu() for name, tensor in tensors.items()})
    try:
        with replacing(path) as stream:
            stream.write(content)
    except GraphError as error:
        raise RunFolderError(error.problem, path=path) from None


def _optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state by the name of the weight it belongs to."""
    state = optimizer.state_dict()["state"]
    names = [name for name, _ in model.named_parameters()]
    return {f"{names[index]}/{key}": value for index, values in state.items() for key, value in values.items()}


def _restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, path: Path) -> None:
    tensors = read_tensors(path)
    index_of = {name: index for index, (name, _) in enumerate(model.named_parameters())}
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        name, _, part = key.rpartition("/")
        if name not in index_of:
            raise RunFolderError(f"has the state of {name!r}, which the model does not have", path=path)
        state.setdefault(index_of[name], {})[part] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
