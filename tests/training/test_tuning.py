"""Options chosen on validation queries: never worse than the start, kept in the folder, read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.methods.cqd_beam.scorers import NamedVectors
from tests.training.small_world import TYPES, small_dataset
from unseen.cli.main import app
from unseen.datasets.dataset import Dataset
from unseen.errors import ConfigError, RunFolderError, TrainingError
from unseen.evaluation.evaluator import Options, evaluate
from unseen.methods.cqd_beam import BeamOptions, Choices, CqdBeam, Tuning
from unseen.methods.edge_type import EdgeType
from unseen.models.checkpoint import write_json
from unseen.models.tuned_method import TUNING, TUNING_ALONE, answering_method, link_scorer_of, read_tuning, tuned_method
from unseen.probability.calibration import Calibrated, Calibration
from unseen.training.tuning import TuningPlan, tune, write_tuning

SCORER = NamedVectors(dim=4)
FEW: dict[str, tuple[Any, ...]] = {"scale": ("sigmoid", "calibrated", "softmax"), "known_facts": (True, False)}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return small_dataset()


@pytest.fixture(scope="module")
def tuning(dataset: Dataset) -> Tuning:
    start = BeamOptions(beam=4, known_facts=False)
    return tune(SCORER, dataset, TuningPlan(limit=6, metric="mrr", start=start, values=FEW | {"negation": (1.0, 3.0)}))


def test_every_type_gets_options_that_are_the_best_of_their_trials(dataset: Dataset, tuning: Tuning) -> None:
    assert set(tuning.choices.types) == set(TYPES)
    for name, options in tuning.choices.types.items():
        trials = tuning.about["trials"][name]
        found = evaluate(CqdBeam(SCORER, options, tuning.link_calibration), dataset, "valid", Options((name,), limit=6))
        best = max(trial["mrr"] for trial in trials)
        assert found.types[name].metrics.mrr == pytest.approx(best)
        assert best >= trials[0]["mrr"]
        assert len({json.dumps({**trial, "mrr": 0}) for trial in trials}) == len(trials)
    assert any(options != BeamOptions(beam=4, known_facts=False) for options in tuning.choices.types.values())
    assert all(options.beam == 4 for options in tuning.choices.types.values())


def test_negation_is_only_tried_where_there_is_some(tuning: Tuning) -> None:
    tried = {name: {trial["negation"] for trial in trials} for name, trials in tuning.about["trials"].items()}
    assert tried == {"1p": {1.0}, "2p": {1.0}, "2i": {1.0}, "2in": {1.0, 3.0}}


def test_a_search_among_predictions_only_never_counts_known_facts(dataset: Dataset) -> None:
    plan = TuningPlan(("1p",), 5, values={"logic": ("product", "goedel"), "known_facts": (True, False)})
    found = tune(SCORER, dataset, plan.without_known_facts())
    assert not found.choices.types["1p"].known_facts
    assert {trial["known_facts"] for trial in found.about["trials"]["1p"]} == {False}


def test_progress_reaches_its_end(dataset: Dataset) -> None:
    told: list[tuple[int, int]] = []
    plan = TuningPlan(("1p", "2in"), limit=2, values=FEW)
    tune(SCORER, dataset, plan, lambda _name, done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)


def test_a_folder_keeps_it_whole_with_probabilities_that_fit(dataset: Dataset, tuning: Tuning, tmp_path: Path) -> None:
    assert read_tuning(tmp_path) is None
    assert tuned_method(SCORER, tmp_path).choices.default == BeamOptions()
    (tmp_path / "calibration.json").write_text("{}")
    assert not write_tuning(tmp_path, tuning, SCORER, dataset, 0)
    assert [path.name for path in tmp_path.iterdir()] == [TUNING]
    assert write_tuning(tmp_path, tuning, SCORER, dataset, 4)
    found = read_tuning(tmp_path)
    assert found is not None
    assert (found.choices, found.link_calibration) == (tuning.choices, tuning.link_calibration)
    queries = [dataset.tables["valid"][name].query(0) for name in TYPES]
    graph = dataset.observed("valid")
    answers = [method.answer(graph, queries) for method in (tuned_method(SCORER, tmp_path), tuning.method(SCORER))]
    assert torch.equal(*answers)
    curves = Calibration.from_json(json.loads((tmp_path / "calibration.json").read_text()))
    assert set(curves.types) == set(dataset.tables["valid"])
    probabilities = Calibrated(tuning.method(SCORER), curves).estimate(graph, queries).stacked(queries)
    assert bool(((probabilities >= 0) & (probabilities <= 1)).all())


def test_a_run_that_scores_links_answers_by_beams_and_any_other_by_itself(tuning: Tuning, tmp_path: Path) -> None:
    class Model(NamedVectors):
        """A scorer that can also answer in a way of its own, as trained ones can."""

        answer = EdgeType.answer
        estimate = EdgeType.estimate

    plain = EdgeType()
    assert answering_method(plain, tmp_path) is plain
    (tmp_path / TUNING).write_text(json.dumps(tuning.to_json()))
    found, predicting = (answering_method(Model(), tmp_path, known_facts=known) for known in (True, False))
    assert isinstance(found, CqdBeam)
    assert found.choices == tuning.choices
    assert isinstance(predicting, CqdBeam)
    assert not any(options.known_facts for options in predicting.choices.types.values())


def test_predictions_only_have_choices_of_their_own_where_these_were_made(tuning: Tuning, tmp_path: Path) -> None:
    alone = Tuning(Choices(BeamOptions(beam=3, known_facts=False)))
    write_json(tmp_path / TUNING_ALONE, alone.to_json())
    assert tuned_method(SCORER, tmp_path, known_facts=False).choices == alone.choices
    assert tuned_method(SCORER, tmp_path).choices == Tuning().choices
    (tmp_path / TUNING).write_text(json.dumps(tuning.to_json()))
    assert tuned_method(SCORER, tmp_path).choices == tuning.choices


@pytest.mark.parametrize(
    "text", ['{"version": 2}', '{"version": 1, "types": 3}', '{"version": 1, "default": {"x": 1}}', "{"]
)
def test_a_damaged_file_is_said_to_be_one(tmp_path: Path, text: str) -> None:
    (tmp_path / TUNING).write_text(text)
    with pytest.raises(RunFolderError, match=TUNING):
        read_tuning(tmp_path)


def test_without_one_step_queries_memberships_stay_uncalibrated(dataset: Dataset) -> None:
    tables = {
        split: {name: table for name, table in some.items() if name != "1p"} for split, some in dataset.tables.items()
    }
    found = tune(SCORER, dataset.with_queries(tables, {}), TuningPlan(("2p",), limit=2, values=FEW))
    assert found.link_calibration is None
    assert {trial["scale"] for trial in found.about["trials"]["2p"]} == {"sigmoid", "softmax"}


def test_what_cannot_be_tuned_is_said(dataset: Dataset) -> None:
    with pytest.raises(TrainingError, match="no valid queries"):
        tune(SCORER, dataset.with_queries({}, {}))
    with pytest.raises(TrainingError, match="type 9p, only 1p"):
        tune(SCORER, dataset, TuningPlan(("9p",)))
    with pytest.raises(ConfigError, match="metric"):
        TuningPlan(metric="speed")
    with pytest.raises(TrainingError, match="EdgeType does not score single links"):
        link_scorer_of(EdgeType())


def test_the_scorer_of_a_method_is_found_under_what_surrounds_it() -> None:
    beam = CqdBeam(SCORER)
    assert link_scorer_of(Calibrated(beam, Calibration({}))) is SCORER
    assert link_scorer_of(beam) is SCORER
    assert link_scorer_of(SCORER) is SCORER


class TestCommand:
    """`unseen tune RUN DATASET`."""

    @pytest.fixture
    def folders(self, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
        dataset.save(tmp_path / "dataset")
        (tmp_path / "run").mkdir()
        monkeypatch.setattr("unseen.api.open_method", lambda _name: CqdBeam(SCORER))
        return tmp_path / "run", tmp_path / "dataset"

    def run(self, *arguments: object) -> str:
        result = CliRunner().invoke(app, ["tune", *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    def test_it_shows_and_keeps_what_was_chosen(self, folders: tuple[Path, Path]) -> None:
        write_json(folders[0] / TUNING_ALONE, Tuning().to_json())
        output = self.run(*folders, "--types", "1p,2in", "--limit", 3, "--beam", 5, "--calibration-queries", 2)
        assert all(word in output for word in ("1p", "2in", "hits_at_10 before", "after"))
        found = read_tuning(folders[0])
        assert found is not None
        assert set(found.choices.types) == {"1p", "2in"}
        assert found.choices.default.beam == 5
        assert (folders[0] / "calibration.json").exists()
        assert not (folders[0] / TUNING_ALONE).exists()  # it was older

    def test_a_dash_prints_json(self, folders: tuple[Path, Path]) -> None:
        result = CliRunner().invoke(app, ["tune", *map(str, folders), "--types", "1p", "--limit", "2", "--json", "-"])
        assert json.loads(result.stdout)["about"]["queries_per_type"] == 2

    def test_a_folder_that_is_not_there_is_said(self, folders: tuple[Path, Path]) -> None:
        with pytest.raises(RunFolderError, match="not the folder of a run"):
            self.run(folders[0] / "nothing", folders[1])
