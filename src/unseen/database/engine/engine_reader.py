"""The process that answers exact queries from a checkpoint and the changes since, one at a time.

It also parses what clients send.

It may die of what it is asked: that costs the one request, and the server starts another. Results go into memory while
they are small, and into a file that the server has named when they are not.
"""

from __future__ import annotations

import os
import resource
import shutil
from typing import TYPE_CHECKING, Any

import pyoxigraph

from unseen.database.checked_update import checked_update, graph_name, syntax_error
from unseen.database.documents import statements_in
from unseen.database.engine.child import limit_memory, unlimited_memory
from unseen.database.engine.operations import dump, lines_of, user_graphs
from unseen.database.engine.own_copy import apply, opened_copy
from unseen.database.engine.wire_errors import ResultTooLarge, UnknownGraph, packed
from unseen.database.guard import check_query
from unseen.errors import DatabaseError, QueryRefused, UnseenError, shorten

if TYPE_CHECKING:
    from unseen.database.engine.frames import Channel, Header

MOST_IN_MEMORY = 1 << 16
"""Bytes of a result that are sent as they are; more go into a file."""
RETIRED_AT = 96 << 10
"""Kilobytes of memory beyond those of the start with which a reader ends after its answer."""


class Behind(Exception):
    """The store lacks a change that it should show: it must not be read."""


