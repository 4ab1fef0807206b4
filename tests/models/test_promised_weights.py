"""Settings that promise another network than the weights hold are refused before it is made."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.training.small_world import CASES
from unseen.errors import ConfigError, RunFolderError
from unseen.methods.registry import TRAINED, make_method
from unseen.methods.training_settings import from_mapping
from unseen.models import promised_weights
from unseen.models.checkpoint import save_weights
from unseen.models.model_folder import ModelFolder, open_model, shipped_folder
from unseen.models.promised_weights import check_promises, most_numbers, read_shapes

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"e{number}" for number in range(6)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the shipped model."""
    return shutil.copytree(shipped_folder() / "default", tmp_path / "model")


def with_settings(model: Path, **settings: Any) -> Path:
    card = json.loads((model / "card.json").read_text())
    card["settings"] |= settings
    (model / "card.json").write_text(json.dumps(card))
    return model


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (
            {"layers": 100_000},
            r"weights\.safetensors: does not fit the settings: it has 79 tensors, too few for layers",
        ),
        ({"relation_layers": 100_000}, "too few for relation_layers = 100,000"),
        ({"dim": 1_000_000}, "has no tensor as wide as dim = 1,000,000"),
        ({"hidden_dim": 10**15}, "has no tensor as wide as hidden_dim"),
    ],
)
def test_a_card_that_promises_too_much_is_refused(
    model: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], complaint: str
) -> None:
    monkeypatch.setattr("unseen.models.model_folder.make_method", lambda *_, **__: pytest.fail("the network was made"))
    with pytest.raises(
        RunFolderError, match=complaint.replace("79", str(len(read_shapes(model / "weights.safetensors"))))
    ):
        open_model(with_settings(model, **settings))


def test_a_large_network_is_compared_without_memory(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promised_weights, "SMALL", 0)
    open_model(model)
    config = ModelFolder(model).config
    wide = max(size for shape in read_shapes(model / "weights.safetensors").values() for size in shape)
    with pytest.raises(RunFolderError, match=r"does not fit the settings: .* the settings ask for"):
        open_model(with_settings(model, dim=min(wide, 2 * config.dim)))


def test_a_seed_beyond_what_torch_takes_is_an_error(model: Path) -> None:
    with pytest.raises(ConfigError, match="seed must be a number smaller"):
        open_model(with_settings(model, seed=10**40))


@pytest.mark.parametrize("case", CASES)
def test_every_method_fits_its_own_weights_and_has_fewer_numbers_than_said(tmp_path: Path, case: str) -> None:
    method, settings = CASES[case]
    config = from_mapping(TRAINED[method].settings, settings)
    made = make_method(config, ("a", "b"), NAMES)
    save_weights(tmp_path / "weights.safetensors", made)
    numbers = sum(tensor.numel() for tensor in made.state_dict().values())
    assert numbers <= most_numbers(config, len(NAMES) + 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(promised_weights, "SMALL", 0)
        check_promises(
            config, len(NAMES) + 2, tmp_path / "weights.safetensors", lambda: make_method(config, ("a", "b"), NAMES)
        )
    assert torch.get_default_device().type == "cpu"
