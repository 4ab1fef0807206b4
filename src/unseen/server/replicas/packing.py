"""What travels between the server and a replica; both ends are this program, on a connection that only they have.

A graph does not travel: what refers to it refers, at the other end, to the copy there. Only values, and what
belongs to this program, numpy and pyarrow, is unpacked.
"""

from __future__ import annotations

import io
import pickle
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError
from unseen.graph import KnowledgeGraph

if TYPE_CHECKING:
    from unseen.server.model_work import Request


ROOMS = ("unseen", "numpy", "pyarrow")
"""Packages whose parts travel."""
VALUES = {
    "builtins": {"bytearray", "complex", "frozenset", "object", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "copyreg": {"_reconstructor"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "types": {"MappingProxyType"},
}
"""Classes of Python that travel, by module; errors do so too."""


@dataclass(frozen=True)
class ReplicaCall:
    """Requests that are answered by one call of the model."""

    requests: tuple[Request, ...]
    place: int
    """The state of the graph, or a later one, that their answers must have seen."""
    seconds: float
    """How long searches may take."""


@dataclass(frozen=True)
class Base:
    """A graph on disk, from which a replica starts."""

    path: str
    place: int
    is_sourced: bool
    source: str | None
    """Where the graph came from, which says where its rules are kept; see `rules.origins`."""


@dataclass(frozen=True)
class Failure:
    """An error on its way: not all errors can be made again from what they say."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    attributes: dict[str, Any]

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """An error; an unexpected one becomes the text of its trace."""
        if isinstance(error, UnseenError):
            return cls(type(error), error.args, dict(vars(error)))
        return cls(RuntimeError, ("".join(traceback.format_exception(error)),), {})

    def error(self) -> Exception:
        """The error again."""
        made: Exception = self.kind.__new__(self.kind)
        made.args = self.arguments
        vars(made).update(self.attributes)
        return made


class _Packer(pickle.Pickler):
    def persistent_id(self, part: Any) -> str | None:
        """A name in place of a graph."""
        return "graph" if isinstance(part, KnowledgeGraph) else None


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, graph: KnowledgeGraph | None) -> None:
        super().__init__(io.BytesIO(data))
        self._graph = graph

    def find_class(self, module: str, name: str) -> Any:
        """A class that may travel."""
        is_value = module.partition(".")[0] in ROOMS or name in VALUES.get(module, ())
        found = super().find_class(module, name) if is_value or module == "builtins" else None
        if is_value or (isinstance(found, type) and issubclass(found, Exception)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} does not travel between a server and its replicas")

    def persistent_load(self, _name: Any) -> Any:
        """The graph of this end."""
        return self._graph


def packed(content: Any) -> bytes:
    """Anything as bytes, except for graphs."""
    stream = io.BytesIO()
    _Packer(stream, pickle.HIGHEST_PROTOCOL).dump(content)
    return stream.getvalue()


def unpacked(data: bytes, graph: KnowledgeGraph | None = None) -> Any:
    """What `packed` was given, with this graph in place of the other end's."""
    return _Unpacker(data, graph).load()
