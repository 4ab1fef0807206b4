"""Nobody waits in vain and nothing is computed for nobody: stopped calls, clients that go, quick beside long."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.conftest import FAMILY
from tests.server.running import Running, running, wait_until
from unseen import api
from unseen.logic.stopping import check_stop
from unseen.server import predicting
from unseen.server.admission import Bounds, Cost
from unseen.server.batching import Batcher
from unseen.server.callers import Caller
from unseen.server.problems import Problem
from unseen.server.server_settings import Limits, ServerSettings

QUESTION = "?x : likes(x, Go)"
LONG = 20.0
"""Seconds that are too many to be quick; items are their own estimates."""


class Steps:
    """A model that works step by step until it is let go, and notes what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[float]] = []
        self.ended: list[list[float]] = []
        self.free = threading.Event()

    def __call__(self, items: Sequence[float]) -> list[float | Exception]:
        self.batches.append(list(items))
        while max(items) >= 1 and not self.free.wait(0.002):
            check_stop()
        self.ended.append(list(items))
        return [10 * item for item in items]


def made(model: Steps, bounds: Bounds | None = None, **more: Any) -> Batcher[float, float]:
    return Batcher(model, bounds or Bounds(), cost_of=Cost, **more)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(body())


def test_a_call_that_everybody_has_left_stops_at_its_next_step() -> None:
    async def body() -> None:
        model = Steps()
        batcher = made(model)
        batcher.start()
        first = asyncio.create_task(batcher.submit(LONG))
        await until(lambda: model.batches == [[LONG]])
        first.cancel()
        await until(lambda: batcher.counts["stopped"] == 1)
        model.free.set()
        assert await batcher.submit(2.0) == 20.0
        assert model.ended == [[2.0]]
        await batcher.stop()

    run(body)


def test_a_call_goes_on_as_long_as_one_of_its_questions_is_waited_for() -> None:
    async def body() -> None:
        model = Steps()
        batcher = made(model)
        asked = [asyncio.create_task(batcher.submit(1.0)) for _ in range(2)]
        await asyncio.sleep(0)
        batcher.start()
        await until(lambda: model.batches == [[1.0, 1.0]])
        asked[0].cancel()
        await asyncio.sleep(0.05)
        model.free.set()
        assert await asked[1] == 10.0
        assert batcher.counts["stopped"] == 0
        await batcher.stop()

    run(body)


def test_a_question_whose_client_goes_leaves_the_queue_and_is_never_begun() -> None:
    async def body() -> None:
        model, gone = Steps(), asyncio.Event()
        batcher = made(model)
        batcher.start()
        first = asyncio.create_task(batcher.submit(5.0))
        await until(lambda: model.batches == [[5.0]])

        async def leaves() -> None:
            await gone.wait()

        second = asyncio.create_task(batcher.submit(6.0, Caller("b", leaves)))
        await until(lambda: batcher.waiting == 1)
        gone.set()
        with pytest.raises(Problem) as caught:
            await second
        assert (caught.value.status, batcher.waiting) == (499, 0)
        model.free.set()
        assert await first == 50.0
        assert model.batches == [[5.0]]
        await batcher.stop()

    run(body)


def test_a_question_that_takes_longer_than_estimated_gets_504_and_is_stopped() -> None:
    async def body() -> None:
        model = Steps()
        batcher: Batcher[float, float] = Batcher(model, Bounds(seconds=0.2), cost_of=lambda _: Cost(0.01))
        batcher.start()
        with pytest.raises(Problem) as caught:
            await batcher.submit(3.0)
        assert caught.value.status == 504
        await until(lambda: batcher.counts["stopped"] == 1)
        assert model.ended == []
        await batcher.stop()

    run(body)


