"""Workers that share pieces: each piece is done once, whoever dies; trouble is an error of the command."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import MissingExtra, UnseenError
from unseen.spreading.crew import Crew, crew_of


def adder(numbers: np.ndarray, folder: Path | None) -> Callable[[int], tuple[int, bool, str | None]]:
    """Adds a piece to the sum of what is shared; dies over piece 3, once, if there is a folder to note it in."""

    def added(piece: int) -> tuple[int, bool, str | None]:
        if piece == 3 and folder is not None and not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return int(numbers.sum()) + piece, numbers.flags.writeable, os.environ.get("NUMBA_NUM_THREADS")

    return added


def refuser(error: type[Exception]) -> Callable[[int], None]:
    def refused(piece: int) -> None:
        raise error(f"piece {piece}")

    return refused


def killer() -> Callable[[int], None]:
    return lambda _piece: os.kill(os.getpid(), signal.SIGKILL)


def sleeper() -> Callable[[float], None]:
    return time.sleep


def test_every_piece_is_done_once_though_a_worker_dies(
    crew: Crew, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    found = list(replace(crew, tell=told.append).results(adder, [np.arange(1000), tmp_path], range(10)))
    assert (tmp_path / "died").exists()
    assert told == ["a worker ended; another one takes its work"]
    assert capsys.readouterr() == ("", "")
    assert sorted(found) == [(place, (499_500 + place, False, str(crew.threads))) for place in range(10)]


def test_a_piece_that_ends_every_worker_ends_the_work(crew: Crew) -> None:
    with pytest.raises(UnseenError, match="3 workers ended while they did the same work"):
        list(crew.results(killer, [], [0]))


def test_the_trouble_of_a_worker_is_an_error_here(crew: Crew) -> None:
    with pytest.raises(UnseenError, match=r"^piece 0$"):
        list(crew.results(refuser, [UnseenError], [0]))
    with pytest.raises(RuntimeError, match="ValueError: piece 0"):
        list(crew.results(refuser, [ValueError], [0]))


def test_no_result_comes_after_the_time(crew: Crew) -> None:
    begun = time.monotonic()
    assert list(crew.results(sleeper, [], [60.0, 60.0], until=begun + 0.5)) == []
    assert time.monotonic() - begun < 30


def test_where_ray_is_missing_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"needs ray; install the extra 'ray': `pip install -c constraints.txt"):
        crew_of(2, None).__enter__()


def test_workers_without_a_place_hold_up_nothing(crew: Crew) -> None:
    crowded = replace(crew, workers=3, cores_each=2.0)
    assert sorted(place for place, _ in crowded.results(sleeper, [], [0.0] * 6)) == list(range(6))
