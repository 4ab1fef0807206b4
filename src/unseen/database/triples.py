"""The durable triples: pyoxigraph on disk, and what this project asks of it.

Every method that writes is one transaction or can be repeated without harm; the number of a change is written by its
last transaction. A write survives the death of the process at once, and that of the machine after `flush`. `Triples`
has the store in this process; `engine.process_triples` has it in another one, and asks the same things of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.failures import explained
from unseen.database.journal import Change
from unseen.database.write_numbers import Marks, Trace
from unseen.errors import DatabaseDamaged, DatabaseError, GraphError, MissingExtra
from unseen.graph.files.oxigraph import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from unseen.database.journal import Statement


class Triples:
    """An open store."""

    def __init__(self, path: Path) -> None:
        try:
            import pyoxigraph
        except ImportError:
            raise MissingExtra("a database", "rdf", "pyoxigraph") from None
        self.rdf = pyoxigraph
        self.path = path
        self.changes = 0
        """How many writes were done or tried."""
        self._open()

    def _open(self) -> None:
        from unseen.database.engine.operations import Operations

        try:
            self._operations = Operations(str(self.path))
        except (OSError, RuntimeError) as error:
            raise self._not_opened(error) from error

    def _not_opened(self, error: Exception) -> DatabaseError:
        """Why the store cannot be opened; a `RuntimeError` says that RocksDB's checksums do not fit."""
        if isinstance(error, RuntimeError):
            problem = f"is damaged: {error}. Nothing was deleted; restore the database from a backup"
            return DatabaseDamaged(problem, path=self.path)
        return explained(error, self.path, "cannot be opened")

    def _carry_out(self, header: dict[str, Any], body: bytes = b"") -> tuple[Any, bytes]:
        """The result of one operation of `engine.operations`."""
        from unseen.database.engine.operations import carried_out

        return carried_out(self._operations, header, body)

    def _ask(self, kind: str, *arguments: Any, **named: Any) -> Any:
        return self._carry_out({"do": kind, "with": arguments, "named": named})[0]

    @property
    def store(self) -> Any:
        """The store itself."""
        return self._operations.store

    def reopen(self) -> None:
        """Close the store and open it again: after a failed write RocksDB takes no others.

        If that fails, it is open for reading only, as far as that can be done.
        """
        self.close()
        try:
            self._open()
        except DatabaseError:
            from unseen.database.engine.operations import Operations

            self._operations = Operations(str(self.path), read_only=True)
            raise

    def close(self) -> None:
        """Let go of the store; it closes when the last running query ends."""
        if hasattr(self, "_operations"):
            self._operations.close()
            del self._operations

    def has(self, statements: Sequence[Statement]) -> list[bool]:
        """Whether each statement is there."""
        with _readable():
            return [byte == 1 for byte in self._carry_out({"do": "has"}, _lines(statements))[1]]

    def apply(self, change: Change, number: int) -> None:
        """Make the statements of a change be gone and be there; doing it again changes nothing."""
        with self._counted_change(), _readable():
            if change.removed:
                self._carry_out({"do": "remove"}, _lines(change.removed))
            self._carry_out({"do": "add", "number": number}, _lines(change.added))

    def marks(self) -> Marks:
        """Which changes the triples hold."""
        number, loaded = self._ask("marks")
        return Marks(number, loaded)

    def holds(self, number: int) -> bool:
        """Whether the triples name the number of a change, until a later snapshot; about 5 microseconds."""
        return bool(self._ask("holds", number))

    def forget_numbers_before(self, number: int) -> None:
        """Keep the number of the last change only."""
        self._ask("forget_numbers_before", number)

    @contextmanager
    def _counted_change(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.changes += 1

    def is_iri(self, text: str) -> bool:
        """Whether a text is an IRI that SPARQL can name."""
        try:
            self.rdf.NamedNode(text)
        except ValueError:
            return False
        return True

    def update(self, text: str, prefixes: dict[str, str]) -> None:
        """Run an update in one transaction."""
        with self._counted_change():
            self._carry_out({"do": "update", "prefixes": prefixes}, text.encode())

    def update_with(self, file: Path, before: str, after: str) -> None:
        """Run an update in one transaction whose text stands around the lines of a file."""
        with self._counted_change():
            self._ask("update_with", str(file), before, after)

    def load_into(self, file: Path, graph: str | None, last: str) -> None:
        """Take in a file of N-Triples as statements of a graph, and last lines of N-Quads: all of it or nothing."""
        with self._counted_change():
            self._ask("load_into", str(file), graph, last)

    def is_empty(self, graph: str | None) -> bool:
        """Whether a graph has no statement, or is not there."""
        return bool(self._ask("is_empty", graph))

    def touched(self) -> Trace | None:
        """What the last update has changed; None without a trace."""
        found = self._ask("touched")
        if found is None:
            return None
        number, statements, there = found
        if statements is None:
            return Trace(number, None)
        pairs = [((s, p, o), is_there) for (s, p, o), is_there in zip(statements, there, strict=True)]
        removed = tuple(statement for statement, is_there in pairs if not is_there)
        return Trace(number, Change(removed, tuple(statement for statement, is_there in pairs if is_there)))

    def forget_touched(self) -> None:
        """Clear the trace of updates."""
        self._ask("forget_touched")

    def graph_names(self) -> list[str]:
        """The named graphs that belong to the user, as N-Triples writes their names."""
        names: list[str] = self._ask("graph_names")
        return names

    def count(self) -> int:
        """How many statements the default graph has; a second for a million."""
        return int(self._ask("count", "?s ?p ?o"))

    def count_edges(self, *, literals: bool) -> int:
        """How many statements of the default graph can be edges; some seconds for a million."""
        unwanted = "isTRIPLE(?o)" if literals else "isTRIPLE(?o) || isLITERAL(?o)"
        return int(self._ask("count", f"?s ?p ?o FILTER(!({unwanted}))"))

    def labels_of(self, subjects: Iterable[str]) -> dict[str, list[tuple[str | None, str]]]:
        """Language and text of every label of each subject that has any; about 10 microseconds a subject."""
        found = self._ask("labels_of", list(subjects))
        return {subject: [(language, text) for language, text in labels] for subject, labels in found.items()}

    def has_labels(self) -> bool:
        """Whether any subject has a label."""
        return bool(self._ask("has_labels"))

    def bulk_load(self, path: Path) -> None:
        """Take in an N-Quads file that is known to be valid: all of it or nothing."""
        with self._counted_change():
            self._ask("bulk_load", str(path))

    def dump(
        self, target: Path | BinaryIO, rdf_format: Any, graph: str | None = None, *, everything: bool = False
    ) -> None:
        """Write one graph, the default one if none is named, or everything, in an RDF format."""
        output = target if hasattr(target, "write") else str(target)
        try:
            self._ask("dump", output, rdf_format.media_type, graph, everything=everything)
        except RuntimeError as error:
            raise explained(error, self.path, "could not be read") from error

    def size(self) -> int:
        """How many statements all graphs of the user have."""
        return int(self._ask("size"))

    def backup(self, target: Path) -> None:
        """Write a copy of what is committed into a new folder; files that do not change are hard links."""
        self._ask("backup", str(target))

    def flush(self) -> None:
        """Make everything survive the death of the machine."""
        self._ask("flush")


def _lines(statements: Sequence[Statement]) -> bytes:
    return "".join(f"{' '.join(statement)} .\n" for statement in statements).encode()


@contextmanager
def _readable() -> Iterator[None]:
    """What the store cannot read is not a statement."""
    try:
        yield
    except SyntaxError as error:
        raise GraphError(f"this is not a statement: {one_line(error)}") from None