def test_a_question_that_waits_too_long_to_be_answered_in_time_is_turned_away_before_that() -> None:
    async def body() -> None:
        model, costs = Steps(), {1.0: 0.3, 2.0: 0.3}
        batcher: Batcher[float, float] = Batcher(
            model, Bounds(seconds=1.0, batch=1), cost_of=lambda item: Cost(costs[item])
        )
        batcher.start()
        first = asyncio.create_task(batcher.submit(1.0))
        await until(lambda: model.batches == [[1.0]])
        began = time.monotonic()
        with pytest.raises(Problem) as caught:
            await batcher.submit(2.0)  # the first one takes longer than it should
        assert (caught.value.status, caught.value.code) == (503, "busy")
        assert int(caught.value.headers["Retry-After"]) >= 1
        assert time.monotonic() - began >= 0.6
        with pytest.raises(Problem):
            await first
        assert model.batches == [[1.0]]
        await batcher.stop()

    run(body)


def test_a_refusal_comes_at_once_while_the_model_is_busy() -> None:
    async def body() -> None:
        model = Steps()
        batcher = made(model, Bounds(seconds=30.0))
        batcher.start()
        first = asyncio.create_task(batcher.submit(29.0))
        await until(lambda: model.batches == [[29.0]])
        for item, status in ((5.0, 503), (31.0, 422)):
            with pytest.raises(Problem) as caught:
                await batcher.submit(item)
            assert caught.value.status == status
        assert model.batches == [[29.0]]
        assert not first.done()
        assert (batcher.counts["busy"], batcher.counts["too_costly"]) == (1, 1)
        model.free.set()
        await first
        await batcher.stop()

    run(body)


def test_before_the_model_is_measured_few_may_wait_and_none_is_refused_for_good() -> None:
    async def body() -> None:
        model, measured = Steps(), threading.Event()
        model.free.set()
        batcher = made(model, measure=lambda: assert_(measured.wait(20)))
        batcher.start()
        first = asyncio.create_task(batcher.submit(1000.0))
        await until(lambda: batcher.waiting == 1)
        with pytest.raises(Problem) as caught:
            await batcher.submit(1000.0)
        assert caught.value.code == "busy"
        assert int(caught.value.headers["Retry-After"]) <= 5, "a guess sends nobody away for long"
        measured.set()
        with pytest.raises(Problem) as caught:
            await first
        assert (caught.value.code, model.batches) == ("too_costly", [])
        await batcher.stop()

    run(body)


def assert_(condition: bool) -> None:
    assert condition


def test_quick_questions_pass_a_long_one_which_then_goes_on() -> None:
    async def body() -> None:
        model = Steps()
        batcher = made(model, Bounds(seconds=60.0))
        batcher.start()
        slow = asyncio.create_task(batcher.submit(LONG))
        await until(lambda: model.batches == [[LONG]])
        assert await asyncio.gather(*(batcher.submit(0.25) for _ in range(3))) == [2.5] * 3
        assert not slow.done()
        model.free.set()
        assert await slow == 10 * LONG
        assert model.ended[-1] == [LONG]
        await batcher.stop()

    run(body)


def test_the_flood_of_one_client_does_not_delay_another() -> None:
    async def body() -> None:
        model = Steps()
        batcher = made(model, Bounds(seconds=100.0, batch_seconds=2.0))
        batcher.start()
        flood = [asyncio.create_task(batcher.submit(1.0, Caller("flood"))) for _ in range(20)]
        await until(lambda: len(model.batches) == 1 and batcher.waiting > 15)
        calm = asyncio.create_task(batcher.submit(1.5, Caller("calm")))
        await until(lambda: 1.5 not in model.batches[0] and batcher.waiting > 16)
        model.free.set()
        await asyncio.gather(*flood, calm)
        assert next(place for place, batch in enumerate(model.batches) if 1.5 in batch) <= 3
        await batcher.stop()

    run(body)


def test_the_model_is_measured_first_and_again_after_it_seemed_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        measured: list[int] = []
        model = Steps()
        model.free.set()
        batcher = made(model, measure=lambda: measured.append(len(model.batches)))
        batcher.start()
        await batcher.submit(1.0)
        assert measured == [0]
        with pytest.raises(Problem):
            await batcher.submit(31.0)
        await asyncio.sleep(0.02)
        assert measured == [0]
        monkeypatch.setattr("unseen.server.batching.MEASURED_AGAIN", 0.0)
        with pytest.raises(Problem):
            await batcher.submit(31.0)
        await until(lambda: measured == [0, 1])
        await batcher.stop()

    run(body)


