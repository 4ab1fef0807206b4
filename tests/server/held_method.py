"""A method that replicas import by name, which waits between two steps as long as a file is there."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unseen.logic.stopping import check_stop
from unseen.methods.edge_type import EdgeType

NAME = "tests.server.held_method:Held"
HOLD, ENTERED = "UNSEEN_TEST_HOLD", "UNSEEN_TEST_ENTERED"
"""Environment variables that name the file, and one to which a line is added whenever a call waits."""


class Held(EdgeType):
    def estimate(self, graph: Any, queries: Sequence[Any]) -> Any:
        hold = Path(os.environ[HOLD])
        if hold.exists():
            with Path(os.environ[ENTERED]).open("a") as entered:
                entered.write(f"{os.getpid()}\n")
        while hold.exists():
            check_stop()
            time.sleep(0.002)
        return super().estimate(graph, queries)
