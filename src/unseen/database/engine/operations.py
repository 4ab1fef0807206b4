"""What this project asks of a pyoxigraph store, with statements as N-Triples: pyoxigraph and nothing else is imported.

Every method that writes is one transaction or, for statements with blank nodes, can be repeated without harm. A write
survives the death of the process at once, and that of the machine after `flush`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.reserved import ANYTHING, TOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LABEL = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
MOST_TOUCHED = 200_000
"""Statements in a trace; of an update that touches more it is said that anything may have changed."""
PATIENCE = 10.0
"""Seconds to wait for a store that another process has open."""
_TOUCHED_GRAPH = pyoxigraph.NamedNode(TOUCHED)


class Operations:
    """An open store."""

    def __init__(self, path: str) -> None:
        self.store = _opened(path)

    def has(self, statements: bytes) -> list[bool]:
        """Whether each line of N-Triples is there."""
        return [quad in self.store for quad in quads_of(statements)]

    def add(self, statements: bytes) -> None:
        """Make lines of N-Triples be there."""
        self.store.extend(quads_of(statements))

    def remove(self, statements: bytes) -> None:
        """Make lines of N-Triples be gone: in one transaction, unless they have blank nodes or odd IRIs."""
        quads = quads_of(statements)
        if not any(_has_blank_node(quad) for quad in quads):
            try:
                self.store.update(f"DELETE DATA {{ {statements.decode()} }}")
            except SyntaxError:
                pass
            else:
                return
        for quad in quads:
            self.store.remove(quad)

    def update(self, text: str, prefixes: dict[str, str]) -> None:
        """Run an update in one transaction."""
        self.store.update(text, prefixes=prefixes)

    def touched(self) -> tuple[list[tuple[str, str, str]], list[bool]] | None:
        """What the last updates have touched, and which of it is there; None if that may be anything."""
        quads: list[Any] = []
        for quad in self.store.quads_for_pattern(None, None, None, _TOUCHED_GRAPH):
            if quad.subject == pyoxigraph.NamedNode(ANYTHING) or len(quads) >= MOST_TOUCHED:
                return None
            quads.append(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
        return [statement_of(quad) for quad in quads], [quad in self.store for quad in quads]

    def forget_touched(self) -> None:
        """Clear the trace of updates."""
        self.store.remove_graph(_TOUCHED_GRAPH)

    def graph_names(self) -> list[str]:
        """The IRIs and blank nodes of the named graphs that belong to the user, as N-Triples writes them."""
        return [str(name) for name in user_graphs(self.store)]

    def count(self, pattern: str) -> int:
        """How many solutions a pattern of ours has."""
        solutions: Any = self.store.query(f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}")
        return int(next(solutions)["n"].value)

    def labels_of(self, subject: str) -> list[tuple[str | None, str]]:
        """Language and text of every label of a subject, which is written as in N-Triples."""
        (quad,) = quads_of(f"{subject} {LABEL} {LABEL} .\n".encode())
        found = self.store.quads_for_pattern(quad.subject, LABEL, None, pyoxigraph.DefaultGraph())
        objects = [quad.object for quad in found]
        return [(term.language, term.value) for term in objects if isinstance(term, pyoxigraph.Literal)]

    def bulk_load(self, path: str) -> None:
        """Take in an N-Triples file that is known to be valid: all of it or nothing."""
        self.store.bulk_load(path=path, format=pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)

    def dump(self, output: Any, media_type: str, graph: str | None, *, everything: bool = False) -> None:
        """Write one graph (the default one if none is named), or everything, to a path or stream."""
        dump(self.store, output, media_type, graph, everything=everything)

    def size(self) -> int:
        """How many statements there are in all graphs."""
        return len(self.store)

    def backup(self, path: str) -> None:
        """Write a checkpoint of what is committed into a new folder; files that do not change are hard links."""
        self.store.backup(path)

    def flush(self) -> None:
        """Make everything survive the death of the machine."""
        self.store.flush()


def _opened(path: str) -> Any:
    """The store; the process of a server that was killed a moment ago is given time to end."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return pyoxigraph.Store(path)
        except OSError as error:
            if "lock" not in str(error).lower() or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def carried_out(operations: Operations, header: dict[str, Any], body: bytes) -> tuple[Any, bytes]:
    """The result of one operation; bytes are statements, or the text of an update."""
    kind = header["do"]
    match kind:
        case "has":
            return None, bytes(operations.has(body))
        case "add" | "remove":
            getattr(operations, kind)(body)
            return None, b""
        case "update":
            operations.update(body.decode(), header["prefixes"])
            return None, b""
    return getattr(operations, kind)(*header.get("with", ()), **header.get("named", {})), b""


def user_graphs(store: Any) -> list[Any]:
    """The named graphs that belong to the user."""
    return [name for name in store.named_graphs() if name != _TOUCHED_GRAPH]


def dump(store: Any, output: Any, media_type: str, graph: str | None, *, everything: bool = False) -> None:
    """Write one graph of a store, or all of them."""
    rdf_format = pyoxigraph.RdfFormat.from_media_type(media_type)
    if everything:
        store.dump(output, rdf_format)
    else:
        name = pyoxigraph.DefaultGraph() if graph is None else pyoxigraph.NamedNode(graph)
        store.dump(output, rdf_format, from_graph=name)


def lines_of(statements: Iterable[Sequence[str]]) -> bytes:
    """Statements as lines of N-Triples."""
    return "".join(f"{' '.join(statement)} .\n" for statement in statements).encode()


def quads_of(lines: bytes) -> list[Any]:
    """The quads of lines of N-Triples, in the default graph; labels of blank nodes stay."""
    return list(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True))


def statement_of(quad: Any) -> tuple[str, str, str]:
    """Subject, predicate and object of a quad as N-Triples writes them."""
    return term_text(quad.subject), str(quad.predicate), term_text(quad.object)


def term_text(term: Any) -> str:
    """A term as N-Triples writes it; pyoxigraph leaves out the marks around a statement about a statement."""
    if not isinstance(term, pyoxigraph.Triple):
        return str(term)
    return f"<<( {term_text(term.subject)} {term.predicate} {term_text(term.object)} )>>"


def _has_blank_node(quad: Any) -> bool:
    return isinstance(quad.subject, pyoxigraph.BlankNode) or isinstance(quad.object, pyoxigraph.BlankNode)
