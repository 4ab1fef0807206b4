"""Triples, journal and graph in one order: how a change becomes durable, and how writes go on after a failure.

Every change has the next number. A known change goes into the journal (fsync), then into the triples together with its
number. A SPARQL update runs in the triples, together with its number and a trace of what it touches; the trace then
goes into the journal. The triples so hold exactly the changes up to the number they name, and the journal all later
ones: `recovery` puts the two together. Whoever calls a method here is the only one who writes.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING

from unseen.database.clean_close import flushed, note_close
from unseen.database.failures import explained, is_full, is_storage_failure
from unseen.database.folder import Counts, Current, sync_folder
from unseen.database.journal import MOST_JOURNALED, Change, Entry, Journal
from unseen.database.loading import rescanned
from unseen.database.snapshots import write_snapshot
from unseen.database.triple_forms import readable
from unseen.database.write_numbers import lines_of_load, numbered
from unseen.errors import DatabaseError, DiskFull, EngineLost, UnseenError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from unseen.database.folder import Folder, Settings
    from unseen.database.graph_file import GraphFile
    from unseen.database.live_graph import LiveGraph
    from unseen.database.loading import Prepared
    from unseen.database.triples import Triples
    from unseen.database.write_numbers import Marks, Trace

SPARE_BYTES = 8 << 20
"""Disk space below which no write is begun."""


class Ledger:
    """The open files of a database, and the graph in memory."""

    def __init__(
        self, folder: Folder, settings: Settings, triples: Triples, journal: Journal, live: LiveGraph, marks: Marks
    ) -> None:
        self.folder, self.settings, self.triples, self.journal, self.live = folder, settings, triples, journal, live
        self.path = folder.path
        self.number, self._loaded = max(journal.last, marks.number or 0), marks.loaded
        """The last number that a change was given."""
        self.seen = RLock()
        """Held from the moment a change shows in the triples until it shows in the graph."""
        self.updating: int | None = None
        """The update or load that is running now."""
        self.trouble: str | None = None
        """Why the last write failed; None if it did not."""
        self._must_reopen = False
        self._folder_may_be_older = False
        """Whether the disk may still name the journal before this one, because it could not be synchronized."""
        self._trace_waits = self._graph_is_behind = False
        self._undoing: Change | None = None
        """What undoes a change that was reported as failed, as long as the journal could not be written."""

    def commit(self, change: Change) -> None:
        """Carry out a known change; all that it names must differ from what is there."""
        if change.size == 0:
            return
        self.make_ready()
        entry = Entry(self._next_number(), change)
        self._append(entry)
        with self.seen:
            self._carry_out(entry)
            self.live.note(change)
        self._succeeded()

    def _carry_out(self, entry: Entry) -> None:
        """A change in the journal into the triples; if that cannot be done, out of both again.

        After a failure of the storage the triples are opened again and take all that the journal has. An error of any
        other kind is told to the caller, so neither may keep the change.
        """
        try:
            self.triples.apply(entry.change, entry.number or 0)
        except BaseException as error:
            if is_storage_failure(error):
                self._carry_out_again(entry, error)
                return
            self._refuse(entry)
            with suppress(UnseenError):
                self._resume_after(error)
            raise

    def _carry_out_again(self, entry: Entry, error: BaseException) -> None:
        try:
            self._resume_after(error)  # carries out what the journal has
        except BaseException:
            self._refuse(entry)
            raise

    def _refuse(self, entry: Entry) -> None:
        """Put in the place of a change that failed what undoes it: no restart may show it, whatever the triples have.

        If the journal cannot be written either, the next write does this first.
        """
        self._undoing = Change(readable(entry.change.added), readable(entry.change.removed))
        with suppress(OSError, DatabaseError):
            self.journal.take_back(entry)
            self._write_undoing()

    def _write_undoing(self) -> None:
        change = self._undoing
        if change is not None and change.size:
            self.journal.append(Entry(self._next_number(), change))
        self._undoing = None

    def run_update(self, text: str, prefixes: dict[str, str], *, names_graphs: bool) -> None:
        """Run an update that traces itself (`update_text.traced`), all or nothing."""
        self.make_ready()
        self.journal.reserve(2 * len(text.encode()))
        self._run(
            lambda number: self.triples.update(numbered(text, number, self._loaded), prefixes),
            flush_first=names_graphs,
        )

    def put(self, statements: GraphFile) -> None:
        """Add the statements of a file to a graph, or make them all that it holds: all or nothing."""
        self.make_ready()
        self.journal.reserve(0)
        if statements.replaces and not self.triples.is_empty(statements.graph):
            self._run(lambda number: self._replace(statements, number), flush_first=True)
        else:
            self._run(lambda number: self._load_into(statements, number), flush_first=True)

    def _replace(self, statements: GraphFile, number: int) -> None:
        before, after = statements.update_around()
        self.triples.update_with(statements.file, before, numbered(after, number, self._loaded))

    def _load_into(self, statements: GraphFile, number: int) -> None:
        self.triples.flush()  # as for a bulk load
        self.triples.load_into(statements.file, statements.graph, statements.last_lines(number))

    def _run(self, action: Callable[[int], None], *, flush_first: bool) -> None:
        """Carry out an update that leaves its number and its trace in the triples."""
        number = self._next_number()
        with self.seen:
            try:
                self.updating = number
                action(number)
            except BaseException as error:
                self._trace_waits = True  # whoever interrupts an update may come after its end
                if not is_storage_failure(error):
                    raise
                self._resume_after(error)
                if (self.triples.marks().number or 0) < number:
                    raise self._not_done(error, "the update failed") from error
            else:
                self._follow_update(flush_first=flush_first)
            finally:
                self.updating = None
        self._succeeded()

    def ingest(self, prepared: Prepared) -> None:
        """Load a prepared file in bulk, all or nothing."""
        self.make_ready()
        number = self._next_number()
        with prepared.file.open("a", encoding="utf-8") as stream:
            stream.write(lines_of_load(number))
        with self.seen:
            had_labels = self.triples.has_labels()
            self.updating = number
            try:
                self._bulk_load(prepared.file, number)
            finally:
                self.updating = None
            self._loaded = number
            self._follow_load(prepared, look_up=had_labels)
        with suppress(UnseenError, OSError):  # the load is done, and recovery sees that the snapshot lacks it
            self.checkpoint()
        self._succeeded()

    def _follow_load(self, prepared: Prepared, *, look_up: bool) -> None:
        """Add a finished load to the graph; if that fails, the next write rebuilds the graph."""
        self._graph_is_behind = True
        try:
            if prepared.has_blank_nodes:
                self._rescan()
            else:
                self.live.join(prepared.graph, look_up=look_up)
        except (UnseenError, OSError, RuntimeError) as error:
            if isinstance(error, EngineLost):
                self.note_failure(error)
            problem = f"the load was carried out, but predicted answers follow it with the next write only: {error}"
            raise DatabaseError(problem, path=self.path) from error
        self._graph_is_behind = False

    def _bulk_load(self, file: Path, number: int) -> None:
        try:
            self.triples.flush()  # files that are loaded last at once: what came before must last too
            self.triples.bulk_load(file)
            self.triples.flush()
        except Exception as error:
            if not is_storage_failure(error):
                raise
            self._resume_after(error)
            if self.triples.marks().loaded < number:
                raise self._not_done(error, "the load failed") from error

    def _not_done(self, error: BaseException, what: str) -> DatabaseError:
        """The error for a change that was not carried out."""
        outcome = "nothing was changed"
        if isinstance(error, EngineLost):
            return error.with_outcome(outcome)
        return explained(error, self.path, f"{what}, {outcome}")

    def checkpoint(self) -> None:
        """Write a snapshot of everything and start the journal again."""
        current = Current(self.folder.current.snapshot + 1, self.number)
        write_snapshot(self.live.current(), self.folder.snapshot(current.snapshot))
        self.triples.forget_numbers_before(self.number)
        self.triples.flush()
        journal = Journal(self.folder.journal(current.snapshot), after=self.number)
        try:
            self.folder.make_current(current, self.settings)
        finally:
            if self.folder.current == current:
                self.journal, journal = journal, self.journal
                self._folder_may_be_older = True
            journal.close()
        self._folder_may_be_older = False
        self.sweep()

    def rebuild(self) -> None:
        """Rebuild the graph and its snapshot from the triples."""
        self._rescan()
        self.folder.note_counts(self.counts())
        self.checkpoint()

    def _rescan(self) -> None:
        file = self.path / "rescan.nt"
        self.live.replace(rescanned(self.triples, file, self.live.for_names(), literals=self.settings.literals))

    def counts(self) -> Counts:
        """By how many statements triples and graph differ; some seconds for a million."""
        graph = self.live.current()
        others = self.triples.count() - graph.num_triples
        edges = self.triples.count_edges(literals=self.settings.literals) if others else graph.num_triples
        return Counts(others, edges - graph.num_triples)

    def make_ready(self) -> None:
        """Refuse to begin a write that could not be finished; get over an earlier failure first."""
        self.require_space()
        if self._folder_may_be_older:
            sync_folder(self.path)
            self._folder_may_be_older = False
        if self._must_reopen:
            self.resume()
        elif self._trace_waits:
            self._take_over_trace(flush_first=True)
        if self._graph_is_behind:
            self.rebuild()
            self._graph_is_behind = False

    def require_space(self) -> None:
        """Refuse to begin a write on a full disk, or after the end."""
        if not self.journal.is_open:
            raise DatabaseError("is closed", path=self.path)
        if free_bytes(self.path) < SPARE_BYTES:
            raise DiskFull(self.path)

    def resume(self) -> None:
        """Open the triples again after a failure, and carry out what the journal has and they lack."""
        try:
            with self.live.held():
                self.triples.reopen()
            marks = self.triples.marks()
            self.number = max(self.number, marks.number or 0)
            self._write_undoing()
            for entry in self.journal.entries_after(marks.number or 0):
                self.triples.apply(entry.change, entry.number or 0)
            self._take_over_trace(flush_first=True)
        except Exception as error:
            self._must_reopen = True
            raise explained(error, self.path, "could not be written") from error
        self._must_reopen, self.trouble = False, None

    def note_failure(self, error: BaseException) -> None:
        """The triples have failed: they are opened again before the next write."""
        self._must_reopen = True
        self.trouble = str(explained(error, self.path, "the triples could not be written"))

    def _resume_after(self, error: BaseException) -> None:
        """Try to recover from a failure at once; an error says that recovery waits for the next write."""
        self._must_reopen = True
        try:
            if is_full(error) and free_bytes(self.path) < SPARE_BYTES:
                raise DiskFull(self.path) from error
            self.resume()
        except Exception:
            self.note_failure(error)
            raise

    def _follow_update(self, *, flush_first: bool) -> None:
        """Write down what an update that is done has touched. If the journal cannot be written, the triples are made to
        last instead, and the trace stays in them until it can.
        """
        self._trace_waits = True
        try:
            self._take_over_trace(flush_first=flush_first)
        except Exception as error:
            if not isinstance(error, UnseenError) and not is_storage_failure(error):
                raise
            self._follow_later(error)

    def _follow_later(self, error: Exception) -> None:
        done = "the update was carried out, but"
        try:
            self.triples.flush()
            trace = self.triples.touched()
        except Exception as failure:
            if not is_storage_failure(failure):
                raise
            self._must_reopen = True
            raise DatabaseError(f"{done} may not outlast the machine: {failure}", path=self.path) from error
        if trace is not None and trace.change is None:
            problem = f"{done} predicted answers follow it with the next write only: {error}"
            raise DatabaseError(problem, path=self.path) from error
        if trace is not None and trace.change is not None:
            self.live.recent.cut()
            self.live.note(trace.change)

    def _take_over_trace(self, *, flush_first: bool) -> None:
        """Write down what the last update has touched, unless that was done.

        The journal knows nothing of named graphs: an update that may change them must last before it is written down.
        """
        trace = self.triples.touched()
        if trace is not None:
            if trace.number is None or trace.number > self.journal.last:
                if flush_first:
                    self.triples.flush()
                self.write_down(trace, is_flushed=flush_first)
            self.triples.forget_touched()
        self._trace_waits = False

    def write_down(self, trace: Trace, *, is_flushed: bool) -> None:
        """The trace of an update into the journal and the graph; into a new snapshot if it may be anything."""
        if trace.change is None:
            self.rebuild()
            return
        if trace.change.size or is_flushed or trace.number:  # a number in the triples must stand in the journal too
            self.journal.append(Entry(trace.number or self._next_number(), trace.change, is_flushed))
        if is_flushed:
            self.live.recent.cut()  # before any part of it shows: the change does not tell about named graphs
        self.live.note(trace.change)

    def _append(self, entry: Entry) -> None:
        try:
            self.journal.append(entry)
        except DatabaseError as error:
            self.trouble = str(error)
            raise

    def _next_number(self) -> int:
        self.number += 1
        return self.number

    def _succeeded(self) -> None:
        """The write is done by now: a snapshot that fails, on a full disk say, is tried again later."""
        self.trouble = None
        if self.journal.size > MOST_JOURNALED:
            with suppress(UnseenError, OSError):
                self.checkpoint()

    def sweep(self) -> None:
        """Remove snapshots and journals that are not in use, and what a dying process left behind."""
        number = self.folder.current.snapshot
        kept = {self.folder.snapshot(number).name, self.folder.journal(number).name}
        found = (path for pattern in ("snapshot-*", "journal-*", ".*.part") for path in self.path.glob(pattern))
        for path in (path for path in found if path.name not in kept):
            delete(path)

    def close(self) -> None:
        """Make everything last and let go of it."""
        in_order = flushed(self.triples) and self.trouble is None  # what was acknowledged is in the journal
        self.journal.close()
        self.triples.close()
        note_close(self.folder, self.live.last_made.num_triples if in_order else 0)


def delete(path: Path) -> None:
    """Remove a file or folder."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def free_bytes(path: Path) -> int:
    """The space on the disk of a path."""
    return shutil.disk_usage(path).free
