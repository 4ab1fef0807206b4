"""`unseen ui` from the shell."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from unseen.cli.main import app
from unseen.server import run


@pytest.mark.parametrize("words", [[], ["--no-browser"]])
def test_the_page_of_a_graph_is_opened_in_the_browser(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    opened, served, told = [], [], threading.Event()

    def serve(database: Any, settings: Any, *, quiet: bool, ready: Callable[[int], None]) -> None:
        served.append((database.graph.num_triples, settings.host, settings.model, quiet))
        ready(4321)

    monkeypatch.setattr(run, "serve", serve)
    monkeypatch.setattr(run, "leave_if_stuck", lambda: None)  # it would end the tests
    monkeypatch.setattr(webbrowser, "open", lambda address: (opened.append(address), told.set()))
    result = CliRunner().invoke(app, ["ui", "countries", "--model", "edge-type", *words])
    assert result.exit_code == 0, result.output
    assert "http://127.0.0.1:4321/" in result.output
    assert served == [(9034, "127.0.0.1", "edge-type", True)]
    assert told.wait(0.2 if words else 30) == (not words)
    assert opened == ([] if words else ["http://127.0.0.1:4321/"])
