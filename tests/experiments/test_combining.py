"""`python -m experiments.combining`: hidden links of a small graph give a model's combination of network and rules."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from experiments.combining.__main__ import main
from experiments.pretraining.__main__ import write_family
from unseen.methods.combination import Combination
from unseen.models.model_folder import find_model

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_combination_is_fitted_and_written_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_family(tmp_path / "family")
    target = tmp_path / "combination.json"
    asked = ["combining", "without-fb15k-237", "--data", str(tmp_path / "family"), "--triples", "6", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", [*asked, "-o", str(target)])
    main()
    fitted = Combination.from_json(json.loads(target.read_text()))
    shipped = Combination.from_json(json.loads((find_model("without-fb15k-237").path / "combination.json").read_text()))
    assert (fitted.ceiling, fitted.inner_sharpness) == (shipped.ceiling, shipped.inner_sharpness)
    assert fitted.evidence["rules"] != shipped.evidence["rules"]
    assert "family: MRR" in capsys.readouterr().out
