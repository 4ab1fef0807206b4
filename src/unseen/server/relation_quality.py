"""How well each relation can be predicted: a check (`unseen check`) in the background, which lets questions go first.

It begins when somebody wants to know, and is made again when the graph has changed by a tenth. While it runs, what it
has found so far is shown.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

from unseen.errors import Stopped, UnseenError
from unseen.server.workers import THREADS, log

if TYPE_CHECKING:
    from unseen.evaluation.check_result import CheckResult
    from unseen.evaluation.graph_check import GraphCheck
    from unseen.graph import KnowledgeGraph
    from unseen.server.service import Service

    Json = dict[str, Any]

FACTS, SECONDS, ROUNDS = 10, 120.0, 2
"""The size of the check: most facts of a relation, time, rounds."""
CHANGE = 0.1
"""By which share the facts may grow or shrink before the check is made again."""
ASIDE = 0.02
"""Seconds between two looks at whether questions wait."""
MOST_ASIDE = 5.0
"""Longest time that the check waits for questions before each of its batches."""


class RelationQuality:
    """What is known of the relations of one server's graph."""

    def __init__(self, service: Service) -> None:
        self._service, self._lock = service, threading.Lock()
        self._thread: threading.Thread | None = None
        self._check: GraphCheck | None = None
        self._triples = -1
        self._shown: Json = {"state": "unknown", "answered": 0, "planned": 0, "relations": {}}

    @property
    def relations(self) -> dict[str, Json]:
        """By name, what is known so far."""
        found: dict[str, Json] = self._shown["relations"]
        return found

    def current(self) -> Json:
        """What is known now; the check begins if it has not, unless the server predicts nothing."""
        graph = self._service.database.graph
        with self._lock:
            is_running = self._thread is not None and self._thread.is_alive()
            is_old = abs(graph.num_triples - self._triples) > CHANGE * self._triples
            if not is_running and is_old and self._service.predictor.method is not None:
                self._triples = graph.num_triples
                self._shown = self._shown | {"state": "running", "answered": 0}
                self._thread = threading.Thread(target=self._run, args=(graph,), name=f"{THREADS}quality", daemon=True)
                self._thread.start()
        return self._shown

    def _run(self, graph: KnowledgeGraph) -> None:
        from unseen.checking import opened_check
        from unseen.evaluation.graph_check import CheckOptions

        try:
            options = CheckOptions(FACTS, SECONDS, rounds=ROUNDS)
            self._check = opened_check(graph, [self._service.settings.model], options, self._told)
            self._check.run()
            self._show("done", self._check.result())
        except UnseenError as error:  # too few facts, too little time or memory: the graph can be used all the same
            self._shown = self._shown | {"state": "failed", "message": str(error)}
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread who could be told
            log.error(json.dumps({"event": "error", "error": repr(error)[:500]}), exc_info=error)
            self._shown = self._shown | {"state": "failed", "message": "the log of the server says why"}
        finally:
            self._check = None

    def _told(self, _label: str, answered: int, planned: int) -> None:
        """Between two batches: say how far it is, and let questions go first."""
        if self._check is not None and answered > self._shown["answered"]:
            self._show("running", self._check.result(), answered, planned)
        deadline = time.monotonic() + MOST_ASIDE
        while self._service.batcher.backlog_seconds > 0 and time.monotonic() < deadline:
            time.sleep(ASIDE)
        if self._service.is_stopping:
            raise Stopped

    def _show(self, state: str, found: CheckResult, answered: int = 0, planned: int = 0) -> None:
        known = {
            row.relation: {
                "found": round(next(iter(row.scores.values())).hits_at_10, 4),
                "chance": round(row.chance, 4),
                "tried": row.tried,
                "is_better_than_chance": row.best is not None,
            }
            for row in found.rows
            if row.scores
        }
        counts = {"answered": answered or self._shown["answered"], "planned": planned or self._shown["planned"]}
        is_cut = state == "done" and found.stopped == "time"
        self._shown = {"state": state, "is_cut": is_cut, **counts, "relations": known}