@pytest.fixture
def stepping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Running, threading.Event, list[str]]]:
    """A server whose predictions take steps until they are let go."""
    free, ended, original = threading.Event(), [], api.ask_all

    def slowly(graph: object, questions: Sequence[Any], *rest: Any) -> object:
        is_measured = not questions[0].text
        try:
            while not is_measured and not free.wait(0.002):
                check_stop()
        except Exception as error:
            ended.append(type(error).__name__)
            raise
        return original(graph, questions, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(predicting, "ask_all", slowly)
    with running(
        tmp_path / "x.db", FAMILY, ServerSettings(port=0, model="edge-type", limits=Limits(seconds=20))
    ) as made:
        yield made, free, ended
        free.set()


def given_up(server: Running, reason: str) -> int:
    lines = server.send("GET", "/metrics").text.splitlines()
    return int(next(line for line in lines if f'reason="{reason}"' in line).split()[-1])


BODY = json.dumps({"question": QUESTION})
SELECT = quote("SELECT ?x { ?x :likes :Go }")
WITHIN = quote("SELECT ?x { SERVICE <urn:unseen:predict> { SELECT ?x { ?x :likes :Go } } }")
REQUESTS = {
    "ask": f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\n\r\n{BODY}",
    "infer": f"GET /query?infer=true&query={SELECT} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "service": f"GET /query?query={WITHIN} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_client_that_hangs_up_stops_what_is_computed_for_it(
    stepping: tuple[Running, threading.Event, list[str]], kind: str
) -> None:
    server, free, ended = stepping
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(REQUESTS[kind].encode())
        wait_until(lambda: "unseen_batch_size_count 1" in server.send("GET", "/metrics").text)
    wait_until(lambda: given_up(server, "disconnected") == 1)
    wait_until(lambda: ended == ["Stopped"])
    free.set()
    assert server.ask(QUESTION).status == 200


def test_health_is_answered_while_a_long_question_runs(
    stepping: tuple[Running, threading.Event, list[str]],
) -> None:
    server, free, _ = stepping
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.ask, QUESTION)
        wait_until(lambda: "unseen_batch_size_count 1" in server.send("GET", "/metrics").text)
        assert server.send("GET", "/healthz").status == 200
        free.set()
        assert asked.result().status == 200


def test_a_question_that_would_take_too_long_is_refused_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.server.pace.FIXED", 250_000)  # a second for a step, whatever is measured
    monkeypatch.setattr("unseen.server.pace.Pace.note", lambda *_: None)
    with running(tmp_path / "x.db", FAMILY) as server:
        wide = " | ".join([QUESTION, *(f"likes(x, n{number})" for number in range(40))])
        wait_until(lambda: server.ask(QUESTION).status == 200)  # measured
        reply = server.ask(wide)
        assert (reply.status, reply.error["code"]) == (422, "too_costly")
        assert "about 41 seconds, more than the 30" in reply.error["message"]
        assert "retry-after" not in reply.headers
        assert server.ask(wide, exact=True).error["code"] == "unknown_entity"


def test_a_question_with_too_many_parts_is_refused_with_the_limit(reading: Running) -> None:
    path = "/".join(["(:likes|:parent)"] * 30)
    for reply in (
        reading.query(f"SELECT ?x {{ :Ada {path} ?x }}", infer="true"),
        reading.ask(f"SELECT ?x {{ :Ada {path} ?x }}"),
    ):
        assert (reply.status, reply.error["code"]) == (400, "refused")
        assert "parts" in reply.error["message"]
    wide = " | ".join(f"likes(x, n{number})" for number in range(4500))
    reply = reading.ask(f"?x : {wide}")
    assert (reply.status, reply.error["code"]) == (400, "refused")
    assert "8,192 parts" in reply.error["message"]
