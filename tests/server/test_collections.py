"""A server collects garbage as often as Python does by itself, whatever the command line did before."""

from __future__ import annotations

import gc

from unseen.server import run


def test_a_server_does_not_let_garbage_grow() -> None:
    before = gc.get_threshold()
    gc.set_threshold(200_000)
    try:
        with run._start_forgotten_by_collector():
            inside = gc.get_threshold()
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    assert inside[0] <= 1000
    assert after[0] == 200_000
