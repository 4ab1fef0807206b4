"""Questions share calls of the model; queues have an end; a stopping server finishes what it took."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import FAMILY
from tests.server.running import running, wait_until
from unseen import api
from unseen.errors import QuerySyntaxError
from unseen.server.admission import Bounds
from unseen.server.batching import Batcher
from unseen.server.predicting import Asked, Predictor
from unseen.server.problems import Problem
from unseen.server.server_settings import Limits, ServerSettings
from unseen.server.service import Service
from unseen.server.workers import WorkerThreads

QUESTIONS = ["?x : likes(x, Go)", "?x : parent(Ada, x)", "?x : lkes(x, Go)", "?x : parent(x, Dora)", "?x : likes(x"]


class Slow:
    """Counts its calls and waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.free = threading.Event()

    def __call__(self, items: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(items))
        assert self.free.wait(10)
        return [ValueError("bad") if item < 0 else 10 * item for item in items]


async def until(condition: Callable[[], bool]) -> None:
    """Go on as soon as something holds."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def test_an_error_does_not_keep_what_was_in_memory_where_it_happened() -> None:
    kept: list[weakref.ref[Large]] = []

    def refused(items: Sequence[int]) -> list[int | Exception]:
        large = Large()
        kept.append(weakref.ref(large))
        try:
            raise ValueError("bad")
        except ValueError as error:
            return [error] * len(items)

    async def run() -> None:
        batcher: Batcher[int, int] = Batcher(refused, Bounds())
        batcher.start()
        with pytest.raises(ValueError, match="bad"):
            await batcher.submit(1)
        assert [one() for one in kept] == [None]
        await batcher.stop()

    gc.disable()  # a cycle would be found some time, but not soon
    try:
        asyncio.run(run())
    finally:
        gc.enable()


class Large:
    """What an error must not keep."""


def test_what_comes_while_the_model_is_busy_goes_into_one_batch() -> None:
    async def run() -> None:
        slow = Slow()
        batcher: Batcher[int, int] = Batcher(slow, Bounds(batch=3, waiting=100))
        batcher.start()
        asked = [asyncio.create_task(batcher.submit(number)) for number in (1, 2, -3, 4, 5)]
        await until(lambda: sum(map(len, slow.batches)) + batcher.waiting == 5)
        slow.free.set()
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert results[:2] == [10, 20]
        assert isinstance(results[2], ValueError)
        assert results[3:] == [40, 50]
        assert max(map(len, slow.batches)) <= 3
        assert len(slow.batches) <= 3
        await batcher.stop()

    asyncio.run(run())


def test_a_full_queue_turns_away_and_a_stopping_one_finishes_what_it_took() -> None:
    async def run() -> None:
        slow = Slow()
        batcher: Batcher[int, int] = Batcher(slow, Bounds(batch=1, waiting=2))
        batcher.start()
        first = asyncio.create_task(batcher.submit(1))
        await until(lambda: slow.batches == [[1]])
        taken = [asyncio.create_task(batcher.submit(number)) for number in (2, 3)]
        await until(lambda: batcher.waiting == 2)
        with pytest.raises(Problem) as caught:
            await batcher.submit(4)
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "1"})
        stopping = asyncio.create_task(batcher.stop())
        await asyncio.sleep(0)
        with pytest.raises(Problem) as caught:
            await batcher.submit(5)
        assert caught.value.code == "stopping"
        slow.free.set()
        await stopping
        assert [await first, *await asyncio.gather(*taken)] == [10, 20, 30]

    asyncio.run(run())


def test_workers_have_a_bounded_queue_and_a_time_limit() -> None:
    async def run() -> None:
        free = threading.Event()
        workers = WorkerThreads("test", threads=1, waiting=1)
        stuck = asyncio.create_task(workers.run(free.wait, 0.05))
        waits = asyncio.create_task(workers.run(lambda: 7, 10))
        await until(lambda: workers.inside == 2)
        with pytest.raises(Problem, match="too many"):
            await workers.run(lambda: 8, 10)
        with pytest.raises(Problem, match=r"longer than 0\.05 seconds"):
            await stuck
        free.set()
        assert await waits == 7
        await workers.drain()
        assert workers.inside == 0

    asyncio.run(run())


@pytest.mark.parametrize("to_the_end", [False, True])
def test_an_action_that_ends_as_its_time_ends_is_no_error_of_the_server(to_the_end: bool) -> None:
    async def run() -> int | BaseException:
        workers, loop = WorkerThreads("test", threads=1), asyncio.get_running_loop()
        taken: Future[int] = Future()
        taken.set_running_or_notify_cancel()
        future: asyncio.Future[int] = loop.create_future()
        workers._take = lambda _action: (taken, future)  # type: ignore[method-assign, assignment]
        waiting = asyncio.create_task((workers.run_to_the_end if to_the_end else workers.run)(lambda: 7, 0.01))
        await asyncio.sleep(0)
        loop.call_later(0.011, loop.call_soon, future.set_result, 7)  # one turn of the loop after the time is over
        time.sleep(0.02)  # both are due when the loop looks again
        (found,) = await asyncio.gather(waiting, return_exceptions=True)
        return found

    found = asyncio.run(run())
    assert found == 7 or (isinstance(found, Problem) and found.code == "time_limit" and not to_the_end)


def test_one_bad_question_of_a_batch_does_not_harm_the_others(tmp_path: Path) -> None:
    from unseen.asking.answers import Answers
    from unseen.database import Database

    with Database.create(tmp_path / "x.db") as database:
        database.add(FAMILY)
        predictor = Predictor(database, "edge-type")
        with pytest.raises(QuerySyntaxError):
            predictor.plan(Asked(QUESTIONS[-1]))
        planned = [predictor.plan(Asked(text)) for text in QUESTIONS[:-1]]
        together = predictor.answer_all(planned)
        alone = [predictor.answer_all([one])[0] for one in planned]
    for one, other in zip(together, alone, strict=True):
        assert type(one) is type(other)
        assert str(one) == str(other) if isinstance(one, Exception) else list(one) == list(other)  # type: ignore[arg-type]
    assert [isinstance(one, Answers) for one in together] == [True, True, False, True]


def test_many_questions_together_get_the_answers_that_each_gets_alone(tmp_path: Path) -> None:
    from unseen.api import load
    from unseen.database import Database

    graph = load("countries")
    heads = sorted({head for head, relation, _ in graph.triples() if relation == "borders"})[:12]
    texts = [f'?x : exists v . borders("{head}", v) & !speaks(x, French) & speaks(v, x)' for head in heads[:3]]
    texts += [f'?x : exists v . borders("{head}", v) & {r}(v, x)' for head in heads for r in ("speaks", "part_of")]
    asked = [
        Asked(text, top, explain) for text, top, explain in zip(texts, range(1, 28), [False, True] * 14, strict=False)
    ]
    with Database.create(tmp_path / "x.db") as database:
        database.add(graph.triples())
        predictor = Predictor(database, "edge-type")
        planned = [predictor.plan(one) for one in asked]
        together = predictor.answer_all(planned)
        assert together == [predictor.answer_all([one])[0] for one in planned]


def test_a_server_predicts_with_what_the_library_takes_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ServerSettings().model == api.default_method()
    monkeypatch.setattr(api, "_ships_models", lambda: True)
    monkeypatch.setattr("unseen.models.model_folder.default_model", lambda: "default")
    assert ServerSettings().model == "default"
    assert ServerSettings(model="edge-type").model == "edge-type"


def test_a_server_under_load_batches_and_turns_away_what_it_cannot_take(tmp_path: Path) -> None:
    limits = Limits(waiting=4, batch=8)
    with running(tmp_path / "x.db", FAMILY, ServerSettings(port=0, model="edge-type", limits=limits)) as server:
        server.ask(QUESTIONS[0])
        with ThreadPoolExecutor(32) as pool:
            replies = list(pool.map(lambda _: server.ask(QUESTIONS[0]), range(200)))
        assert {reply.status for reply in replies} <= {200, 503}
        good = [reply for reply in replies if reply.status == 200]
        assert len(good) >= 8
        assert all(reply.json["known"] == 2 for reply in good)
        assert all(int(reply.headers["retry-after"]) >= 1 for reply in replies if reply.status == 503)


def test_a_stopping_server_finishes_what_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, free, taken = Predictor.answer_all, threading.Event(), []

    def slowly(self: Predictor, asked: Sequence[object]) -> object:
        assert free.wait(30)
        return original(self, asked)  # type: ignore[arg-type]

    def noted(method: str) -> None:
        inner = getattr(Service, method)

        async def noting(self: Service, *what: object) -> object:
            taken.append(method)
            return await inner(self, *what)

        monkeypatch.setattr(Service, method, noting)

    monkeypatch.setattr(Predictor, "answer_all", slowly)
    noted("ask")
    noted("write")
    with ThreadPoolExecutor(4) as pool:
        with running(tmp_path / "x.db", FAMILY) as server:
            asked = [pool.submit(server.ask, QUESTIONS[0]) for _ in range(3)]
            written = pool.submit(server.post, "/triples", {"triples": [["Gus", "likes", "Go"]]})
            wait_until(lambda: len(taken) == 4)
            server.stop()
            wait_until(lambda: not server.listens)
            free.set()
        assert [reply.result().status for reply in asked] == [200] * 3
        assert written.result().status == 200
