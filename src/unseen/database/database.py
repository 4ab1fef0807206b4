"""A graph that lives on disk.

    with Database.create("world.db") as database:
        database.load(["facts.tsv"])
        database.add([("Atlantis", "borders", "France")])
        unseen.ask(database.graph, "?x : borders(x, France)")

How a write becomes durable. A known change goes into the journal (fsync), then into the triples; after a crash the
journal is replayed. A SPARQL update runs in the triples, together with a trace of what it touches (`update_text`); the
trace goes into the journal and is cleared; after a crash a trace that is still there is taken over first. Only then is
the write acknowledged, and both `graph` and SPARQL show it. When the journal grows long, a new snapshot is written and
the journal starts again.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from unseen.database import folder as folders
from unseen.database.journal import MOST_JOURNALED, Change, Journal
from unseen.database.live_graph import LiveGraph
from unseen.database.loading import Prepared, prepare, rescanned
from unseen.database.snapshots import read_snapshot, write_snapshot
from unseen.database.statements import check_names, statement_of_keys
from unseen.database.triples import Triples
from unseen.errors import DatabaseError, DiskFull, EngineLost, UnseenError
from unseen.graph import KnowledgeGraph
from unseen.graph.deltas import joined
from unseen.logic.sparql.parse import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unseen.database.journal import Statement
    from unseen.graph.files.readers import ReadReport

_PREFIX = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*)?")
SPARE_BYTES = 8 << 20
"""Disk space below which no write is begun."""


class Database:
    """An open database; one process and, for writes, one thread at a time."""

    def __init__(self, path: str | Path, open_triples: Callable[[Path], Triples] = Triples) -> None:
        """Open an existing database; `open_triples` says where its store is open, in this process if not given."""
        self.path = Path(path)
        self._writing = RLock()
        self._journal: Journal
        self._live: LiveGraph
        self._prefixes: tuple[dict[str, str], dict[str, str]] | None = None
        with ExitStack() as stack:
            folders.require(self.path)
            stack.enter_context(folders.locked(self.path))
            self._folder, self.settings = folders.opened(self.path)
            self.triples = open_triples(self._folder.triples)
            stack.callback(self.triples.close)
            self._recover()
            self._resources = stack.pop_all()

    @classmethod
    def create(
        cls, path: str | Path, *, literals: bool = False, open_triples: Callable[[Path], Triples] = Triples
    ) -> Self:
        """A new, empty database; `literals` says whether literals are entities for the models."""
        folders.create(Path(path), folders.Settings(literals))
        return cls(path, open_triples)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, patience: float = -1) -> bool:
        """Finish what is being written and let go of everything; closing twice does no harm.

        Whether that was done within some seconds; if not, everything stays open.
        """
        if not self._writing.acquire(timeout=patience):
            return False
        try:
            if self._journal.is_open:
                self.triples.flush()
                self._journal.close()
                self._resources.close()
        finally:
            self._writing.release()
        return True

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph as it is now, for questions and models; it never changes once handed out."""
        return self._live.current()

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self._live.version

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefixes that SPARQL texts need not declare: the well-known ones and those of the graph."""
        vocabulary = self._live.for_names().vocabulary
        own = vocabulary.relations.prefixes.namespaces | vocabulary.entities.prefixes.namespaces
        if self._prefixes is None or self._prefixes[0] != own:
            usable = {p: iri for p, iri in own.items() if _PREFIX.fullmatch(p) and self.triples.is_iri(iri)}
            self._prefixes = own, NAMESPACES | usable
        return self._prefixes[1]

    def add(self, triples: Iterable[Sequence[str]]) -> int:
        """Add triples by name, all or none; how many of them are new. A name not met before becomes a new thing."""
        statements = self._statements(triples)
        with self._writing:
            there = self.triples.has(statements)
            new = tuple(statement for statement, known in zip(statements, there, strict=True) if not known)
            self._commit(Change(added=new))
        return len(new)

    def remove(self, triples: Iterable[Sequence[str]]) -> int:
        """Remove triples by name, all or none; how many of them were there."""
        statements = self._statements(triples)
        with self._writing:
            there = self.triples.has(statements)
            found = tuple(statement for statement, known in zip(statements, there, strict=True) if known)
            self._commit(Change(removed=found))
        return len(found)

    def change(self, change: Change) -> None:
        """Carry out a change of statements of the default graph, all or nothing."""
        with self._writing:
            self._commit(change)

    def run_traced(self, text: str, *, names_graphs: bool) -> None:
        """Run an update that traces itself (`update_text.traced`), all or nothing."""
        with self._writing:
            self._require_space()
            self._take_over_trace()
            self._journal.reserve(2 * len(text.encode()))
            try:
                self.triples.update(text, self.prefixes)
            except EngineLost as lost:
                self._recover_update(lost)
            self._follow_update()
            if names_graphs:
                self.triples.flush()

    def _recover_update(self, lost: EngineLost) -> None:
        """Open the triples again, and find out by the trace whether the update was carried out."""
        self.triples.reopen()
        trace = self.triples.touched()
        if trace is not None and trace.size == 0:
            raise lost.with_outcome("nothing was changed") from None

    def load(
        self,
        sources: Sequence[str | Path],
        *,
        skip_errors: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> ReadReport:
        """Load files in bulk, all or nothing. Triples that are there already stay as they are."""
        file = self.path / f"loading-{secrets.token_hex(4)}.nt"
        self._require_space()
        try:
            paths = [Path(source) for source in sources]
            literals = self.settings.literals
            prepared = prepare(paths, file, literals=literals, skip_errors=skip_errors, progress=progress)
            with self._writing:
                self._require_space()
                self._ingest(prepared)
        finally:
            file.unlink(missing_ok=True)
        return prepared.report

    def checkpoint(self) -> None:
        """Write a snapshot of everything and start the journal again."""
        with self._writing:
            number = self._folder.current + 1
            write_snapshot(self.graph, self._folder.snapshot(number))
            self.triples.flush()
            journal = Journal(self._folder.journal(number))
            self._folder.make_current(number)
            self._journal.close()
            self._journal = journal
            self._sweep(number)

    def backup(self, target: str | Path) -> None:
        """A copy that can be opened like any other database."""
        target = Path(target)
        if target.exists():
            raise DatabaseError("is there already; name a new folder", path=target)
        unfinished = target.with_name(f".{target.name}.part")
        try:
            unfinished.mkdir(parents=True)
            with self._writing:
                self.checkpoint()
                self.triples.backup(unfinished / "triples")
                number = self._folder.current
                names = ("database.json", "current.json", "counts.json", self._folder.journal(number).name)
                for path in (self.path / name for name in names if (self.path / name).exists()):
                    shutil.copy2(path, unfinished)
                shutil.copytree(self._folder.snapshot(number), unfinished / self._folder.snapshot(number).name)
            unfinished.rename(target)
        except OSError as error:
            raise DatabaseError(f"the backup failed: {error.strerror or error}", path=target) from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _statements(self, triples: Iterable[Sequence[str]]) -> list[Statement]:
        """Statements of named triples, each once."""
        named = list(triples)
        check_names(named)
        vocabulary = self._live.for_names().vocabulary
        entities = list(dict.fromkeys(name for head, _, tail in named for name in (head, tail)))
        relations = list(dict.fromkeys(relation for _, relation, _ in named))
        entity, relation = _keys(vocabulary.entities, entities), _keys(vocabulary.relations, relations)
        keys = [(entity[head], relation[middle], entity[tail]) for head, middle, tail in named]
        return list(dict.fromkeys(map(statement_of_keys, keys)))

    def _commit(self, change: Change) -> None:
        """The one way of a known change: journal, triples, graph."""
        if change.size == 0:
            return
        self._require_space()
        self._take_over_trace()
        self._journal.append(change)
        try:
            self.triples.apply(change)
        except OSError as error:
            self._journal.take_back(change)
            raise DatabaseError(f"could not be written: {error}", path=self.path) from error
        self._live.note(change)
        self._checkpoint_if_due()

    def _take_over_trace(self) -> None:
        """Write down what updates have done."""
        change = self.triples.touched()
        if change is None:
            self._rebuild()
        elif change.size:
            self._journal.append(change)
            self._live.note(change)
        else:
            return
        self.triples.forget_touched()
        self._checkpoint_if_due()

    def _follow_update(self) -> None:
        """Take over the trace of an update that is done; if the journal cannot be written, the triples are made to last
        instead, and the trace stays in them until it can.
        """
        try:
            self._take_over_trace()
        except (UnseenError, OSError) as error:
            done = "the update was carried out, but"
            try:
                self.triples.flush()
            except OSError as failure:
                raise DatabaseError(f"{done} may not outlast the machine: {failure}", path=self.path) from error
            change = self.triples.touched()
            if change is None:
                problem = f"{done} predicted answers follow it with the next write only: {error}"
                raise DatabaseError(problem, path=self.path) from error
            self._live.note(change)

    def _checkpoint_if_due(self) -> None:
        """The write is done by now: a snapshot that fails, on a full disk say, is tried again later."""
        if self._journal.size > MOST_JOURNALED:
            with suppress(UnseenError, OSError):
                self.checkpoint()

    def _ingest(self, prepared: Prepared) -> None:
        self._folder.mark_incomplete()
        try:
            self.triples.bulk_load(prepared.file)
        except OSError as error:
            raise DatabaseError(f"the load failed, nothing was changed: {error}", path=self.path) from error
        if prepared.has_blank_nodes:
            self._rebuild()
        else:
            self._live.replace(joined(self.graph, prepared.graph))
            self.checkpoint()
        self._folder.mark_complete()

    def _rebuild(self) -> None:
        """Make the graph and its snapshot anew from the triples."""
        file = self.path / "rescan.nt"
        graph = rescanned(self.triples, file, self._live.for_names(), literals=self.settings.literals)
        self._live.replace(graph)
        self.checkpoint()

    def _recover(self) -> None:
        """Bring triples, journal and graph to the same state, whatever the last process was doing when it ended."""
        number = self._folder.current
        self._journal = Journal(self._folder.journal(number))
        graph, is_sound = self._last_snapshot(number)
        self._live = LiveGraph(graph, literals=self.settings.literals, labels=self.triples.labels_of)
        trace = self.triples.touched()
        if trace is not None:
            if trace.size:
                self._journal.append(trace)
            for change in (*self._journal.changes, trace):
                self.triples.apply(change)
                self._live.note(change)
        is_whole = trace is not None and is_sound and not self._folder.incomplete.exists()
        if not is_whole or not self._has_all_edges():
            self._rebuild()
            self._folder.note_counts(self._counts())
            self._folder.mark_complete()
        self.triples.forget_touched()
        self._sweep(self._folder.current)
        for file in self.path.glob("*.nt"):
            _delete(file)

    def _has_all_edges(self) -> bool:
        """Whether graph and triples differ by as many statements as before, or else by those that are no edges."""
        noted = self._folder.counts
        if self.triples.count() - self.graph.num_triples == noted.others:
            return True
        counts = self._counts()
        if counts.missing == noted.missing:
            self._folder.note_counts(counts)
        return counts.missing == noted.missing

    def _counts(self) -> folders.Counts:
        others = self.triples.count() - self.graph.num_triples
        edges = self.triples.count_edges(literals=self.settings.literals) if others else self.graph.num_triples
        return folders.Counts(others, edges - self.graph.num_triples)

    def _last_snapshot(self, number: int) -> tuple[KnowledgeGraph, bool]:
        """The graph of a snapshot, and whether it could be read."""
        if number:
            try:
                return read_snapshot(self._folder.snapshot(number)), True
            except DatabaseError:
                pass
        return KnowledgeGraph.from_triples([]), False

    def _sweep(self, number: int) -> None:
        """Remove snapshots and journals of other numbers, and what a dying process left behind."""
        kept = {self._folder.snapshot(number).name, self._folder.journal(number).name}
        for pattern in ("snapshot-*", "journal-*", ".*.part"):
            for path in self.path.glob(pattern):
                if path.name not in kept:
                    _delete(path)

    def _require_space(self) -> None:
        """Refuse to begin a write on a full disk: it could not be finished."""
        if not self._journal.is_open:
            raise DatabaseError("is closed", path=self.path)
        if _free_bytes(self.path) < SPARE_BYTES:
            raise DiskFull(self.path)


def _keys(names: Any, texts: list[str]) -> dict[str, str]:
    """The key of each name: of what it means in the graph, or of the new thing that it is."""
    ids = names.find_all(texts).tolist() if texts else []
    return {
        text: names.key(index) if index >= 0 else names.prefixes.key_of_name(text)
        for text, index in zip(texts, ids, strict=True)
    }


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free
