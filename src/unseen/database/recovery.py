"""Opening a database: triples, journal and graph are brought to the same state, whatever the last process was doing.

The triples hold exactly the changes up to the number they name. Changes of the journal with larger numbers are carried
out; a trace with a larger number than the journal's last one is written down. What is missing or damaged is refused
or, in a snapshot, made anew from the triples; nothing damaged is deleted.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from unseen.database.clean_close import was_closed
from unseen.database.failures import explained, is_storage_failure
from unseen.database.folder import REPAIR, sync_folder
from unseen.database.journal import Journal
from unseen.database.ledger import Ledger, delete
from unseen.database.live_graph import LiveGraph
from unseen.database.snapshots import SnapshotWithoutChecksums, SnapshotWithoutValues, read_snapshot
from unseen.errors import DatabaseDamaged, DatabaseError
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from unseen.database.folder import Current, Folder, Settings
    from unseen.database.triples import Triples
    from unseen.database.write_numbers import Marks

log = logging.getLogger("unseen.database")


def open_ledger(folder: Folder, settings: Settings, open_triples: Callable[[Path], Triples]) -> Ledger:
    """The open files of a database, all in the same state."""
    sync_folder(folder.path)
    current = folder.current
    journal = Journal(folder.journal(current.snapshot), after=current.number or 0)
    closed = was_closed(folder)
    try:
        triples = open_triples(folder.triples)
        try:
            return _recovered(folder, settings, current, journal, triples, in_order=closed)
        except BaseException:
            triples.close()
            raise
    except BaseException as error:
        journal.close()
        if isinstance(error, DatabaseError) or not is_storage_failure(error):
            raise
        raise explained(error, folder.path, "cannot be opened") from error


def _recovered(
    folder: Folder, settings: Settings, current: Current, journal: Journal, triples: Triples, *, in_order: bool
) -> Ledger:
    marks, trace = triples.marks(), triples.touched()
    if current.snapshot and current.number is not None:
        _check_marks(folder, current, journal, marks)
    graph = _last_snapshot(folder, current)
    live = LiveGraph(graph or KnowledgeGraph.from_triples([]), literals=settings.literals, labels=triples.labels_of)
    ledger = Ledger(folder, settings, triples, journal, live, marks)
    for entry in journal.entries:
        if marks.number is None or (entry.number or 0) > marks.number:
            triples.apply(entry.change, entry.number or 0)
        live.note(entry.change)
    is_complete = graph is not None and marks.loaded <= (current.number or 0)
    if trace is not None and (trace.number is None or trace.number > journal.last):
        is_complete = is_complete and trace.change is not None
        if trace.change is not None:
            triples.apply(trace.change, trace.number or ledger.number + 1)
            triples.flush()
            ledger.write_down(trace, is_flushed=True)
    elif is_complete and (marks.number or 0) > journal.last:
        log.warning("%s: the journal lacks changes that the triples hold; the graph is rebuilt", folder.path)
        is_complete = False
    if not is_complete or folder.incomplete.exists() or not (in_order or _has_all_edges(ledger)):
        ledger.rebuild()
        delete(folder.incomplete)
    triples.forget_touched()
    ledger.sweep()
    for file in folder.path.glob("*.nt"):
        delete(file)
    return ledger


def _check_marks(folder: Folder, current: Current, journal: Journal, marks: Marks) -> None:
    """Refuse triples that are older than the rest: they have lost what was made to last."""
    lasting = [entry.number or 0 for entry in journal.entries if entry.is_flushed]
    expected = max([current.number or 0, *lasting])
    if marks.number is None or marks.number < expected:
        held = "none" if marks.number is None else f"those up to {marks.number:,}"
        problem = f"is damaged: of {expected:,} changes that were made to last it holds {held}. {REPAIR}"
        raise DatabaseDamaged(problem, path=folder.triples)


def _last_snapshot(folder: Folder, current: Current) -> KnowledgeGraph | None:
    """The graph of the snapshot in use; None if there is none or it cannot be trusted."""
    path = folder.snapshot(current.snapshot)
    if current.snapshot == 0:
        return None
    try:
        return read_snapshot(path)
    except SnapshotWithoutChecksums:
        return None
    except SnapshotWithoutValues as error:
        return error.graph if folder.counts.others == 0 else None
    except DatabaseError as error:
        kept = f", the damaged one is kept as {folder.set_aside(path).name}" if path.exists() else ""
        log.warning("%s; the snapshot is rebuilt from the triples%s", error, kept)
        return None


def _has_all_edges(ledger: Ledger) -> bool:
    """Whether graph and triples differ by as many statements as before, or else by those that are no edges."""
    noted = ledger.folder.counts
    if ledger.triples.count() - ledger.live.current().num_triples == noted.others:
        return True
    counts = ledger.counts()
    if counts.missing == noted.missing:
        ledger.folder.note_counts(counts)
    return counts.missing == noted.missing
