"""Questions that are not trees: each ends in its time, none holds up others, none makes others look slow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.attack.serving import SLACK, Served, served
from tests.conftest import FAMILY
from unseen import api
from unseen.asking.answers import Answers
from unseen.database import Database
from unseen.errors import QueryRefused, UnknownName
from unseen.graph.names import Names
from unseen.logic import stopping
from unseen.logic.algebra import Query
from unseen.logic.execute import Execution
from unseen.logic.method import Method
from unseen.server import predicting
from unseen.server.batching import THREADS
from unseen.server.predicting import Asked, Predictor

LETTERS = [f"v{number}" for number in range(64)]


def clique(relation: str, size: int) -> str:
    """All of some variables joined with each other."""
    links = [f"{relation}({a}, {b})" for place, a in enumerate(LETTERS[:size]) for b in LETTERS[place + 1 : size]]
    return f"?{', '.join(LETTERS[:size])} : {' & '.join(links)}"


def chain(relation: str, size: int) -> str:
    links = [f"{relation}({a}, {b})" for a, b in pairwise(LETTERS[:size])]
    return f"?{', '.join(LETTERS[:size])} : {' & '.join(links)}"


TRIANGLE = "?x, y, z : {0}(x, y) & {0}(y, z) & {0}(x, z)"
HOSTILE = [
    TRIANGLE.format("borders"),
    TRIANGLE.format("part_of"),
    "?x, y, z, h : part_of(x, h) & part_of(y, h) & part_of(z, h)",
    "?x, y : exists h . located_in(x, h) & located_in(y, h) & !borders(x, y)",
    clique("borders", 6),
    clique("speaks", 10),
    chain("borders", 12),
    chain("borders", 64),
    f"?{', '.join(LETTERS)} : {' & '.join(f'borders(v0, {one})' for one in LETTERS[1:])}",
    "?x, y : borders(x, y) & (" + " | ".join(["speaks(x, y)"] * 3000) + ")",
    "?x, y : borders(x, y) & (" + " | ".join(f"x = name{n}" for n in range(3000)) + ")",
    "?x, y : borders(x, y) & " + "(" * 90 + "borders(x, y)" + " | borders(y, x))" * 90,
    "?x, y : borders(x, y) & " + " & ".join(["!(borders(x, y) & speaks(x, French))"] * 200),
    f"?{', '.join(f'x{n}' for n in range(3000))} : borders(x0, x1)",
]


@dataclass
class Clock:
    """Time that passes only when something is done."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic


@dataclass(frozen=True, eq=False)
class Slow:
    """A method that takes a second for each tree."""

    method: Method
    clock: Clock

    def answer(self, graph: object, queries: Sequence[Query]) -> object:
        return self.estimate(graph, queries).stacked(queries)

    def estimate(self, graph: object, queries: Sequence[Query]) -> Execution:
        self.clock.now += len(queries)
        return self.method.estimate(graph, queries)  # type: ignore[arg-type, no-any-return]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(stopping, "time", made)
    monkeypatch.setattr(predicting, "time", made)
    return made


@pytest.fixture
def predictor(tmp_path: Path, clock: Clock) -> Iterator[Predictor]:
    """A predictor whose method is slow, on a graph in which everybody knows everybody."""
    names = [f"e{number}" for number in range(30)]
    with Database.create(tmp_path / "x.db") as database:
        database.add([(a, "knows", b) for a in names for b in names if a < b])
        made = Predictor(database, "edge-type", 60.0)
        assert made.method is not None
        made.method = Slow(made.method, clock)  # type: ignore[assignment]
        yield made


def answered(predictor: Predictor, *asked: Asked) -> list[Answers | Exception]:
    return list(predictor.answer_all([predictor.plan(one) for one in asked]))


def test_a_search_ends_in_its_time_with_what_it_has_found(predictor: Predictor, clock: Clock) -> None:
    (found,) = answered(predictor, Asked(TRIANGLE.format("knows"), predicted_only=True, top=1000))
    assert isinstance(found, Answers)
    assert found.complete is False
    assert found.missed
    assert clock.now <= 30, "half of the time limit"


def test_each_search_of_a_batch_has_its_own_time(predictor: Predictor, clock: Clock) -> None:
    asked = [Asked(TRIANGLE.format("knows"), predicted_only=True, top=990 + n) for n in range(3)]
    found = answered(predictor, *asked, Asked("?x : knows(e3, x)"))
    assert all(isinstance(one, Answers) and len(one) > 0 for one in found)
    assert clock.now <= 3 * 30 + 1


