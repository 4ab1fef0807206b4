"""Methods named `package.module:factory`: what works, and what is said when it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import unseen
from tests.cli.command import command_in
from unseen.errors import FactoryError, UnseenError
from unseen.graph import KnowledgeGraph
from unseen.methods.edge_type import EdgeType
from unseen.methods.factories import made_by_factory

MODULE = """
from unseen.errors import UnseenError
from unseen.methods.edge_type import EdgeType

share = 0.2

def tuned():
    return EdgeType(missing_share=share)

def failing():
    return 1 / 0

def refusing():
    raise UnseenError("the file of weights is missing")

def needing(weights):
    return weights

def dictionary():
    return {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("own_methods", "own_broken", "own_needy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_methods.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "own_broken.py").write_text("def tuned(:\n", encoding="utf-8")
    (tmp_path / "own_needy.py").write_text("import a_package_that_nobody_has\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_factory_in_the_current_folder_makes_a_method() -> None:
    assert made_by_factory("own_methods:tuned") == EdgeType(missing_share=0.2)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere:tuned", "there is no module nowhere, neither in the current folder nor on Python's path"),
        ("own_methods.deeper:tuned", "there is no module own_methods.deeper"),
        ("own_broken:tuned", "the module own_broken cannot be imported: SyntaxError"),
        (
            "own_needy:tuned",
            "the module own_needy cannot be imported: ModuleNotFoundError: .*a_package_that_nobody_has",
        ),
        ("own_methods:tunde", "the module own_methods has no 'tunde'"),
        ("own_methods:", "the module own_methods has no ''"),
        (":tuned", "cannot be imported: ValueError"),
        ("own_methods:share", "share is not callable"),
        ("own_methods:failing", "the factory failed: ZeroDivisionError: division by zero"),
        ("own_methods:needing", "the factory failed: TypeError: .*weights"),
        ("own_methods:dictionary", "it returns 'dict', which has no `answer`; a method has `answer` and `estimate`"),
    ],
)
def test_what_is_wrong_with_a_factory_is_said(name: str, problem: str) -> None:
    with pytest.raises(FactoryError, match=problem) as caught:
        made_by_factory(name)
    assert caught.value.name == name
    assert str(caught.value).startswith(f"cannot make the method {name}: ")


@pytest.mark.usefixtures("folder")
def test_an_error_that_the_factory_words_itself_is_kept() -> None:
    with pytest.raises(UnseenError, match=r"^the file of weights is missing$"):
        made_by_factory("own_methods:refusing")


@pytest.mark.usefixtures("folder")
def test_a_factory_chooses_its_device_itself() -> None:
    with pytest.raises(UnseenError, match="chooses its device itself: leave out --device"):
        unseen.open_method("own_methods:tuned", "cuda")


@pytest.mark.usefixtures("folder")
def test_ask_and_the_command_line_take_the_same_name(
    family: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = unseen.ask(family, "?x : parent(Ada, x)", method="own_methods:tuned")
    assert answers.method == "own_methods:tuned"
    result = command_in(monkeypatch, capsys)("ask", "countries", "?x : borders(France, x)", "--model", "nowhere:tuned")
    assert result.code == 2
    assert "there is no module nowhere" in result.errors


def test_evaluate_takes_an_object_or_a_name_and_a_dataset_or_its_path(folder: Path) -> None:
    from unseen.datasets.dataset import Dataset
    from unseen.evaluation.evaluator import Options

    command = (
        ("split", "countries", "--ratio", "175", "-o", "split"),
        ("sample", "split", "--train", "0", "--valid", "0"),
    )
    _run(*command[0])
    _run(*command[1], "--test", "5")
    options = Options(types=("1p",))
    named = unseen.evaluate("own_methods:tuned", folder / "split", options=options)
    given = unseen.evaluate(EdgeType(0.2), Dataset.open(folder / "split"), options=options)
    assert (named.method, given.method) == ("own_methods:tuned", "EdgeType")
    assert named.types == given.types


def _run(*words: str) -> None:
    from typer.testing import CliRunner

    from unseen.cli.main import app

    assert CliRunner().invoke(app, list(words)).exit_code == 0
