"""The short form of benchmarks/crash.py, and a server that is killed right after it acknowledged a write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import unseen
from tests.conftest import FAMILY
from unseen.database import Database
from unseen.errors import ServerError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("options", [(), ("--engine",)], ids=["library", "server"])
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(options: tuple[str, ...]) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "crash.py"), "--rounds", "3", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    report = json.loads(ended.stdout)
    assert (report["rounds"], report["lost"]) == (3, 0)


@contextmanager
def served(*words: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`unseen serve` in a process of its own, and its address."""
    code = "from unseen.cli.main import run; run()"
    command = [sys.executable, "-c", code, "serve", *words, "--port", "0", "--model", "exact"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        assert process.stderr is not None
        try:
            yield process, next(line for line in process.stderr if "listening on" in line).split()[2]
        finally:
            process.kill()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_server_told_to_stop_ends_in_order_and_leaves_nothing_behind(tmp_path: Path, ending: int) -> None:
    with served("countries", TMPDIR=str(tmp_path)) as (process, url):
        assert len(list(tmp_path.iterdir())) == 1
        with unseen.connect(url) as client:
            client.add([("Gus", "likes", "Go")])
        process.send_signal(ending)
        assert process.wait(30) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_killed_server_has_kept_what_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Database.create(path) as database:
        database.add(FAMILY)
    with served(str(path)) as (_, url):
        client = unseen.connect(url)
        client.add([("Gus", "likes", "Go")])
        client.update("DELETE WHERE { :Ada :parent ?x }")
    with pytest.raises(ServerError, match="does not answer"):
        client.ask("?x : likes(x, Go)")
    began = time.monotonic()
    with Database(path) as again:
        assert time.monotonic() - began < 10
        kept = {triple for triple in FAMILY if triple[:2] != ("Ada", "parent")}
        assert set(again.graph.triples()) == {*kept, ("Gus", "likes", "Go")}
