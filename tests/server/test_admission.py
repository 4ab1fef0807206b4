"""A busy server says so at once: admission by estimated cost, fair order, batches bounded by time."""

from __future__ import annotations

import pytest

from unseen.server.admission import UNMEASURED_RETRY, Backlog, Bounds, Cost, Ticket
from unseen.server.pace import Pace
from unseen.server.problems import Problem

BOUNDS = Bounds(seconds=30.0, waiting=100, batch=8, batch_seconds=2.0)


def backlog(bounds: Bounds = BOUNDS) -> Backlog[float]:
    """Items are their own seconds."""
    return Backlog(Cost, bounds)


def admitted(queue: Backlog[float], item: float, client: str, now: float = 0.0, running: float = 0.0) -> bool:
    try:
        queue.admit(item, client, now, running)
    except Problem:
        return False
    return True


def refused(queue: Backlog[float], item: float, client: str, now: float = 0.0, running: float = 0.0) -> Problem:
    with pytest.raises(Problem) as caught:
        queue.admit(item, client, now, running)
    return caught.value


def served(queue: Backlog[float]) -> list[tuple[str, float]]:
    """Everything that waits, in the order of its turns."""
    order: list[Ticket[float]] = []
    while batch := queue.take():
        order += batch
    return [(ticket.client, ticket.item) for ticket in order]


def test_a_question_that_alone_takes_too_long_is_refused_for_good() -> None:
    problem = refused(backlog(), 64.0, "a")
    assert (problem.status, problem.code) == (422, "too_costly")
    assert "about 64 seconds" in str(problem)
    assert "--time-limit" in str(problem)
    assert "exact" in str(problem)
    assert "Retry-After" not in problem.headers


def test_what_cannot_be_answered_in_time_is_refused_at_once_with_the_time_to_come_back() -> None:
    queue = backlog()
    problem = refused(queue, 5.0, "a", running=29.0)
    assert (problem.status, problem.headers) == (503, {"Retry-After": "9"})
    assert "9 seconds" in str(problem)
    assert not queue.waiting
    assert admitted(queue, 5.0, "a", now=9.0, running=20.0)


def test_a_client_may_not_take_more_room_than_there_is_left() -> None:
    queue = backlog()
    taken = [admitted(queue, 4.0, "flood") for _ in range(20)]
    assert sum(taken) == 4  # 16 seconds: of the 14 that are left it may not have 20
    assert admitted(queue, 4.0, "another")


def test_one_client_that_is_refused_often_is_told_to_come_one_after_the_other() -> None:
    queue = backlog()
    while admitted(queue, 4.0, "flood"):
        pass
    times = [int(refused(queue, 4.0, "flood").headers["Retry-After"]) for _ in range(5)]
    assert times == sorted(times)
    assert len(set(times)) == 5
    assert times[-1] >= 4 * 4
    far = [int(refused(queue, 4.0, "flood").headers["Retry-After"]) for _ in range(500)]
    assert max(far) <= 300


def test_twenty_at_once_are_all_answered_within_two_tries_each() -> None:
    tries, _ = twenty_at_once(seconds=4.6)
    assert max(tries) <= 3


def test_twenty_at_once_to_a_server_that_does_not_know_its_pace_are_answered_as_soon_as_it_does() -> None:
    """Guesses of 15 seconds a question would send the last ones away for five minutes."""
    tries, end = twenty_at_once(seconds=2.5, guess=15.0, measured=7.0, measuring=25.0)
    assert max(tries) <= 5
    assert end <= 7.0 + UNMEASURED_RETRY + 20 * 2.5 + 10


def twenty_at_once(
    *, seconds: float, guess: float = 0.0, measured: float = 0.0, measuring: float = 0.0
) -> tuple[list[int], float]:
    """Tries that each of 20 questions takes, and when the last one is answered.

    Until `measured`, each is guessed to take `guess` seconds, and measuring the model to take `measuring` seconds.
    """
    queue = backlog()
    queue.is_measured = measured == 0
    free, coming = measured, [(0.0, number) for number in range(20)]
    tries, answered = [0] * 20, 0
    while coming or queue.waiting:
        now, number = min(coming, default=(free, -1))
        if not queue.is_measured and now >= measured:
            queue.is_measured = True
            for ticket in queue.waiting:
                ticket.cost, ticket.item = Cost(seconds), seconds
        if queue.waiting and free <= now:
            ((ticket),) = queue.take()
            free = max(free, ticket.deadline - 30.0) + seconds
            assert free <= ticket.deadline
            answered += 1
            continue
        coming.remove((now, number))
        tries[number] += 1
        own, busy = (seconds, free - now) if queue.is_measured else (guess, measuring - now)
        try:
            queue.admit(own, "one", now, max(0.0, busy))
        except Problem as problem:
            coming.append((now + int(problem.headers["Retry-After"]), number))
    assert answered == 20
    return tries, free


