"""The tutorial notebook runs from its first cell to its last, and every shown object shows something."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "tutorial" / "notebook.ipynb"


def run_cell(source: str, name: str, names: dict[str, object]) -> object:
    """Run a cell; the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def test_the_tutorial_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            value = run_cell("".join(cell["source"]), cell["id"], names)
            shown = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
            assert shown, cell["id"]
