"""What this project asks of a pyoxigraph store, with statements as N-Triples: pyoxigraph and nothing else is imported.

Every method that writes is one transaction or can be repeated without harm. A write survives the death of the process
at once, and that of the machine after `flush`.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.engine.manifest import check_manifest
from unseen.database.engine.quad_stream import QuadStream
from unseen.database.reserved import ANYTHING, CHANGE, LOADED, NUMBER, OWN_GRAPHS, STATE, TOUCHED
from unseen.database.write_numbers import only_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LABEL = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
MOST_TOUCHED = 200_000
"""Statements in a trace; of an update that touches more it is said that anything may have changed."""
PATIENCE = 10.0
"""Seconds to wait for a store that another process has open."""
PAUSES_OF_BACKUP = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
"""Seconds after which a copy is tried again that was made while the log grew."""
GROWING = "File smaller than expected"
"""What the engine says of a file that is shorter than its notes tell."""
_TOUCHED_GRAPH, _STATE_GRAPH = pyoxigraph.NamedNode(TOUCHED), pyoxigraph.NamedNode(STATE)
_CHANGE, _ANYTHING = pyoxigraph.NamedNode(CHANGE), pyoxigraph.NamedNode(ANYTHING)


class Operations:
    """An open store."""

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self.store = pyoxigraph.Store.read_only(path) if read_only else _opened(path)

    def close(self) -> None:
        """Let go of the store, even if an error that is being handled still knows this object."""
        del self.store

    def has(self, statements: bytes) -> list[bool]:
        """Whether each line of N-Triples is there."""
        return [quad in self.store for quad in quads_of(statements)]

    def add(self, statements: bytes, number: int) -> None:
        """Make lines of N-Triples be there, and the number of the change that this completes, in one transaction."""
        self.store.extend([*quads_of(statements), _mark(number)])

    def holds(self, number: int) -> bool:
        """Whether the store names the number of a change."""
        return _mark(number) in self.store

    def marks(self) -> tuple[int | None, int]:
        """The number of the last change that the store holds, if it has one, and that of the last bulk load."""
        found: dict[str, int] = {}
        quads: Any = self.store.quads_for_pattern(_CHANGE, None, None, _STATE_GRAPH)
        for quad in quads:
            found[quad.predicate.value] = max(found.get(quad.predicate.value, 0), int(quad.object.value))
        return found.get(NUMBER), found.get(LOADED, 0)

    def forget_numbers_before(self, number: int) -> None:
        """Keep the number of the last change only."""
        self.store.update(only_number(number))

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

    def touched(self) -> tuple[int | None, list[tuple[str, str, str]] | None, list[bool]] | None:
        """The number of the last update, what it has touched (None if that may be anything), and which of it is there.

        None if there is no trace.
        """
        number: int | None = None
        quads: list[Any] = []
        is_anything = False
        found: Any = self.store.quads_for_pattern(None, None, None, _TOUCHED_GRAPH)
        for quad in found:
            if quad.subject == _CHANGE:
                number = max(number or 0, int(quad.object.value))
            elif quad.subject == _ANYTHING or len(quads) >= MOST_TOUCHED:
                is_anything = True
            else:
                quads.append(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
        if is_anything:
            return number, None, []
        if number is None and not quads:
            return None
        return number, [statement_of(quad) for quad in quads], [quad in self.store for quad in quads]

    def forget_touched(self) -> None:
        """Clear the trace of updates."""
        self.store.remove_graph(_TOUCHED_GRAPH)

    def graph_names(self) -> list[str]:
        """The IRIs and blank nodes of the named graphs that belong to the user, as N-Triples writes them."""
        return [str(name) for name in user_graphs(self.store)]

    def count(self, pattern: str) -> int:
        """How many solutions a pattern of ours has."""
        len(self.store)  # an error if a block is damaged, where the engine's COUNT never ends
        solutions: Any = self.store.query(f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}")
        return int(next(solutions)["n"].value)

    def labels_of(self, subjects: list[str]) -> dict[str, list[tuple[str | None, str]]]:
        """Language and text of every label of each subject that has any; subjects are written as in N-Triples."""
        names = [subject for subject in subjects if subject.startswith(("<", "_:")) and not subject.startswith("<<")]
        quads = quads_of("".join(f"{name} {LABEL} {LABEL} .\n" for name in names).encode())
        found = {}
        for name, quad in zip(names, quads, strict=True):
            labels = self.store.quads_for_pattern(quad.subject, LABEL, None, pyoxigraph.DefaultGraph())
            terms = [label.object for label in labels]
            texts = [(term.language, term.value) for term in terms if isinstance(term, pyoxigraph.Literal)]
            if texts:
                found[name] = texts
        return found

    def has_labels(self) -> bool:
        """Whether any subject has a label."""
        return any(True for _ in self.store.quads_for_pattern(None, LABEL, None, pyoxigraph.DefaultGraph()))

    def bulk_load(self, path: str) -> None:
        """Take in an N-Quads file that is known to be valid: all of it or nothing."""
        self.store.bulk_load(path=path, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)

    def load_into(self, path: str, graph: str | None, last: str) -> None:
        """Take in a file of N-Triples as statements of a graph, and last lines of N-Quads: all of it or nothing."""
        with open(path, "rb") as file:  # noqa: PTH123 - a process that imports little
            quads: Any = QuadStream(file, "" if graph is None else f"<{graph}> ", last)
            self.store.bulk_load(quads, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)

    def update_with(self, path: str, before: str, after: str) -> None:
        """Run an update in one transaction whose text stands around the lines of a file."""
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
            text = f"{before}{file.read()}{after}"
        self.store.update(text)

    def is_empty(self, graph: str | None) -> bool:
        """Whether a graph has no statement."""
        return not any(True for _ in self.store.quads_for_pattern(None, None, None, _graph_name(graph)))

    def dump(self, output: Any, media_type: str, graph: str | None, *, everything: bool = False) -> None:
        """Write one graph (the default one if none is named), or everything, to a path or stream."""
        dump(self.store, output, media_type, graph, everything=everything)

    def size(self) -> int:
        """How many statements there are in all graphs of the user."""
        own = (_TOUCHED_GRAPH, _STATE_GRAPH)
        return len(self.store) - sum(1 for graph in own for _ in self.store.quads_for_pattern(None, None, None, graph))

    def backup(self, path: str) -> None:
        """Write a checkpoint of what is committed into a new folder; files that do not change are hard links.

        Where another thread writes, the engine may expect more of its log than is written yet; then it tries again.
        """
        for pause in PAUSES_OF_BACKUP:
            try:
                self.store.backup(path)
            except (OSError, RuntimeError) as error:
                if GROWING not in str(error):
                    raise
                shutil.rmtree(path, ignore_errors=True)
                time.sleep(pause)
            else:
                return
        self.store.backup(path)

    def flush(self) -> None:
        """Make everything survive the death of the machine."""
        self.store.flush()


def _mark(number: int) -> Any:
    """The statement that a change of this number was carried out."""
    return pyoxigraph.Quad(_CHANGE, pyoxigraph.NamedNode(NUMBER), pyoxigraph.Literal(number), _STATE_GRAPH)


def _opened(path: str) -> Any:
    """The store; the process of a server that was killed a moment ago is given time to end."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            check_manifest(path)
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
        case "add":
            operations.add(body, header["number"])
            return None, b""
        case "remove":
            operations.remove(body)
            return None, b""
        case "update":
            operations.update(body.decode(), header["prefixes"])
            return None, b""
    return getattr(operations, kind)(*header.get("with", ()), **header.get("named", {})), b""


def user_graphs(store: Any) -> list[Any]:
    """The named graphs that belong to the user."""
    return [name for name in store.named_graphs() if name.value not in OWN_GRAPHS]


def dump(store: Any, output: Any, media_type: str, graph: str | None, *, everything: bool = False) -> None:
    """Write one graph of a store, or all of them."""
    rdf_format = pyoxigraph.RdfFormat.from_media_type(media_type)
    if everything:
        own = (_TOUCHED_GRAPH, _STATE_GRAPH)
        pyoxigraph.serialize((quad for quad in store if quad.graph_name not in own), output, rdf_format)
    else:
        store.dump(output, rdf_format, from_graph=_graph_name(graph))


def _graph_name(graph: str | None) -> Any:
    return pyoxigraph.DefaultGraph() if graph is None else pyoxigraph.NamedNode(graph)


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