def test_known_tuples_that_take_too_long_are_refused(
    predictor: Predictor, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = stopping.check_stop

    def slowly() -> None:
        clock.now += 10
        step()

    monkeypatch.setattr("unseen.logic.joins.known_tuples.check_stop", slowly)
    (found,) = answered(predictor, Asked(clique("knows", 5), exact=True))
    assert isinstance(found, QueryRefused)
    assert "longer than 30 seconds: name an entity" in str(found)
    assert clock.now <= 50


def test_searches_make_no_other_question_look_slow(predictor: Predictor) -> None:
    simple = predictor.plan(Asked("?x : exists v . knows(e1, v) & knows(v, x)"))
    answered(predictor, simple.asked)
    before = predictor.cost_of(simple).seconds
    search = Asked(TRIANGLE.format("knows"), predicted_only=True, top=1000)
    answered(predictor, search)
    assert predictor.cost_of(simple).seconds == before
    assert predictor.cost_of(predictor.plan(search)).seconds > 5, "it was slow, and so it is expected to be again"
    assert predictor.cost_of(predictor.plan(Asked(clique("knows", 10)))).seconds <= 30


def test_a_batch_takes_no_second_search(predictor: Predictor) -> None:
    from unseen.server.admission import Backlog, Bounds

    backlog = Backlog(predictor.cost_of, Bounds(60.0))
    for number in range(3):
        backlog.admit(predictor.plan(Asked(TRIANGLE.format("knows"), top=1 + number)), f"client {number}", 0.0)
    assert len(backlog.take()) == 1


@pytest.mark.parametrize(
    "question",
    [
        "?x, y : knows(x, y) & (" + " | ".join(["knows(y, x)"] * 300) + ")",
        "?x, y : knows(x, y) & " + " & ".join(["(knows(y, x) | knows(x, y))"] * 150),
        "?x, y : knows(x, y) & (" + " | ".join(f"x = e{n}" for n in range(9000)) + ")",
    ],
)
def test_parts_count_wherever_they_stand(predictor: Predictor, question: str) -> None:
    with pytest.raises(QueryRefused, match="more than"):
        predictor.plan(Asked(question))


def test_names_are_suggested_where_nobody_waits_for_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To find the closest names takes many passes over all names: never in the thread of the model."""
    import threading

    from tests.server.running import running

    found, closest = [], Names.closest

    def noted(names: Names, name: str, count: int = 5) -> list[str]:
        found.append(threading.current_thread().name)
        return closest(names, name, count)

    monkeypatch.setattr(Names, "closest", noted)
    with running(tmp_path / "x.db", FAMILY) as server:
        for more in ({}, {"exact": True}):
            for question in ("?x : likes(Adda, x)", "?x, y : likes(x, y) & likes(Adda, x)"):
                error = server.ask(question, **more).error
                assert (error["code"], "Ada" in error["closest"]) == ("unknown_entity", True)
    assert len(found) == 4
    assert not [name for name in found if name.startswith((f"{THREADS}batch", "MainThread"))]


def test_an_unknown_name_costs_no_search_for_others_unless_wanted() -> None:
    graph = api.load("countries")
    with pytest.raises(UnknownName) as error:
        graph.vocabulary.entities.find("Frnace", suggest=False)
    assert error.value.closest == ()


@pytest.fixture(scope="module")
def countries() -> Iterator[Served]:
    with served("countries", "--time-limit", "20") as server:
        yield server


def ask(server: Served, question: str, **more: object) -> tuple[int, bytes]:
    return server.send("POST", "/ask", json.dumps({"question": question, **more}).encode(), "application/json")


def test_hostile_patterns_end_soon_and_hold_up_nobody(countries: Served) -> None:
    """All at once, three times in different ways: answered, refused, or ended at their limit; then all is as before."""
    sparql = "SELECT ?x ?y ?score { ?x :borders ?y . ?y :borders ?z . ?z :borders ?x . ?x :coast ?h . ?y :coast ?h }"
    for more in ({}, {"exact": True}, {"explain": True}):  # compiled where nothing is yet, which takes memory once
        for question in ("?x, y : borders(x, y) & borders(y, x) & speaks(x, German)", *HOSTILE[:6]):
            ask(countries, question, **more)
    before = countries.memory()
    with ThreadPoolExecutor(2 * len(HOSTILE)) as pool:
        futures = [
            pool.submit(ask, countries, question, **more)
            for question in HOSTILE
            for more in ({}, {"exact": True}, {"predicted_only": True, "top": 1000, "explain": True})
        ]
        query = (sparql.encode(), "application/sparql-query")
        futures += [pool.submit(countries.send, "POST", "/query?infer=true", *query)]
        simple = [ask(countries, f'?x : borders("{name}", x)', exact=True)[0] for name in ("France", "Spain", "Italy")]
        found = [future.result() for future in futures]
    assert {status for status, _ in found} <= {200, 400, 413, 422, 503, 504}
    assert any(status == 200 for status, _ in found)
    assert set(simple) <= {200, 503}
    assert countries.failed == []
    assert max(countries.health) < 1 + SLACK

    assert countries.most_memory < before + (600 << 20)
    assert ask(countries, "?x : exists v . borders(France, v) & speaks(v, x)")[0] == 200, "nothing became slow"


RESTRICTIONS = [
    ({"kind": "x" * 65_000}, 400),
    ({"kind": "x" * 70_000}, 400),
    ({"kind": ""}, 400),
    ({"kind": "^"}, 400),
    ({"kind": "^^borders"}, 400),
    ({"kind": "\0"}, 400),
    ({"kind": "question", "new": True}, 200),
    ({"kind": "^borders", "new": True}, 200),
    ({"type_relation": "y" * 65_000}, 400),
    ({"type_relation": "is_a", "new": True}, 200),
    ({"new": "yes"}, 400),
    ({"kind": 7}, 400),
    ({"kind": ["borders"]}, 400),
]


@pytest.mark.parametrize(("more", "expected"), RESTRICTIONS)
def test_restrictions_of_answers_are_names_or_errors(countries: Served, more: dict[str, object], expected: int) -> None:
    for flags in ({}, {"exact": True}):
        status, body = ask(countries, "?x : borders(France, x)", **more, **flags)
        assert status in (expected, 503), body[:200]
        assert status != 400 or len(json.loads(body)["error"]["message"]) < 1000
    status, body = ask(countries, "?x, y : borders(x, y)", **more)
    assert status in (200, 400, 503), body[:200]
