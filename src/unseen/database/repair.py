"""Going on after damage: a new snapshot and journal from the triples, and from every change that is still whole.

The triples hold exactly the changes up to the number they name. Whole lines of any journal with larger numbers are
carried out, in order; what lies between and is not whole is lost, and the report says so. Files that are damaged or no
longer needed are renamed, never deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unseen.database import folder as folders
from unseen.database.folder import Current, Folder, Settings
from unseen.database.journal import Entry, Journal, read_journal
from unseen.database.ledger import Ledger
from unseen.database.live_graph import LiveGraph
from unseen.database.triples import Triples
from unseen.errors import DatabaseDamaged, DatabaseError
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.database.write_numbers import Marks


@dataclass
class Repaired:
    """What a repair has found and done."""

    carried_out: int = 0
    """Changes of the journals that the triples lacked."""
    damaged_lines: int = 0
    is_complete: bool = True
    """Whether the triples are known to have every acknowledged change."""
    set_aside: list[str] = field(default_factory=list)


def repair(path: Path) -> Repaired:
    """Make a database usable again; an error says that its triples are damaged."""
    folder, report = Folder(path), Repaired()
    if not folder.triples.is_dir() or not (folder.triples / "CURRENT").is_file():
        raise DatabaseDamaged("its folder `triples` is missing or empty; only a backup can help", path=path)
    with folders.locked(path):
        settings = _settings(folder)
        triples = Triples(folder.triples)
        try:
            _put_together(folder, settings, triples, report)
        finally:
            triples.close()
    return report


def _settings(folder: Folder) -> Settings:
    """What was decided when the database was made, from whichever file still says so."""
    for name in ("database.json", "current.json"):
        try:
            return Settings(bool(folders.read_json(folder.path / name).get("literals", False)))
        except DatabaseError:
            continue
    return Settings()


def _put_together(folder: Folder, settings: Settings, triples: Triples, report: Repaired) -> None:
    marks = triples.marks()
    for entry in _lacking(folder, marks, report):
        triples.apply(entry.change, entry.number or 0)
        report.carried_out += 1
    old = sorted([*folder.path.glob("snapshot-*"), *folder.path.glob("journal-*")])
    number = 1 + max((int(path.name.rpartition("-")[2]) for path in old), default=0)
    live = LiveGraph(KnowledgeGraph.from_triples([]), literals=settings.literals, labels=triples.labels_of)
    journal = Journal(folder.journal(number), after=triples.marks().number or 0)
    for name in ("current.json", "database.json"):
        _set_aside_if_damaged(folder, name, report)
    report.set_aside += [folder.set_aside(path).name for path in old]
    folder.make_current(Current(number), settings)
    ledger = Ledger(folder, settings, triples, journal, live, triples.marks())
    ledger.rebuild()
    triples.forget_touched()
    folders.describe(folder.path, settings)
    ledger.journal.close()


def _lacking(folder: Folder, marks: Marks, report: Repaired) -> list[Entry]:
    """The whole changes of all journals that the triples lack, in their order."""
    held = marks.number or 0
    found: dict[int, Entry] = {}
    for path in sorted(folder.path.glob("journal-*")):
        contents = read_journal(path)
        report.damaged_lines += len(contents.damaged)
        found |= {entry.number: entry for entry in contents.entries if entry.number is not None}
    largest = max([held, *found])
    missing = set(range(held + 1, largest + 1)) - set(found)
    lost_flushed = any(entry.is_flushed for number, entry in found.items() if number > held)
    is_last_damaged = report.damaged_lines > 0 and largest > held
    report.is_complete = not missing and not lost_flushed and not is_last_damaged
    return [found[number] for number in sorted(found) if number > held]


def _set_aside_if_damaged(folder: Folder, name: str, report: Repaired) -> None:
    try:
        folders.read_json(folder.path / name)
    except DatabaseError:
        if (folder.path / name).exists():
            report.set_aside.append(folder.set_aside(folder.path / name).name)
