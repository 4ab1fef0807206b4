"""One deadline for a request: what one stage has used, the next ones do not get again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import FAMILY
from tests.server.running import Reply, Running, running
from unseen.database.engine.deadline import Deadline, time_left, within
from unseen.database.engine.limits import EngineLimits
from unseen.database.engine.progress import patience_for
from unseen.server.problems import Problem
from unseen.server.requests import body_of
from unseen.server.workers import WorkerThreads

CROSS = " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(14))


@pytest.fixture
def hurried(reading: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A server for whose requests all time is over when they have arrived."""
    assert reading.query("ASK {}").status == 200  # the first reader gives everybody all of the time
    assert reading.ask("?x : likes(Ada, x)").status == 200
    monkeypatch.setattr(Deadline, "restart", lambda self: setattr(self, "until", time.monotonic()))
    return reading


def code_of(reply: Reply) -> str:
    assert reply.status in (503, 504), reply.text
    return str(reply.error["code"])


def test_a_query_is_ended_when_the_time_of_its_request_is_over(hurried: Running) -> None:
    assert code_of(hurried.query(f"SELECT (COUNT(*) AS ?n) {{ {CROSS} }}")) in ("time_limit", "busy")


def test_an_update_is_ended_when_the_time_of_its_request_is_over(hurried: Running) -> None:
    reply = hurried.update(f"INSERT {{ ?a0 ?b0 ?c1 }} WHERE {{ {CROSS} }}")
    assert code_of(reply) in ("time_limit", "busy")


@pytest.mark.parametrize("question", ["?x : likes(Ada, x)", "SELECT ?x { :Ada :likes ?x }"])
def test_a_question_is_refused_when_the_time_of_its_request_is_over(hurried: Running, question: str) -> None:
    assert code_of(hurried.ask(question)) == "busy"


def test_threads_share_the_deadline_of_the_request_that_they_work_for() -> None:
    async def run() -> None:
        workers = WorkerThreads("test", threads=2)
        deadline = Deadline(30.0)
        with within(deadline):
            assert await workers.run(lambda: time_left(99.0), 30.0) <= 30.0
            deadline.until = time.monotonic() + 0.05
            with pytest.raises(Problem) as caught:
                await workers.run(lambda: time.sleep(0.5), 30.0)
        assert caught.value.status in (503, 504)
        assert await workers.run(lambda: time_left(99.0), 30.0) == 99.0
        await workers.drain()

    asyncio.run(run())


def test_an_update_gets_what_its_request_has_left_and_the_error_names_the_limit() -> None:
    limits, deadline = EngineLimits(update_seconds=30.0), Deadline(30.0)
    deadline.until = time.monotonic() + 5
    with within(deadline):
        patience = patience_for("update", limits, lambda: 0)
        assert patience_for("update_with", limits, lambda: 10**6).seconds <= 5 + 10
    assert patience.seconds <= 5
    assert patience.limit == 30.0


def test_the_time_that_a_client_takes_to_send_its_request_does_not_count() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"late"}

    request = SimpleNamespace(headers={}, scope={}, receive=receive)
    deadline = Deadline(30.0)
    with within(deadline):
        deadline.until = time.monotonic() - 1
        assert asyncio.run(body_of(cast("Any", request), 10)) == b"late"
    assert deadline.left > 20


def test_a_question_with_several_predictions_has_one_deadline_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.server import admission

    seen: list[float] = []
    real = admission.Backlog.admit

    def admit(self: Any, *arguments: Any, **named: Any) -> Any:
        ticket = real(self, *arguments, **named)
        seen.append(ticket.deadline)
        return ticket

    monkeypatch.setattr(admission.Backlog, "admit", admit)
    clause = "{ SERVICE <urn:unseen:predict> { SELECT ?x { :Ada :likes ?x } } }"
    with running(tmp_path / "x.db", FAMILY) as server:
        assert server.query(f"SELECT ?x {{ {clause} UNION {clause} }}").status == 200
    assert len(seen) >= 4  # two texts, two questions
    assert max(seen) - min(seen) < 0.001
