"""Every state that a power cut can leave: a lost end of the triples' log with a torn end of the journal.

The triples are copied after every transaction, as the machine would find them if their log ended there. A state is one
such copy that a cut can leave (nothing before the last flush is ever lost) together with the rest of the folder at
the moment of the cut, its journal cut at any byte after the last fsync. After recovery every acknowledged write holds
and no other is half there, in the triples, in the graph, and when the database is opened once more.

`UNSEEN_POWER_CUTS` sets how many states are tried; 0 tries all of them.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from unseen.database import Database, graph_store, ledger
from unseen.database import journal as journals
from unseen.database.exact_sparql import update
from unseen.database.triples import Triples

STATES = int(os.environ.get("UNSEEN_POWER_CUTS", "60"))
Facts = frozenset[tuple[str, str, str, str]]


@dataclass
class Moment:
    """The folder at some moment: what lies beside the triples, and how much of the triples' log there is."""

    folder: Path
    transactions: int
    flushed: int
    unsynced: bytes = b""
    done: int = 0
    """How many writes had been acknowledged."""


@dataclass
class Machine:
    """A machine that notes every state of the disk: copies of the triples, and moments at which the power may go."""

    path: Path
    notes: Path
    copies: list[Path] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    flushed: int = 0
    done: int = 0

    def transaction(self, triples: Triples) -> None:
        """A transaction has ended; what is in the triples now is what a log up to here would give."""
        copy = self.notes / f"triples-{len(self.copies):04}"
        triples.store.backup(str(copy))
        self.copies.append(copy)
        self.moment()

    def flush(self, triples: Triples) -> None:
        """All transactions so far last."""
        self.transaction(triples)
        self.flushed = len(self.copies) - 1
        self.moment()

    def moment(self, unsynced: bytes = b"") -> None:
        """The power may go now."""
        if self.copies:
            folder = self.notes / f"moment-{len(self.moments):04}"
            shutil.copytree(self.path, folder, ignore=shutil.ignore_patterns("triples"))
            self.moments.append(Moment(folder, len(self.copies) - 1, self.flushed, unsynced, self.done))