class Output:
    """Where a result is written: bytes while they are few, then a file, and an error where they are too many."""

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most = path, most
        self._pieces: list[bytes] = []
        self._file: Any = None
        self.size = 0
        self.error: UnseenError | None = None

    def write(self, data: bytes) -> int:
        """Take in more bytes."""
        self.size += len(data)
        if self.size > self._most:
            self.error = ResultTooLarge(self._most)
            raise OSError("stopped")
        if self._file is None and self.size > MOST_IN_MEMORY:
            self._file = open(self._path, "xb", opener=_private)  # noqa: SIM115 - closed below
            self._file.writelines(self._pieces)
            self._pieces = []
        if self._file is None:
            self._pieces.append(bytes(data))
        else:
            self._file.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back that anyone waits for."""

    def finish(self) -> tuple[Header, bytes]:
        """What to tell about the result, and the result if it is small."""
        if self._file is None:
            return {"size": self.size}, b"".join(self._pieces)
        self._file.close()
        return {"size": self.size, "file": self._path}, b""


class Reader:
    """A store that is read, and the prefixes that texts need not declare."""

    def __init__(self, memory: int, copy: str) -> None:
        self._memory, self._copy = memory, copy
        self._checkpoint = ""
        self._store: Any = None
        self._is_own = False
        """Whether the store is a copy that nobody else reads."""
        self._is_behind = False
        """Whether a change could not be applied."""
        self._prefixes: dict[str, str] = {}
        self._lost: OSError | None = None
        limit_memory(memory)

    def open(self, header: Header, _: bytes) -> None:
        """Read from another checkpoint from now on."""
        if "prefixes" in header:
            self._prefixes = header["prefixes"]
        if "path" in header:
            limit_memory(None)
            self._checkpoint, self._store, self._lost, self._is_behind = header["path"], None, None, False
            if self._is_own:
                shutil.rmtree(self._copy, ignore_errors=True)
                self._is_own = False
            try:
                self._store = pyoxigraph.Store.read_only(self._checkpoint)
            except OSError as error:
                self._lost = error
            limit_memory(self._memory)

    def apply(self, header: Header, body: bytes) -> None:
        """Bring what is read up to date; if that fails, nothing is answered from it any more."""
        if self._is_behind:
            return
        is_first = not self._is_own
        try:
            with unlimited_memory():
                if is_first:
                    self._store, self._is_own = None, True
                    self._store = opened_copy(self._checkpoint, self._copy)
                apply(self._store, body[: header["gone"]], body[header["gone"] :])
        except Exception:  # noqa: BLE001 - a full disk, a missing file: another checkpoint is needed
            self._store, self._is_behind = None, True
        if is_first:
            limit_memory(self._memory)

    def query(self, header: Header, body: bytes) -> tuple[Header, bytes]:
        """Answer a query in the media type for its kind of results."""
        text = body.decode()
        found = self._found(text, header)
        are_triples = isinstance(found, pyoxigraph.QueryTriples)
        media_type, name = header["triples" if are_triples else "solutions"]
        if name is None:
            return {"unacceptable": are_triples}, b""
        formats: Any = pyoxigraph.RdfFormat if are_triples else pyoxigraph.QueryResultsFormat
        output = Output(header["spool"], header["most"])
        try:
            found.serialize(output, getattr(formats, name))
        except OSError as error:
            if output.error is not None:
                raise output.error from None
            raise DatabaseError(f"the query failed while its results were written: {_short(error)}") from None
        except (ValueError, RuntimeError) as error:
            raise QueryRefused(_short(error)) from None
        told, result = output.finish()
        return {"type": media_type, **told}, result

    def _found(self, text: str, header: Header) -> Any:
        words = check_query(text)
        options: dict[str, Any] = {}
        if header["default"] or header["named"]:
            options["default_graph"] = [graph_name(iri) for iri in header["default"]]
            options["named_graphs"] = [graph_name(iri) for iri in header["named"]]
        elif "GRAPH" in words and "FROM" not in words:
            options["named_graphs"] = user_graphs(self.store)
        try:
            return self.store.query(text, prefixes=self._prefixes, **options)
        except SyntaxError as error:
            raise syntax_error(error, text) from None
        except (ValueError, RuntimeError) as error:
            raise QueryRefused(_short(error)) from None
        except OSError as error:
            raise DatabaseError(f"the query failed: {_short(error)}") from error

    def update(self, header: Header, body: bytes) -> tuple[Header, bytes]:
        """The update that the writer runs."""
        using, using_named = header["using"], header["using_named"]
        found = checked_update(body.decode(), self._prefixes, using=using, using_named=using_named, is_rehearsed=True)
        return {"names_graphs": found.names_graphs}, found.text.encode()

    def document(self, header: Header, body: bytes) -> tuple[Header, bytes]:
        """A document as N-Triples."""
        output = Output(header["spool"], header["most"])
        count = 0
        try:
            for statement in statements_in(body, header["type"]):
                output.write(lines_of([statement]))
                count += 1
        except OSError as error:
            raise output.error or DatabaseError(f"the document could not be read: {_short(error)}") from None
        told, result = output.finish()
        return {"count": count, **told}, result

    def graph(self, header: Header, _: bytes) -> tuple[Header, bytes]:
        """All statements of a graph."""
        graph = header["graph"]
        if graph is not None and graph_name(graph) not in user_graphs(self.store):
            raise UnknownGraph(graph)
        output = Output(header["spool"], header["most"])
        try:
            dump(self.store, output, header["type"], graph)
        except OSError as error:
            raise output.error or DatabaseError(f"the graph could not be written: {_short(error)}") from None
        told, result = output.finish()
        return {"type": header["type"], **told}, result

    @property
    def store(self) -> Any:
        """The checkpoint, if it could be opened and has every change."""
        if self._is_behind:
            raise Behind
        if self._store is None:
            raise DatabaseError(f"the checkpoint could not be opened: {self._lost}")
        return self._store


def read(channel: Channel, settings: dict[str, Any]) -> None:
    """Do what is asked until the connection ends, or until much memory is held."""
    reader = Reader(settings["memory"], settings["copy"])
    channel.send({"ready": os.getpid()})
    enough = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + RETIRED_AT
    while True:
        header, body = channel.receive()
        kind = header["do"]
        if kind in ("open", "apply"):
            getattr(reader, kind)(header, body)
            channel.send({"confirmed": kind})
            continue
        try:
            told, result = getattr(reader, kind)(header, body)
        except Behind:
            told, result = {"behind": True}, b""
        except MemoryError:
            told, result = {"error": {"kind": "MemoryError", "problem": ""}}, b""
        except Exception as error:  # noqa: BLE001 - whoever asked has to hear of it
            told, result = {"error": packed(error)}, b""
        retires = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > enough
        channel.send({**told, "retires": True} if retires else told, result)
        if retires:
            return


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _short(error: BaseException) -> str:
    return shorten(str(error), 200)
