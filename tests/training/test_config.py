"""Settings: one dataclass is the TOML file and the flags, and nothing slips in under a wrong name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from unseen.errors import ConfigError
from unseen.methods.gnn_qe.gnn_qe_settings import GnnQeConfig
from unseen.methods.training_settings import from_mapping, parsed_weights, resumed
from unseen.methods.zero_shot.zero_shot_settings import ZeroShotConfig
from unseen.models.settings_file import read_toml, write_toml
from unseen.training.schedule import learning_rate

if TYPE_CHECKING:
    from pathlib import Path


def test_the_defaults_are_the_papers_table() -> None:
    config = GnnQeConfig()
    assert (config.layers, config.dim, config.hidden_dim, config.message) == (4, 32, 64, "distmult")
    assert (config.batch_size, config.steps, config.learning_rate) == (64, 10_000, 5e-3)
    assert (config.traversal_dropout, config.temperature) == (0.5, 0.1)
    assert len(config.types) == 10


def test_a_file_holds_every_setting_and_reads_back_the_same(tmp_path: Path) -> None:
    config = GnnQeConfig(steps=7, types=("1p", "2p"), type_weights=("1p=2.5",), schedule="cosine", tensorboard=True)
    write_toml(config, tmp_path / "config.toml")
    values = read_toml(tmp_path / "config.toml")
    assert set(values) == {each.name for each in fields(GnnQeConfig)}
    assert from_mapping(GnnQeConfig, values) == config


def test_an_unknown_key_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("learning_rat = 0.1\n")
    with pytest.raises(ConfigError, match="learning_rat'; did you mean learning_rate"):
        from_mapping(GnnQeConfig, read_toml(tmp_path / "wrong.toml"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", 0),
        ("steps", 1.5),
        ("steps", True),
        ("steps", "many"),
        ("learning_rate", -1),
        ("traversal_dropout", 1.1),
        ("message", "carrier pigeon"),
        ("schedule", "sometimes"),
        ("types", "1p"),
        ("types", [1]),
        ("type_weights", ["1p"]),
        ("type_weights", ["1p=-1"]),
        ("tensorboard", 1),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_that_names_the_setting(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        from_mapping(GnnQeConfig, {key: value})


@pytest.mark.parametrize("content", ["steps = ", "steps 5", "\xff"])
def test_a_file_that_is_no_toml_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.toml").write_text(content, encoding="latin-1")
    with pytest.raises(ConfigError, match="TOML"):
        read_toml(tmp_path / "bad.toml")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_toml(tmp_path / "absent.toml")


def test_a_whole_number_is_a_number() -> None:
    assert repr(from_mapping(GnnQeConfig, {"learning_rate": 1}).learning_rate) == "1.0"


def test_weights_are_read_from_text() -> None:
    assert parsed_weights(("1p=2", "2in=0.5")) == {"1p": 2.0, "2in": 0.5}


def test_a_resumed_run_may_be_longer_but_not_wider() -> None:
    config = GnnQeConfig()
    assert resumed(config, {"steps": 20_000}).steps == 20_000
    with pytest.raises(ConfigError, match="dim cannot change"):
        resumed(config, {"dim": 64})
    with pytest.raises(ConfigError, match="relation_memory cannot change"):
        resumed(ZeroShotConfig(relation_memory=True), {"relation_memory": False})


def test_the_learning_rate_rises_then_falls_as_the_schedule_says() -> None:
    config = GnnQeConfig(learning_rate=1.0, warmup=4, steps=14, schedule="linear")
    assert [learning_rate(config, step) for step in (0, 1, 3, 4, 9)] == [0.25, 0.5, 1.0, 1.0, 0.5]
    cosine = GnnQeConfig(learning_rate=1.0, steps=10, schedule="cosine")
    assert learning_rate(cosine, 0) == 1.0
    assert learning_rate(cosine, 5) == pytest.approx(0.5)
    assert learning_rate(GnnQeConfig(), 9_999) == 5e-3