@pytest.fixture
def machine(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(quick_path / "watched.db", quick_path)

    def after(name: str, then: Callable[[Triples], None]) -> None:
        real = getattr(Triples, name)

        def noted(self: Triples, *arguments: Any) -> Any:
            found = real(self, *arguments)
            if self.path == made.path / "triples":
                then(self)
            return found

        monkeypatch.setattr(Triples, name, noted)

    for name in ("apply", "update", "update_with", "forget_touched", "forget_numbers_before"):
        after(name, made.transaction)
    for name in ("flush", "bulk_load", "load_into"):
        after(name, made.flush)

    real_write, real_current = journals.Journal._write, ledger.Ledger.sweep

    def write(self: journals.Journal, line: bytes) -> None:
        made.moment(line)
        real_write(self, line)
        made.moment()

    def sweep(self: ledger.Ledger) -> None:
        made.moment()
        real_current(self)
        made.moment()

    monkeypatch.setattr(journals.Journal, "_write", write)
    monkeypatch.setattr(ledger.Ledger, "sweep", sweep)
    return made


def facts(database: Database) -> Facts:
    """All that the user has stored, named graphs too."""
    own = "urn:unseen-store:"
    quads = [tuple(map(str, quad)) for quad in database.triples.store]
    return frozenset((s, p, o, g) for s, p, o, g in quads if own not in g)


def edges(database: Database) -> set[tuple[str, str, str]]:
    return {(f"<urn:unseen:{h}>", f"<urn:unseen:{r}>", f"<urn:unseen:{t}>") for h, r, t in database.graph.triples()}


def writes(folder: Path) -> list[Callable[[Database], Any]]:
    """Writes of every kind that undo one another, so that a wrong order shows."""
    loaded = folder / "load.tsv"
    loaded.write_text("S\tp\to\nL\tp\to\nM\tp\to\n")
    statements = folder / "graph.nt"
    statements.write_text(
        "<urn:unseen:S> <urn:unseen:p> <urn:unseen:o> .\n<urn:unseen:W> <urn:unseen:p> <urn:unseen:o> .\n"
    )
    lines = graph_store.Lines(2, file=statements)
    s, t = ("S", "p", "o"), ("T", "p", "o")

    def text(words: str) -> Callable[[Database], Any]:
        return lambda database: update(database, words)

    moved = "DELETE { GRAPH <urn:g> { ?x :p :o } } INSERT { GRAPH <urn:h> { ?x :p :o } :V :p :o }"
    return [
        lambda d: d.add([s, t]),
        text("DELETE DATA { :S :p :o }"),
        lambda d: d.add([s]),
        lambda d: d.remove([t]),
        text("INSERT DATA { :T :p :o . GRAPH <urn:g> { :S :p :o } }"),
        text("DELETE WHERE { ?x :p :o }"),
        lambda d: d.add([s]),
        text("CLEAR DEFAULT ; INSERT DATA { :U :p :o }"),
        lambda d: d.add([s, t]),
        text("DELETE DATA { :S :p :o }"),
        lambda d: d.load([loaded]),
        lambda d: d.remove([s]),
        lambda d: d.checkpoint(),
        text("INSERT { ?x :q :o } WHERE { ?x :p :o }"),
        text(f"{moved} WHERE {{ GRAPH <urn:g> {{ ?x :p :o }} }}"),
        lambda d: d.add([s]),
        lambda d: graph_store.replace(d, "urn:g", lines),
        lambda d: d.remove([s]),
        lambda d: graph_store.replace(d, "urn:h", lines),
        text("DROP ALL"),
        lambda d: graph_store.replace(d, None, lines),
        lambda d: graph_store.add(d, "urn:i", lines),
        lambda d: d.add([t]),
        lambda d: d.backup(folder / f"copy-{len(list(folder.glob('copy-*')))}.db"),
        text("DELETE DATA { :T :p :o }"),
        lambda d: d.add([t]),
    ]


def history(machine: Machine, seed: int) -> list[Facts]:
    """Carry out writes; what was stored after each of them."""
    chance = random.Random(seed)
    known = writes(machine.notes)
    order = known if seed == 0 else chance.choices(known, k=len(known))
    with Database.create(machine.path) as database:
        states = [facts(database)]
        machine.moment()
        for write in order:
            write(database)
            machine.done += 1
            states.append(facts(database))
            machine.moment()
    return states


def cuts(machine: Machine) -> list[tuple[Moment, int, int]]:
    """Every cut: a moment, how many transactions are left, how many bytes of the unsynced line are."""
    return [
        (moment, kept, torn)
        for moment in machine.moments
        for kept in range(moment.flushed, moment.transactions + 1)
        for torn in sorted({0, 1, len(moment.unsynced) // 2, len(moment.unsynced) - 1, len(moment.unsynced)} - {-1})
    ]


def restored(machine: Machine, cut: tuple[Moment, int, int], target: Path) -> Path:
    moment, kept, torn = cut
    shutil.copytree(moment.folder, target)
    shutil.copytree(machine.copies[kept], target / "triples")
    if torn:
        journal = max(target.glob("journal-*"))
        with journal.open("ab") as stream:
            stream.write(moment.unsynced[:torn])
    return target


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_no_power_cut_loses_or_halves_a_write(machine: Machine, quick_path: Path, seed: int) -> None:
    states = history(machine, seed)
    found = cuts(machine)
    chance = random.Random(seed)
    tried = found if STATES == 0 else chance.sample(found, min(len(found), max(1, STATES // 4)))
    for number, cut in enumerate(tried):
        path = restored(machine, cut, quick_path / f"cut-{number}")
        where = f"cut {number}: {cut[0].folder.name}, transactions {cut[1]} of {cut[0].transactions}, bytes {cut[2]}"
        with Database(path) as database:
            stored = facts(database)
            allowed = states[cut[0].done : cut[0].done + 2]
            assert stored in allowed, where
            assert edges(database) == {(s, p, o) for s, p, o, g in stored if g == "DEFAULT"}, where
        with Database(path) as again:
            assert facts(again) == stored, where
            assert edges(again) == {(s, p, o) for s, p, o, g in stored if g == "DEFAULT"}, where
        with suppress(OSError):
            shutil.rmtree(path)


def test_there_are_five_hundred_states_at_least(machine: Machine) -> None:
    history(machine, 0)
    assert len(cuts(machine)) >= 500, len(cuts(machine))
