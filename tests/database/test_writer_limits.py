"""A writer that hangs is ended and started again, whatever it was asked; nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.conftest import FAMILY
from unseen.database import Database
from unseen.database.engine import progress
from unseen.database.engine.limits import EngineLimits
from unseen.database.engine.process_triples import ProcessTriples
from unseen.database.engine.progress import Patience, Watch, patience_for
from unseen.database.exact_sparql import update
from unseen.errors import DatabaseError, EngineLost

IMPATIENT = EngineLimits(update_seconds=1.0, idle_seconds=0.6, idle_seconds_beside=0.6)
FACT = ("<urn:unseen:Ada>", "<urn:unseen:likes>", "<urn:unseen:Go>")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.create(tmp_path / "x.db", open_triples=lambda path: ProcessTriples(path, IMPATIENT)) as made:
        made.add(FAMILY)
        yield made


def writer_of(database: Database) -> ProcessTriples:
    triples = database.triples
    assert isinstance(triples, ProcessTriples)
    return triples


def hang(triples: ProcessTriples) -> None:
    """Stop the process where it is, as a disk that does not answer would."""
    assert triples._child is not None
    number = triples._child.process.pid
    os.kill(number, signal.SIGSTOP)
    stat = Path(f"/proc/{number}/stat")
    while stat.exists() and stat.read_text().rpartition(") ")[2][0] not in "Tt":  # a signal takes its time
        time.sleep(0.01)


OPERATIONS: dict[str, Callable[[Database], Any]] = {
    "has": lambda d: d.triples.has([FACT]) == [True],
    "marks": lambda d: d.triples.marks().number == 1,
    "count": lambda d: d.triples.count() == len(FAMILY),
    "size": lambda d: d.triples.size() == len(FAMILY),
    "flush": lambda d: d.triples.flush() is None,
    "labels": lambda d: d.triples.labels_of(["<urn:unseen:Ada>"]) == {},
    "backup": lambda d: d.triples.backup(d.path / "copy") is None and (d.path / "copy" / "CURRENT").exists(),
    "add": lambda d: d.add([("Gus", "likes", "Go")]) == 1,
    "dump": lambda d: d.triples.dump(d.path / "all.nt", d.triples.rdf.RdfFormat.N_TRIPLES) is None,
    "checkpoint": lambda d: d.checkpoint() is None,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_of_a_process_that_hangs_is_done_by_the_next_one(database: Database, name: str) -> None:
    hang(writer_of(database))
    assert OPERATIONS[name](database)
    assert writer_of(database).starts == 2
    assert set(FAMILY) <= set(database.graph.triples())


def test_a_load_that_hangs_has_changed_nothing_and_writes_go_on(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "endless")
    file = tmp_path / "load.tsv"
    file.write_text("Gus\tlikes\tGo\n")
    real = ProcessTriples.bulk_load
    with monkeypatch.context() as patched:
        patched.setattr(ProcessTriples, "bulk_load", lambda self, _: real(self, tmp_path / "endless"))
        with pytest.raises(EngineLost, match=r"did nothing for 0\.6 seconds; nothing was changed"):
            database.load([file])
    assert database.triples.count() == len(FAMILY)
    database.load([file])
    assert database.graph.num_triples == len(FAMILY) + 1


def test_a_dump_that_hangs_is_given_up_and_writes_go_on(database: Database, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless")
    with pytest.raises(DatabaseError, match="while it dumped: it did nothing"):
        database.triples.dump(tmp_path / "endless", database.triples.rdf.RdfFormat.N_TRIPLES)
    assert database.add([("Gus", "likes", "Go")]) == 1
    assert database.triples.count() == len(FAMILY) + 1


@pytest.mark.parametrize("kind", ["processor", "files", "unknown"])
def test_what_works_may_go_on_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    now, work = [0.0], [(0.0, 0)]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "work_of", lambda _: None if kind == "unknown" else work[0])
    watch = Watch(1, Patience(100.0, 10.0))
    for _ in range(8):
        now[0] += 11
        work[0] = (work[0][0] + 0.5, 0) if kind == "processor" else (0.0, work[0][1] + 2_000_000)
        assert watch.complaint() is None
    now[0] += 11
    if kind != "unknown":
        assert watch.complaint() == "it did nothing for 10 seconds"
    now[0] = 101
    assert watch.complaint() == "it took longer than 100 seconds"


def test_what_goes_on_beside_an_update_outlasts_the_end_of_the_update(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory limit of an update is that of its process: what is done beside it may meet the limit too."""
    coming: list[Exception] = [MemoryError(), EngineLost("worked", "it ended"), EngineLost("worked", "it was reopened")]
    real = ProcessTriples._answered

    def answered(self: ProcessTriples, header: Any, body: bytes) -> Any:
        if coming:
            raise coming.pop(0)
        return real(self, header, body)

    monkeypatch.setattr(ProcessTriples, "_answered", answered)
    assert database.triples.graph_names() == []
    assert coming == []


def test_an_update_that_is_over_its_memory_hurts_nothing_beside_it(tmp_path: Path) -> None:
    limits = EngineLimits(megabytes=32)
    with Database.create(tmp_path / "y.db", open_triples=lambda path: ProcessTriples(path, limits)) as database:
        database.add([(f"e{i}", "likes", f"e{i + 1}") for i in range(2000)])
        names, stop, failures = [f"<urn:unseen:e{i}>" for i in range(1000)], Event(), []

        def look() -> None:
            while not stop.is_set():
                try:
                    database.triples.labels_of(names)
                except Exception as error:  # noqa: BLE001 - whatever it is
                    failures.append(error)

        looking = Thread(target=look)
        looking.start()
        try:
            with pytest.raises(EngineLost, match="needs more than 32 MB"):
                update(database, "INSERT { ?a :x ?d } WHERE { ?a ?b ?c . ?d ?e ?f }")
        finally:
            stop.set()
            looking.join()
        assert failures == []
        assert database.add([("Gus", "likes", "Go")]) == 1


def test_larger_work_has_more_time() -> None:
    limits = EngineLimits()
    short, long = (patience_for("bulk_load", limits, lambda size=size: size).seconds for size in (0, 10**9))
    assert (short, long) == (600, 10_600)
    assert patience_for("update", limits, lambda: 10**9).seconds == limits.update_seconds
    assert patience_for("backup", limits, lambda: 0).idle < limits.update_seconds / 2
