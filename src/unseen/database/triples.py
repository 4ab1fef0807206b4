"""The durable triples: pyoxigraph on disk, and what this project asks of it.

Every method that writes is one transaction or can be repeated without harm; the number of a change is written by its
last transaction. A write survives the death of the process at once, and that of the machine after `flush`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.failures import explained
from unseen.database.journal import Change
from unseen.database.numbering import Marks, Trace, only_number
from unseen.database.reserved import ANYTHING, CHANGE, LOADED, NUMBER, OWN_GRAPHS, STATE, TOUCHED
from unseen.database.statements import LABEL_PREDICATE, quads_of, statement_of_quad
from unseen.errors import DatabaseDamaged, DatabaseError, GraphError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from unseen.database.journal import Statement


PATIENCE = 5.0
"""Seconds that `reopen` waits for running queries to let go of the store."""


class Triples:
    """An open store."""

    def __init__(self, path: Path) -> None:
        try:
            import pyoxigraph
        except ImportError:
            raise MissingExtra("a database", "rdf", "pyoxigraph") from None
        self.rdf, self.path = pyoxigraph, path
        self._touched_graph, self._state_graph = pyoxigraph.NamedNode(TOUCHED), pyoxigraph.NamedNode(STATE)
        self.store = self._opened()

    def _opened(self) -> Any:
        try:
            return self.rdf.Store(str(self.path))
        except RuntimeError as error:  # RocksDB's checksums do not fit
            problem = f"is damaged: {error}. Nothing was deleted; restore the database from a backup"
            raise DatabaseDamaged(problem, path=self.path) from error
        except OSError as error:
            raise explained(error, self.path, "cannot be opened") from error

    def reopen(self) -> None:
        """Close the store and open it again: after a failed write RocksDB takes no others.

        If that fails, it is open for reading only, as far as that can be done.
        """
        self.close()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.store = self._opened()
            except DatabaseError as error:
                if "lock hold by current process" in str(error) and time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                with suppress(OSError, RuntimeError):
                    self.store = self.rdf.Store.read_only(str(self.path))
                raise
            return

    def close(self) -> None:
        """Let go of the store; it closes when the last running query ends."""
        if hasattr(self, "store"):
            del self.store

    def has(self, statements: Sequence[Statement]) -> list[bool]:
        """Whether each statement is there."""
        return [quad in self.store for quad in quads_of(statements)]

    def apply(self, change: Change, number: int) -> None:
        """Make the statements of a change be gone and be there; doing it again changes nothing."""
        if change.removed:
            self._remove(change.removed)
        self.store.extend([*quads_of(change.added), self._mark(NUMBER, number)])

    def _remove(self, statements: Sequence[Statement]) -> None:
        """In one transaction, unless they have blank nodes or odd IRIs, which SPARQL cannot name."""
        if not any(term.startswith("_:") for statement in statements for term in statement):
            try:
                self.store.update(f"DELETE DATA {{ {_text(statements)} }}")
            except SyntaxError:
                pass
            else:
                return
        for quad in quads_of(statements):
            self.store.remove(quad)

    def _mark(self, predicate: str, number: int) -> Any:
        rdf = self.rdf
        return rdf.Quad(rdf.NamedNode(CHANGE), rdf.NamedNode(predicate), rdf.Literal(number), self._state_graph)

    def marks(self) -> Marks:
        """Which changes the triples hold."""
        found: dict[str, int] = {}
        for quad in self.store.quads_for_pattern(self.rdf.NamedNode(CHANGE), None, None, self._state_graph):
            found[quad.predicate.value] = max(found.get(quad.predicate.value, 0), int(quad.object.value))
        return Marks(found.get(NUMBER), found.get(LOADED, 0))

    def holds(self, number: int) -> bool:
        """Whether the triples name the number of a change, until a later snapshot; about 5 microseconds."""
        return self._mark(NUMBER, number) in self.store

    def forget_numbers_before(self, number: int) -> None:
        """Keep the number of the last change only."""
        self.store.update(only_number(number))

    def is_iri(self, text: str) -> bool:
        """Whether a text is an IRI that SPARQL can name."""
        try:
            self.rdf.NamedNode(text)
        except ValueError:
            return False
        return True

    def update(self, text: str, prefixes: dict[str, str]) -> None:
        """Run an update in one transaction."""
        self.store.update(text, prefixes=prefixes)

    def touched(self) -> Trace | None:
        """What the last update has changed; None if nobody has left a trace."""
        found = list(self.store.quads_for_pattern(None, None, None, self._touched_graph))
        own = [quad for quad in found if str(quad.subject) == f"<{CHANGE}>"]
        number = max((int(quad.object.value) for quad in own), default=None)
        statements = [statement_of_quad(quad) for quad in found if str(quad.subject) != f"<{CHANGE}>"]
        return Trace(number, self._now(statements)) if found else None

    def _now(self, statements: list[Statement]) -> Change | None:
        """Which of the statements are there now; None if they may be anything."""
        if any(subject == f"<{ANYTHING}>" for subject, _, _ in statements):
            return None
        try:
            there = self.has(statements)
        except GraphError:  # what cannot be read may be anything
            return None
        pairs = list(zip(statements, there, strict=True))
        return Change(
            removed=tuple(statement for statement, is_there in pairs if not is_there),
            added=tuple(statement for statement, is_there in pairs if is_there),
        )

    def forget_touched(self) -> None:
        """Clear the trace of updates."""
        self.store.remove_graph(self._touched_graph)

    def graph_names(self) -> list[Any]:
        """The named graphs that belong to the user."""
        return [name for name in self.store.named_graphs() if name.value not in OWN_GRAPHS]

    def size(self) -> int:
        """How many statements all graphs of the user have."""
        own = (self._touched_graph, self._state_graph)
        return len(self.store) - sum(1 for graph in own for _ in self.store.quads_for_pattern(None, None, None, graph))

    def count(self) -> int:
        """How many statements the default graph has; a second for a million."""
        len(self.store)  # an error if a block is damaged, where the engine's COUNT never ends
        return self._counted("?s ?p ?o")

    def count_edges(self, *, literals: bool) -> int:
        """How many statements of the default graph can be edges; some seconds for a million."""
        unwanted = "isTRIPLE(?o)" if literals else "isTRIPLE(?o) || isLITERAL(?o)"
        return self._counted(f"?s ?p ?o FILTER(!({unwanted}))")

    def _counted(self, pattern: str) -> int:
        solutions: Any = self.store.query(f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}")
        return int(next(solutions)["n"].value)

    def labels_of(self, subjects: Iterable[str]) -> dict[str, list[tuple[str | None, str]]]:
        """Language and text of every label of each subject that has any; about 10 microseconds a subject."""
        graph, found = self.rdf.DefaultGraph(), {}
        predicate = self.rdf.NamedNode(LABEL_PREDICATE[1:-1])
        for subject, quad in self._as_subjects(subjects):
            labels = [q.object for q in self.store.quads_for_pattern(quad.subject, predicate, None, graph)]
            texts = [(label.language, label.value) for label in labels if isinstance(label, self.rdf.Literal)]
            if texts:
                found[subject] = texts
        return found

    def _as_subjects(self, subjects: Iterable[str]) -> Iterator[tuple[str, Any]]:
        names = [subject for subject in subjects if subject.startswith(("<", "_:")) and not subject.startswith("<<")]
        return zip(names, quads_of((name, LABEL_PREDICATE, LABEL_PREDICATE) for name in names), strict=True)

    def has_labels(self) -> bool:
        """Whether any subject has a label."""
        predicate = self.rdf.NamedNode(LABEL_PREDICATE[1:-1])
        return any(True for _ in self.store.quads_for_pattern(None, predicate, None, self.rdf.DefaultGraph()))

    def bulk_load(self, path: Path) -> None:
        """Take in an N-Quads file that is known to be valid: all of it or nothing."""
        self.store.bulk_load(path=str(path), format=self.rdf.RdfFormat.N_QUADS, lenient=True)

    def backup(self, target: Path) -> None:
        """Copy everything into a new folder."""
        self.store.backup(str(target))

    def dump(self, target: Path | BinaryIO, rdf_format: Any, graph: Any = None) -> None:
        """Write one graph, the default one if none is named, in an RDF format."""
        output = target if hasattr(target, "write") else str(target)
        try:
            self.store.dump(output, rdf_format, from_graph=graph or self.rdf.DefaultGraph())
        except RuntimeError as error:
            raise explained(error, self.path, "could not be read") from error

    def dump_all(self, target: BinaryIO, rdf_format: Any) -> None:
        """Write the default graph and all named ones in an RDF format that has graphs."""
        own = {f"<{iri}>" for iri in OWN_GRAPHS}
        quads = (quad for quad in self.store if str(quad.graph_name) not in own)
        self.rdf.serialize(quads, target, rdf_format)

    def flush(self) -> None:
        """Make everything survive the death of the machine."""
        self.store.flush()


def _text(statements: Sequence[Statement]) -> str:
    return " .\n".join(" ".join(statement) for statement in statements)
