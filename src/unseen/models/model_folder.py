"""Models that travel: a folder with weights, a card that says what they are, and how memberships become probabilities.

```
NAME/weights.safetensors    float16 where float32 would be more than two megabytes
NAME/card.json              data, steps, seed, commit, metrics, licence, and the settings to make the network again
NAME/combination.json       how rules count beside the network, see `methods.combination`; without it they do not
NAME/calibration.json       see `probability.calibration`; may be missing
```

Some lie in the package itself (`unseen.data/models`). A model can also be named by a folder of this form or by the
folder of a run. `card.json` is written last: a folder without it is not a model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.errors import EvaluationError, RunFolderError, UnknownMethod
from unseen.methods.registry import TRAINED, entry_of, make_method
from unseen.methods.training_settings import from_mapping
from unseen.models.checkpoint import load_weights, read_json, read_tensors, write_json, write_tensors
from unseen.models.promised_weights import check_promises
from unseen.models.run_folder import RunFolder, calibration_in, open_method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from unseen.logic.method import Method
    from unseen.methods.trainable import Trainable
    from unseen.methods.training_settings import TrainingConfig

MOST_BYTES = 2_000_000
COMBINATION = "combination.json"
RULE_MEMBERS = 32
"""Members of a source set from which rules fire beside the network, which reads all of them."""
MEMORY = "relation_memory."
"""Of the names of weights that belong to relations by name."""
DEFAULT = "default"
"""The shipped model of that name is the one to take where none is named."""
FACTS = ("method", "data", "steps", "seed", "commit", "metrics", "licence")
"""What every card says."""


@dataclass(frozen=True)
class ModelFolder:
    """A model in its folder."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.path.name

    @property
    def card(self) -> dict[str, Any]:
        """The content of `card.json`; a card without the required facts is an error."""
        card = read_json(self.path / "card.json")
        missing = [key for key in (*FACTS, "settings") if key not in card]
        if missing:
            raise RunFolderError(f"is not the card of a model: it does not say {missing[0]}", path=self.path)
        if not isinstance(card["settings"], dict):
            raise RunFolderError("is not the card of a model: its settings are not a table", path=self.path)
        return card

    @property
    def config(self) -> TrainingConfig:
        """The settings that make the network again."""
        card = self.card
        entry = TRAINED.get(str(card["method"]))
        if entry is None or not entry.shape:
            raise RunFolderError(f"is a model of a method that is not known here: {card['method']!r}", path=self.path)
        return from_mapping(entry.settings, card["settings"], str(self.path / "card.json"))

    def open(self, *, device: str = "auto", known_facts: bool = True) -> Method:
        """The method, with `answer` and `estimate`: with rules and calibrated, if the model is.

        Without known facts the network answers alone, because rules are made of known facts.
        """
        from unseen.models.devices import chosen_device
        from unseen.probability.calibration import calibrated

        config, weights = self.config, self.path / "weights.safetensors"
        check_promises(config, 0, weights, lambda: make_method(config, ()))
        method = make_method(config, (), known_facts=known_facts)
        load_weights(weights, method)
        method = method.to(chosen_device(device)).eval()
        if not known_facts:
            return method
        answering, calibration = self._with_rules(method), self.path / "calibration.json"
        return calibrated(answering, calibration_in(calibration)) if calibration.exists() else answering

    def _with_rules(self, method: Trainable) -> Method:
        """The network with rules of the graphs that it will be asked about, if the model says how they count."""
        from unseen.methods.combination import Combination
        from unseen.methods.combined import Combined
        from unseen.methods.mined_rules import MinedRules
        from unseen.methods.zero_shot.zero_shot import ZeroShot

        path = self.path / COMBINATION
        if not path.exists() or not isinstance(method, ZeroShot):
            return method
        try:
            combination = Combination.from_json(read_json(path))
        except EvaluationError as error:
            raise RunFolderError(str(error), path=path) from None
        return Combined(method, MinedRules(members=RULE_MEMBERS), combination)


def shipped_folder() -> Path:
    """Where the package keeps its models."""
    return Path(str(resources.files("unseen.data") / "models"))


def shipped_models() -> list[ModelFolder]:
    """The models of the package, by name."""
    folder = shipped_folder()
    return [ModelFolder(path.parent) for path in sorted(folder.glob("*/card.json"))] if folder.is_dir() else []


def default_model() -> str | None:
    """The name of the shipped model to take where none is named; None as long as none is shipped."""
    names = [model.name for model in shipped_models()]
    return DEFAULT if DEFAULT in names else next(iter(names), None)


def find_model(name: str | Path) -> ModelFolder | RunFolder:
    """A shipped model, the folder of a model, or the folder of a run; `default` is the shipped default."""
    wanted = default_model() if str(name) == DEFAULT else str(name)
    shipped = {model.name: model for model in shipped_models()}
    if wanted in shipped:
        return shipped[wanted]
    path = Path(name)
    if (path / "card.json").exists():
        return ModelFolder(path)
    if path.is_dir():
        return RunFolder.open(path)
    raise UnknownMethod("model", str(name), (*shipped, "the folder of a model", "the folder of a run"))


def open_model(name: str | Path, *, device: str = "auto", known_facts: bool = True) -> Method:
    """The method of a model, however it is named."""
    found = find_model(name)
    if isinstance(found, ModelFolder):
        return found.open(device=device, known_facts=known_facts)
    return open_method(found.path, device=device, known_facts=known_facts)


