"""A graph that lives on disk.

    with Database.create("world.db") as database:
        database.load(["facts.tsv"])
        database.add([("Atlantis", "borders", "France")])
        unseen.ask(database.graph, "?x : borders(x, France)")

`ledger` says how a write becomes durable, `recovery` how a database is opened after a crash.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from unseen.database import folder as folders
from unseen.database.failures import explained, is_storage_failure
from unseen.database.journal import Change
from unseen.database.ledger import SPARE_BYTES, free_bytes
from unseen.database.loading import prepare
from unseen.database.recovery import open_ledger
from unseen.database.snapshots import sync_files
from unseen.database.triple_forms import check_names, statement_of_keys
from unseen.database.triples import Triples
from unseen.errors import DatabaseError, DiskFull, EngineLost
from unseen.logic.sparql.parse import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unseen.database.graph_file import GraphFile
    from unseen.database.graph_steps import GraphState
    from unseen.database.journal import Statement
    from unseen.database.ledger import Ledger
    from unseen.database.recent_changes import RecentChanges
    from unseen.graph import KnowledgeGraph
    from unseen.graph.files.readers import ReadReport
    from unseen.graph.prefixes import Prefixes

_PREFIX = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*)?")


@dataclass(frozen=True)
class Health:
    """Whether a database can be written, and if not, why."""

    is_writable: bool
    reason: str = ""


LOOKS_AGAIN = 0.05
"""Seconds after which a reader that waits for a change looks whether an update has begun meanwhile."""


class Database:
    """An open database; one process and, for writes, one thread at a time."""

    def __init__(self, path: str | Path, open_triples: Callable[[Path], Triples] = Triples) -> None:
        """Open an existing database; `open_triples` opens the engine that stores its triples."""
        self.path = Path(path)
        self._writing = RLock()
        self._prefixes: tuple[list[Prefixes], dict[str, str]] | None = None
        with ExitStack() as stack:
            folders.require(self.path)
            stack.enter_context(folders.locked(self.path))
            folder, self.settings = folders.opened(self.path)
            self._ledger: Ledger = open_ledger(folder, self.settings, open_triples)
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
        """Finish the current write and release the database; closing twice is harmless.

        Whether that was done within some seconds; if not, everything stays open.
        """
        if not self._writing.acquire(timeout=patience):
            return False
        try:
            if self._ledger.journal.is_open:
                self._ledger.close()
                self._resources.close()
        finally:
            self._writing.release()
        return True

    @property
    def triples(self) -> Triples:
        """The durable triples."""
        return self._ledger.triples

    @property
    def graph(self) -> KnowledgeGraph:
        """The current graph, for questions and models; it is immutable."""
        with self._explaining("the graph could not be made"):
            return self._ledger.live.current()

    def graph_after(self, place: int | None) -> GraphState:
        """The current graph, and how a copy of what it was at a place becomes like it; see `graph_steps`."""
        with self._explaining("the graph could not be made"):
            return self._ledger.live.current_after(place)

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self._ledger.live.version

    @property
    def recent(self) -> RecentChanges:
        """The last changes, for everyone who keeps a copy of the triples."""
        return self._ledger.live.recent

    @property
    def number(self) -> int:
        """The number of the last change that was begun; see `Triples.marks` for the last one carried out."""
        return self._ledger.number

    @property
    def health(self) -> Health:
        """Whether writes are possible, judged by the disk and the last write; changes nothing."""
        if self._ledger.trouble is not None:
            return Health(is_writable=False, reason=self._ledger.trouble)
        if free_bytes(self.path) < SPARE_BYTES:
            return Health(is_writable=False, reason=str(DiskFull(self.path)))
        return Health(is_writable=True)

    def heal(self) -> Health:
        """Try to recover from a failed write now instead of at the next one, and return the health."""
        with suppress(DatabaseError), self._writes() as ledger:
            if ledger.trouble is not None:
                ledger.make_ready()
                ledger.journal.reserve(0)
                ledger.trouble = None
        return self.health

    def catch_up(self) -> None:
        """Wait until `graph` shows every change that the triples show now.

        Call it between starting an exact query and giving its results away. It waits for a change that is carried out,
        never for an update that is still being computed.
        """
        while (number := self._ledger.updating) is None or self.triples.holds(number):
            if self._ledger.seen.acquire(timeout=LOOKS_AGAIN):
                self._ledger.seen.release()
                return

    @contextmanager
    def _writes(self) -> Iterator[Ledger]:
        """The one place that writes go through, one at a time."""
        with self._writing, self._explaining("it failed"):
            changes, noted = self.triples.changes, self.recent.noted
            try:
                yield self._ledger
            except EngineLost as error:
                if not error.outcome:  # nobody knows yet what became of it
                    self._ledger.note_failure(error)
                raise
            except DiskFull as error:
                self._ledger.trouble = str(error)
                raise
            finally:
                if self.triples.changes - changes != self.recent.noted - noted:
                    self.recent.cut()  # a load, a failure: the changes that were noted are not all

    @contextmanager
    def _explaining(self, what: str) -> Iterator[None]:
        """Turn failures of the triples into database errors."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            if not is_storage_failure(error):
                raise
            raise explained(error, self.path, what) from error

    @property
    def prefixes(self) -> dict[str, str]:
        """Prefixes that SPARQL texts need not declare: the well-known ones and those of the graph.

        The same object as long as they are the same. It looks at the graph that was made last and waits for nobody.
        """
        vocabulary, known = self._ledger.live.last_made.vocabulary, self._prefixes
        sources = [vocabulary.relations.prefixes, vocabulary.entities.prefixes]
        if known is not None and all(one is other for one, other in zip(sources, known[0], strict=True)):
            return known[1]
        own = sources[0].namespaces | sources[1].namespaces
        found = NAMESPACES | {p: iri for p, iri in own.items() if _PREFIX.fullmatch(p) and self.triples.is_iri(iri)}
        self._prefixes = sources, known[1] if known is not None and known[1] == found else found
        return self._prefixes[1]

    def add(self, triples: Iterable[Sequence[str]]) -> int:
        """Add triples by name, all or none, and return how many are new. Unknown names are added too."""
        statements = self._statements(triples)
        with self._writes() as ledger:
            there = self.triples.has(statements)
            new = tuple(statement for statement, known in zip(statements, there, strict=True) if not known)
            ledger.commit(Change(added=new))
        return len(new)

    def remove(self, triples: Iterable[Sequence[str]]) -> int:
        """Remove triples by name, all or none, and return how many existed."""
        statements = self._statements(triples)
        with self._writes() as ledger:
            there = self.triples.has(statements)
            found = tuple(statement for statement, known in zip(statements, there, strict=True) if known)
            ledger.commit(Change(removed=found))
        return len(found)

    def change(self, change: Change) -> None:
        """Carry out a change of statements of the default graph, all or nothing."""
        with self._writes() as ledger:
            gone, there = self.triples.has(change.removed), self.triples.has(change.added)
            removed = tuple(s for s, is_there in zip(change.removed, gone, strict=True) if is_there)
            added = tuple(
                s for s, is_there in zip(change.added, there, strict=True) if not is_there or s in change.removed
            )
            ledger.commit(Change(removed, added))

    def run_traced(self, text: str, *, names_graphs: bool) -> None:
        """Run an update that traces itself (`update_text.traced`), all or nothing."""
        with self._writes() as ledger:
            ledger.run_update(text, self.prefixes, names_graphs=names_graphs)

    def put(self, statements: GraphFile) -> None:
        """Add the statements of a file to a graph, or make them all that it holds: all or nothing."""
        with self._writes() as ledger:
            ledger.put(statements)

    def load(
        self,
        sources: Sequence[str | Path],
        *,
        skip_errors: bool = False,
        progress: Callable[[int, int], None] | None = None,
        values: Sequence[str | Path] = (),
    ) -> ReadReport:
        """Load files, and files of values, in bulk, all or nothing. Existing triples do not change."""
        file = self.path / f"loading-{secrets.token_hex(4)}.nt"
        self._ledger.require_space()
        try:
            paths = [Path(source) for source in sources]
            literals = self.settings.literals
            reading: dict[str, Any] = {"skip_errors": skip_errors, "progress": progress}
            prepared = prepare(paths, file, literals=literals, values=[Path(one) for one in values], **reading)
            with self._writes() as ledger:
                ledger.ingest(prepared)
        finally:
            file.unlink(missing_ok=True)
        return prepared.report

    def checkpoint(self) -> None:
        """Write a snapshot of the whole graph and restart the journal."""
        with self._writes() as ledger:
            ledger.make_ready()
            ledger.checkpoint()

    def backup(self, target: str | Path) -> None:
        """Copy the database into a new folder."""
        target = Path(target)
        if target.exists():
            raise DatabaseError("already exists; name a new folder", path=target)
        unfinished = target.with_name(f".{target.name}.part")
        try:
            unfinished.mkdir(parents=True)
            with self._writes() as ledger:
                ledger.make_ready()
                ledger.checkpoint()
                self.triples.backup(unfinished / "triples")
                number = ledger.folder.current.snapshot
                journal, snapshot = ledger.folder.journal(number), ledger.folder.snapshot(number)
                names = ("database.json", "current.json", "counts.json", journal.name)
                for path in (self.path / name for name in names if (self.path / name).exists()):
                    shutil.copy2(path, unfinished)
                shutil.copytree(snapshot, unfinished / snapshot.name)
            sync_files(unfinished)
            unfinished.rename(target)
            folders.sync_folder(target.parent)
        except OSError as error:
            raise DatabaseError(f"the backup failed: {error.strerror or error}", path=target) from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _statements(self, triples: Iterable[Sequence[str]]) -> list[Statement]:
        """Statements of named triples, each once."""
        named = list(triples)
        check_names(named)
        vocabulary = self._ledger.live.for_names().vocabulary
        entities = list(dict.fromkeys(name for head, _, tail in named for name in (head, tail)))
        relations = list(dict.fromkeys(relation for _, relation, _ in named))
        entity, relation = _keys(vocabulary.entities, entities), _keys(vocabulary.relations, relations)
        keys = [(entity[head], relation[middle], entity[tail]) for head, middle, tail in named]
        return list(dict.fromkeys(map(statement_of_keys, keys)))


def _keys(names: Any, texts: list[str]) -> dict[str, str]:
    """The key of each name: of what it means in the graph, or of the new thing that it is."""
    ids = names.find_all(texts).tolist() if texts else []
    return {
        text: names.key(index) if index >= 0 else names.prefixes.key_of_name(text)
        for text, index in zip(texts, ids, strict=True)
    }
