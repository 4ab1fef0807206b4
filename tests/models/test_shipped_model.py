"""The models that the package ships: what they are, that they are small, and that they know what a graph implies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import torch

import unseen
from unseen import api
from unseen.graph import KnowledgeGraph
from unseen.logic.method import Method
from unseen.methods.combined import Combined
from unseen.models.checkpoint import read_tensors
from unseen.models.model_folder import FACTS, MOST_BYTES, ModelFolder, find_model, kept_model, open_model

GRAPHS = {"default": {"fb15k-237", "wn18rr", "codex-m", "wd50k"}, "without-fb15k-237": {"wn18rr", "codex-m", "wd50k"}}
"""What each has learned from."""


def probabilities(graph: KnowledgeGraph, question: str, method: Method) -> dict[str, float]:
    """The probability of each predicted answer, by name."""
    return {str(each.entity): each.probability for each in unseen.ask(graph, question, method=method, top=30)}


@pytest.fixture(scope="module", params=GRAPHS)
def model(request: pytest.FixtureRequest) -> ModelFolder:
    found = find_model(request.param)
    assert isinstance(found, ModelFolder)
    return found


class TestFolder:
    def test_it_is_in_the_package_and_small(self, model: ModelFolder) -> None:
        files = {path.name: path.stat().st_size for path in model.path.iterdir()}
        assert set(files) == {"weights.safetensors", "card.json", "combination.json"}
        assert sum(files.values()) <= MOST_BYTES
        assert api.find_source("countries").parent == model.path.parent.parent

    def test_its_card_says_all_that_a_card_must(self, model: ModelFolder) -> None:
        card = model.card
        assert all(card[fact] is not None for fact in FACTS)
        assert {source["name"] for source in card["sources"]} == {graph["name"] for graph in card["data"]}
        assert {graph["name"] for graph in card["data"]} == GRAPHS[model.name]
        assert all(source["licence"] for source in card["sources"])
        assert {name for name in card["metrics"] if name != "note"} >= {"validation_175", "validation_550"}

    def test_its_weights_are_half_as_long_as_they_were(self, model: ModelFolder) -> None:
        weights = read_tensors(model.path / "weights.safetensors").values()
        assert {tensor.dtype for tensor in weights} == {torch.float16}
        assert all(bool(tensor.isfinite().all()) for tensor in weights)
        assert sum(tensor.numel() for tensor in weights) == model.card["parameters"]

    def test_its_probabilities_are_those_of_links_and_of_logic_after_them(self, model: ModelFolder) -> None:
        method = open_model(model.path, device="cpu")
        assert isinstance(method, Combined)
        graph = unseen.load("countries")
        plain = probabilities(graph, "?x : borders(France, x)", method)
        assert plain["Austria"] > 0.1
        for same in ("borders(France, x) & borders(France, x)", "borders(France, x) | borders(France, x)"):
            assert probabilities(graph, f"?x : {same}", method) == pytest.approx(plain, abs=1e-6)
        alone = probabilities(graph, "?x : borders(France, x) & x = Austria", method)
        assert alone["Austria"] == pytest.approx(plain["Austria"], abs=1e-6)
        false = probabilities(graph, '?x : uses_currency(France, x) & x = "US dollar"', method)
        assert false["US dollar"] < 0.1

    def test_it_is_opened_once_as_long_as_it_stays(self, model: ModelFolder, tmp_path: Path) -> None:
        assert kept_model(model.name) is kept_model(model.path)
        copy = Path(shutil.copytree(model.path, tmp_path / "copy"))
        first = kept_model(copy)
        assert first is kept_model(copy)
        os.utime(copy / "weights.safetensors", ns=(0, 0))
        assert first is not kept_model(copy)