def test_a_flood_waits_behind_itself_and_not_before_others() -> None:
    queue = backlog()
    for _ in range(6):
        assert admitted(queue, 1.0, "flood")
    assert admitted(queue, 1.0, "calm")
    assert [client for client, _ in served(queue)].index("calm") <= 1


def test_a_cheap_question_passes_expensive_ones_of_everybody() -> None:
    queue = backlog()
    for client in ("a", "a", "b"):
        assert admitted(queue, 5.0, client)
    assert admitted(queue, 0.1, "a")
    assert served(queue)[0] == ("a", 0.1)


def test_cheap_questions_do_not_starve_an_expensive_one() -> None:
    queue = backlog()
    assert admitted(queue, 3.0, "long")
    for _ in range(8):
        assert admitted(queue, 1.0, "steady")
    assert [client for client, _ in served(queue)].index("long") <= 4


def test_a_question_that_was_taken_is_not_made_late_by_others() -> None:
    queue = backlog(Bounds(seconds=30.0, waiting=100, batch_seconds=2.0))
    queue.admit(25.0, "long", 0.0)
    taken = sum(admitted(queue, 1.0, f"client {number}", now=1.0) for number in range(20))
    assert taken == 4
    assert int(refused(queue, 1.0, "one more", now=1.0).headers["Retry-After"]) >= 1


def test_a_batch_is_bounded_by_time_number_and_memory() -> None:
    queue = backlog()
    for number in range(20):
        assert admitted(queue, 0.5, f"client {number}")
    assert len(queue.take()) == 4
    many = Backlog(lambda _: Cost(0.001), BOUNDS)
    for _ in range(20):
        many.admit(0.0, "a", 0.0)
    assert len(many.take()) == 8
    large = Backlog(lambda _: Cost(0.001, BOUNDS.batch_cells // 3), BOUNDS)
    for _ in range(20):
        large.admit(0.0, "a", 0.0)
    assert len(large.take()) == 3


def test_an_expensive_question_is_a_batch_of_its_own() -> None:
    queue = backlog()
    assert admitted(queue, 10.0, "a")
    assert admitted(queue, 10.0, "b")
    assert [len(queue.take()) for _ in range(3)] == [1, 1, 0]


def test_only_quick_questions_are_taken_if_asked_for_and_whoever_leaves_is_gone() -> None:
    queue = backlog()
    slow = queue.admit(5.0, "a", 0.0)
    quick = queue.admit(0.01, "b", 0.0)
    left = queue.admit(0.01, "c", 0.0)
    queue.leave(left)
    queue.leave(left)
    assert queue.take(quick=True) == [quick]
    assert queue.waiting == [slow]


def test_what_is_kept_in_mind_of_clients_has_a_bound() -> None:
    queue = Backlog(lambda _: Cost(1.0), Bounds(seconds=30.0, waiting=3))
    for number in range(5000):
        queue.admit(0.0, f"client {number}", float(number))
        queue.take()
    for number in range(5000):
        admitted(queue, 0.0, f"client {number}", running=40.0)
    assert len(queue._last_tags) <= 1024
    assert len(queue._sent_away) <= 1025


def test_the_pace_follows_what_is_measured() -> None:
    pace = Pace(1e-6)
    assert pace.seconds == 1e-6
    pace.note(1e6, 2.0)
    assert pace.seconds == pytest.approx(2e-6, rel=1e-3)
    for _ in range(20):
        pace.note(1e6, 0.5)
    assert pace.seconds == pytest.approx(0.5e-6, rel=0.05)
    pace.note_unfinished(1e6, 0.1)
    assert pace.seconds == pytest.approx(0.5e-6, rel=0.05)
    pace.note_unfinished(1e6, 30.0)
    assert pace.seconds > 5e-6
