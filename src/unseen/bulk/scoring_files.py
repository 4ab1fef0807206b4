"""A file of triples, scored into a table.

The file is read twice. The first time its names become ids, so that all triples with the same head and relation are
scored by one step of the method, wherever they stand. The second time each triple is written with its probability.
Memory: 17 bytes a triple, and the distinct names.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.bulk.score_parts import ScoreParts
from unseen.errors import UnseenError
from unseen.graph.files.triple_batches import triple_batches
from unseen.logic.stopping import check_stop
from unseen.scoring.scores import TRIPLE
from unseen.scoring.triple_scores import (
    NumberedTriples,
    Steps,
    TripleNames,
    known_triples,
    result_columns,
    together,
    warnings_about,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.bulk.score_output import Write
    from unseen.client import Client
    from unseen.graph import KnowledgeGraph
    from unseen.logic.method import Method

    Progress = Callable[[int, int], None]

CALLS_OF_A_PART = 16
"""Calls of the method whose results are kept together."""
SENT_TOGETHER = 1000
"""Triples that are sent to a server at a time."""
COLUMNS = (*TRIPLE, "probability", "known", "error")
MOST_EXAMPLES = 3


@dataclass
class ScoredFile:
    """What became of a file."""

    triples: int = 0
    known: int = 0
    unknown_names: int = 0
    """Triples with a name that the graph does not have."""
    total: float = 0.0
    """The sum of all probabilities."""
    examples: list[str] = field(default_factory=list)
    """Some of the errors."""
    kept: int = 0
    """Triples whose probabilities an interrupted call had left."""
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        plain = {"triples": self.triples, "known": self.known, "unknown_names": self.unknown_names}
        return plain | {"expected_true": round(self.total, 3), "warnings": list(self.warnings)}

    def note(self, table: pa.Table) -> None:
        """Count the rows of a table that was written."""
        self.triples += table.num_rows
        self.known += sum(table["known"].to_pylist())
        self.total += sum(value for value in table["probability"].to_pylist() if value is not None)
        errors = [text for text in table["error"].to_pylist() if text is not None]
        self.unknown_names += len(errors)
        self.examples += errors[: max(0, MOST_EXAMPLES - len(self.examples))]


class GraphScorer:
    """Triples of files, scored on a graph in memory."""

    def __init__(self, graph: KnowledgeGraph, method: Method | None, name: str) -> None:
        self.graph, self.method, self.name = graph, method, name
        self._finished: ScoreParts | None = None

    def score(
        self, path: Path, write: Write, kept_at: Path | None, progress: Progress, *, restart: bool = False
    ) -> ScoredFile:
        """Score a file; what is computed is kept beside `kept_at`, if that is a file to be written."""
        result, triples = ScoredFile(), self._numbered(path)
        known = known_triples(self.graph, triples)
        values = known.astype(np.float32)
        parts = None
        if self.method is not None:
            parts = None if kept_at is None else ScoreParts(kept_at, self._identity(triples), restart=restart)
            values = self._predicted(self.method, triples, parts, result, progress)
        self._write(path, triples, values, known, write, result)
        result.warnings = warnings_about(self.graph, triples, known, (self.method, self.name))
        self._finished = parts
        return result

    def finish(self) -> None:
        """Remove what was kept, once the output is there."""
        if self._finished is not None:
            self._finished.remove()

    def _numbered(self, path: Path) -> NumberedTriples:
        """The triples of a file as ids."""
        names, found = TripleNames(self.graph), []
        for batch in triple_batches(path):
            check_stop()
            found.append(names.numbered(batch))
        if not found:
            raise UnseenError(f"{path}: holds no triples")
        columns = ([getattr(one, name) for one in found] for name in ("heads", "relations", "tails"))
        return NumberedTriples(*(np.concatenate(column) for column in columns))

    def _predicted(
        self,
        method: Method,
        triples: NumberedTriples,
        parts: ScoreParts | None,
        result: ScoredFile,
        progress: Progress,
    ) -> NDArray[np.float32]:
        """The probability of each triple, part by part."""
        steps, values = Steps(triples), np.zeros(len(triples), np.float32)
        size = CALLS_OF_A_PART * together(self.graph)
        for number, start in enumerate(range(0, len(steps), size)):
            rows = steps.rows(start, start + size)
            found = None if parts is None else parts.find(number, len(rows))
            result.kept += 0 if found is None else len(rows)
            if found is None:
                found = self._part(method, steps, start, min(start + size, len(steps)), progress)
                if parts is not None:
                    parts.write(number, found)
            values[rows] = found
            progress(min(start + size, len(steps)), len(steps))
        return values

    def _part(self, method: Method, steps: Steps, start: int, stop: int, progress: Progress) -> NDArray[np.float32]:
        found, size = [], together(self.graph)
        for low in range(start, stop, size):
            check_stop()
            found.append(steps.chances(self.graph, method, low, min(low + size, stop)))
            progress(min(low + size, stop), len(steps))
        return np.concatenate(found)

    def _write(
        self,
        path: Path,
        triples: NumberedTriples,
        values: NDArray[np.float32],
        known: NDArray[np.bool_],
        write: Write,
        result: ScoredFile,
    ) -> None:
        """Write the triples of a file, read again, with what was found."""
        start = 0
        for batch in triple_batches(path):
            check_stop()
            part = slice(start, start + batch.num_rows)
            if part.stop > len(triples):
                raise UnseenError(f"{path}: has changed while it was scored")
            some = NumberedTriples(triples.heads[part], triples.relations[part], triples.tails[part])
            more = result_columns(batch, some, values[part], known[part])
            table = pa.table([*batch.columns, *more], list(COLUMNS))
            write(table)
            result.note(table)
            start = part.stop

    def _identity(self, triples: NumberedTriples) -> dict[str, Any]:
        digest = hashlib.sha256()
        columns = (triples.heads, triples.relations, triples.tails)
        for column in (*columns, self.graph.heads, self.graph.relations, self.graph.tails):
            digest.update(column.tobytes())
        return {"triples and graph": digest.hexdigest(), "method": self.name}


class ServerScorer:
    """Triples of files, scored by a server, a thousand at a time."""

    def __init__(self, client: Client, *, exact: bool = False) -> None:
        self.client, self.exact = client, exact

    def score(
        self,
        path: Path,
        write: Write,
        kept_at: Path | None,  # noqa: ARG002 - the graph of a server changes: nothing is kept
        progress: Progress,
        *,
        restart: bool = False,  # noqa: ARG002
    ) -> ScoredFile:
        """Score a file."""
        result, warnings = ScoredFile(), dict[str, None]()
        for batch in triple_batches(path, progress):
            for start in range(0, batch.num_rows, SENT_TOGETHER):
                some = batch.slice(start, SENT_TOGETHER)
                rows: list[str | tuple[str, str, str]] = list(
                    zip(*(column.to_pylist() for column in some.columns), strict=True)
                )
                scores = self.client.score(rows, exact=self.exact)
                columns = (
                    pa.array([one.probability for one in scores], pa.float64()),
                    pa.array([one.known for one in scores], pa.bool_()),
                    pa.array([one.error for one in scores], pa.large_string()),
                )
                table = pa.table([*some.columns, *columns], list(COLUMNS))
                write(table)
                result.note(table)
                warnings |= dict.fromkeys(scores.warnings)
        result.warnings = tuple(warnings)
        return result

    def finish(self) -> None:
        """Nothing was kept."""
