"""RDF/XML that would hold or kill a parser: elements nested too deep, entities that make much out of little.

expat reads the document first. Where expat and pyoxigraph read a document type declaration by different rules (which of
two declarations of an entity counts, where a comment ends), only the plain form that both read alike passes: names for
namespaces, as OWL files have them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from unseen.errors import GraphError, shorten

if TYPE_CHECKING:
    from typing import BinaryIO

DEEPEST_ELEMENT = 500
LONGEST_PROLOG = 1 << 18
LONGEST_ENTITY = 500
LARGEST_EXPANSION = 10
"""How many times its own size a document may grow by its entities; names of namespaces make it two or three times."""

FREE_EXPANSION = 1 << 22
"""Bytes that any document may grow to, however small it is."""

_CHUNK_BYTES = 1 << 18
_COMMENT = rb"<!--(?:[^-<>\"'\[\]&%]|-(?!-))*+-->"
_QUOTED = rb"(?:\"[^\"<>&%']*+\"|'[^'<>&%\"]*+')"
_ENTITY = rb"<!ENTITY\s++([\w.-]++)\s++(" + _QUOTED + rb")\s*+>"
_PLAIN_DECLARATION = re.compile(
    rb"<!DOCTYPE\s++[\w:.-]++(?:\s++(?:SYSTEM|PUBLIC\s++" + _QUOTED + rb")\s++" + _QUOTED + rb")?\s*+"
    rb"(?:\[(?:\s++|" + _COMMENT + rb"|" + _ENTITY + rb")*+\]\s*+)?>"
)
_BEFORE_DECLARATION = re.compile(rb"(?:\s++|<\?(?:[^?]|\?(?!>))*+\?>|<!--(?:[^-]|-(?!-))*+-->|\xef\xbb\xbf)*+")
_SET_OF_ENTITY = re.compile(_ENTITY)


class MalformedXml(GraphError):
    """A document that is not well-formed XML; `line` is the place."""

    def __init__(self, problem: str, line: int) -> None:
        self.line = line
        super().__init__(f"not well-formed XML: {problem}")


class _Grows(GraphError):
    def __init__(self) -> None:
        super().__init__(
            f"its entities could make it more than {LARGEST_EXPANSION} times as large; write out what they stand for"
        )


def check_xml(stream: BinaryIO) -> None:
    """Refuse a document that is not well-formed, too deep, or grows too much."""
    reading = _Reading()
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            reading.feed(chunk)
        reading.finish()
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise _Grows if "amplification" in problem else MalformedXml(problem, error.lineno) from None


class _Reading:
    """One pass over a document."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._declared
        self._depth = self._size = self._references = 0
        self._prolog: bytearray | None = bytearray()
        self._has_declaration = False
        self._longest = 0

    def feed(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self._references += chunk.count(b"&")
        if self._prolog is not None:
            self._prolog += chunk
        self._parser.Parse(chunk, False)
        if self._prolog is not None and len(self._prolog) > LONGEST_PROLOG:
            raise GraphError(f"has no element among its first {LONGEST_PROLOG:,} bytes")
        if self._references * self._longest > FREE_EXPANSION + LARGEST_EXPANSION * self._size:
            raise _Grows

    def finish(self) -> None:
        self._parser.Parse(b"", True)

    def _declared(self, *_declaration: object) -> None:
        self._has_declaration = True

    def _start(self, _name: str, _attributes: object) -> None:
        if self._prolog is not None:
            self._read_prolog(bytes(self._prolog[: self._parser.CurrentByteIndex]))
            self._prolog = None
        self._depth += 1
        if self._depth > DEEPEST_ELEMENT:
            raise GraphError(f"its elements are nested more than {DEEPEST_ELEMENT:,} levels deep")

    def _end(self, _name: str) -> None:
        self._depth -= 1

    def _read_prolog(self, prolog: bytes) -> None:
        """Note the longest entity; refuse a declaration that is more than names for short texts."""
        if self._has_declaration:
            self._longest = max(map(len, _entities(prolog).values()), default=0)


def _entities(prolog: bytes) -> dict[bytes, bytes]:
    """The entities by name of the plain declaration that stands before a document."""
    before = _BEFORE_DECLARATION.match(prolog)
    found = _PLAIN_DECLARATION.match(prolog, before.end() if before else 0)
    if found is None:
        raise GraphError(
            "its document type (<!DOCTYPE ...>) is more than a list of entities, each a name for a plain text, "
            "such as a namespace; take the rest out"
        )
    pairs = _SET_OF_ENTITY.findall(found.group())
    entities = dict(pairs)
    if len(entities) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise GraphError(f"its entity {shorten(twice.decode())!r} is declared twice; keep one declaration")
    for name, text in entities.items():
        if len(text) > LONGEST_ENTITY:
            raise GraphError(f"its entity {shorten(name.decode())!r} is longer than {LONGEST_ENTITY} bytes")
    return entities
