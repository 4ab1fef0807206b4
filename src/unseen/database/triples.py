"""The durable triples: pyoxigraph on disk, and what this project asks of it.

Every method that writes is one transaction or, for statements with blank nodes, can be repeated without harm. A write
survives the death of the process at once, and that of the machine after `flush`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from unseen.database.journal import Change
from unseen.database.statements import LABEL_PREDICATE, quads_of, statement_of_quad
from unseen.database.update_text import ANYTHING, TOUCHED
from unseen.errors import DatabaseError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
        self._touched_graph = pyoxigraph.NamedNode(TOUCHED)
        try:
            self.store = pyoxigraph.Store(str(path))
        except OSError as error:
            raise DatabaseError(f"cannot be opened: {error}", path=path) from error

    def has(self, statements: Sequence[Statement]) -> list[bool]:
        """Whether each statement is there."""
        return [quad in self.store for quad in quads_of(statements)]

    def apply(self, change: Change) -> None:
        """Make the statements of a change be gone and be there; doing it again changes nothing."""
        if change.removed:
            self._remove(change.removed)
        if change.added:
            self.store.extend(quads_of(change.added))

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

    def touched(self) -> Change | None:
        """What the last updates have changed and nobody has written down yet; None if that may be anything."""
        pattern = (None, None, None, self._touched_graph)
        statements = [statement_of_quad(quad) for quad in self.store.quads_for_pattern(*pattern)]
        if any(subject == f"<{ANYTHING}>" for subject, _, _ in statements):
            return None
        there = self.has(statements)
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
        return [name for name in self.store.named_graphs() if name != self._touched_graph]

    def labels_of(self, subject: str) -> Iterator[tuple[str | None, str]]:
        """Language and text of every label of a subject."""
        quad = quads_of([(subject, LABEL_PREDICATE, LABEL_PREDICATE)])[0]
        for found in self.store.quads_for_pattern(quad.subject, quad.predicate, None, self.rdf.DefaultGraph()):
            if isinstance(found.object, self.rdf.Literal):
                yield found.object.language, found.object.value

    def bulk_load(self, path: Path) -> None:
        """Take in an N-Triples file that is known to be valid: all of it or nothing."""
        self.store.bulk_load(path=str(path), format=self.rdf.RdfFormat.N_TRIPLES, lenient=True)

    def dump(self, target: Path | BinaryIO, rdf_format: Any, graph: Any = None) -> None:
        """Write one graph, the default one if none is named, in an RDF format."""
        output = target if hasattr(target, "write") else str(target)
        self.store.dump(output, rdf_format, from_graph=graph or self.rdf.DefaultGraph())

    def flush(self) -> None:
        """Make everything survive the death of the machine."""
        self.store.flush()


def _text(statements: Sequence[Statement]) -> str:
    return " .\n".join(" ".join(statement) for statement in statements)