def kept_model(name: str | Path, device: str = "auto") -> Method:
    """The same, but opened only once in this process while its files do not change.

    What a method knows of a graph is kept with the method, so a further question on the same graph finds it again.
    """
    path = find_model(name).path.resolve()
    try:
        files = tuple(sorted((file.name, file.lstat().st_mtime_ns) for file in path.iterdir()))
    except OSError as error:
        raise RunFolderError(f"cannot be read: {error.strerror or error}", path=path) from None
    return _opened(path, files, device)


@lru_cache(maxsize=2)
def _opened(path: Path, _files: tuple[tuple[str, int], ...], device: str) -> Method:
    """The method of a folder whose files were last written at these times."""
    return open_model(path, device=device)


def has_rules(name: str | Path) -> bool:
    """Whether a model answers together with rules of the graph that is asked."""
    return (find_model(name).path / COMBINATION).exists()


def weights_and_settings(name: str | Path) -> tuple[dict[str, Tensor], dict[str, Any], tuple[str, ...]]:
    """The weights of a model for any graph, in float32, the settings they belong to, and which of these are its shape.

    The other settings are how the model answers and has learned. What it remembers of relations by name is not among
    the weights, see `remembering`.
    """
    found = find_model(name)
    path = found.path / "weights.safetensors" if isinstance(found, ModelFolder) else found.weights_path()
    config = found.config
    entry = entry_of(config)
    if not entry.shape:
        raise RunFolderError("is not a model for any graph: its weights belong to relations by name", path=found.path)
    names = () if isinstance(found, ModelFolder) else found.relation_names
    check_promises(config, len(names), path, lambda: make_method(config, names))
    settings = asdict(config)
    weights = {key: tensor.float() for key, tensor in read_tensors(path).items() if not key.startswith(MEMORY)}
    return weights, {key: settings[key] for key in (*entry.shape, *entry.ways)}, entry.shape


def remembering(start: str | Path, relation_names: Sequence[str], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights with a memory of relations, where the run to begin with remembers relations of these names."""
    found, kept = find_model(start), dict(weights)
    if isinstance(found, ModelFolder) or not getattr(found.config, "relation_memory", False):
        return kept
    before = {name: number for number, name in enumerate(found.relation_names)}
    pairs = [(row, before[name]) for row, name in enumerate(relation_names) if name in before]
    for key, tensor in read_tensors(found.weights_path()).items():
        if key.startswith(MEMORY) and key in kept and kept[key].shape[1:] == tensor.shape[1:]:
            kept[key] = kept[key].clone()
            for row, old in pairs:
                kept[key][2 * row : 2 * row + 2] = tensor[2 * old : 2 * old + 2]
    return kept


def export_model(
    run: RunFolder,
    path: Path,
    *,
    licence: str,
    metrics: dict[str, Any] | None = None,
    about: dict[str, Any] | None = None,
) -> ModelFolder:
    """Write the best weights of a run as a model.

    `metrics` are added to what its validation found; `about` is what else the card says, such as the sources of its
    data. What the run knows itself cannot be said otherwise.
    """
    if (path / "card.json").exists():
        raise RunFolderError("is a model already; name another folder", path=path)
    if getattr(run.config, "relation_memory", False):
        raise RunFolderError(
            "remembers the relations of its dataset by name, so it is no model for any graph; use the run itself, or "
            "fine-tune with --no-relation-memory",
            path=run.path,
        )
    weights, settings, _ = weights_and_settings(run.path)
    path.mkdir(parents=True, exist_ok=True)
    small = small_weights(weights)
    write_tensors(path / "weights.safetensors", small)
    if (run.path / "calibration.json").exists():
        write_json(path / "calibration.json", read_json(run.path / "calibration.json"))
    card = _card(run, small, settings, licence, metrics or {})
    write_json(path / "card.json", card | {key: value for key, value in (about or {}).items() if key not in card})
    return ModelFolder(path)


def small_weights(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights for a file: in float16 if float32 would be too large."""
    size = sum(4 * tensor.numel() for tensor in weights.values())
    return weights if size <= MOST_BYTES else {name: tensor.half() for name, tensor in weights.items()}


def card_of(name: str | Path) -> dict[str, Any]:
    """The card of a model, or what that of a run would say; a run has no licence yet."""
    found = find_model(name)
    if isinstance(found, ModelFolder):
        return found.card
    weights, settings, _ = weights_and_settings(name)
    return _card(found, weights, settings, "", {})


def _card(
    run: RunFolder, weights: dict[str, Tensor], settings: dict[str, Any], licence: str, metrics: dict[str, Any]
) -> dict[str, Any]:
    origin, config = run.origin, run.config
    last = _last(run)
    validation = {"validation": {config.validation_metric: last.get("best_score")}}
    return {
        "method": entry_of(config).model_name or origin["method"],
        "data": origin.get("graphs") or [{"name": origin.get("dataset")}],
        "start": origin.get("start"),
        "steps": last.get("best_step"),
        "seed": config.seed,
        "commit": origin.get("commit"),
        "versions": origin.get("versions"),
        "metrics": validation | metrics,
        "licence": licence,
        "parameters": sum(tensor.numel() for tensor in weights.values()),
        "dtype": str(next(iter(weights.values())).dtype).removeprefix("torch."),
        "settings": settings,
    }


def _last(run: RunFolder) -> dict[str, Any]:
    """How the run ended: its last checkpoint, or its log where checkpoints were left behind."""
    path = run.path / "last.json"
    ends = [event for event in run.metrics() if event["event"] == "end"]
    return read_json(path) if path.exists() else next(reversed(ends), {})
