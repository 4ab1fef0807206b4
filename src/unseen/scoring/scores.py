"""How likely statements are, with names: one `Score`, or a table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from unseen.displays import bar, block, heading, note, table
from unseen.reasons.drawing import drawn

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from unseen.reasons.drawing import Picture
    from unseen.reasons.reason import Edge, Reason

TRIPLE = ("head", "relation", "tail")


@dataclass(frozen=True)
class Score:
    """How likely one statement is."""

    statement: str
    probability: float | None
    """None where it could not be found out; `error` says why."""
    known: bool = False
    """Whether the graph itself says so."""
    method: str = ""
    warnings: tuple[str, ...] = ()
    """Warnings about the prediction, such as relations that cannot be predicted."""
    bindings: dict[str, str] = field(default_factory=dict)
    """With `explain`: the values of variables, in a proof (known) or the likeliest ones (predicted)."""
    edges: tuple[Edge, ...] = ()
    """With `explain`: the edges that prove what is known."""
    reasons: tuple[Reason, ...] = ()
    """With `explain`: why it is believed, the best reason first."""
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The score as plain data, the form of `unseen score --json`."""
        probability = None if self.probability is None else round(self.probability, 6)
        plain: dict[str, Any] = {"statement": self.statement, "probability": probability, "known": self.known}
        plain |= {"method": self.method} if self.method else {}
        plain |= {"bindings": self.bindings} if self.bindings else {}
        plain |= {"edges": [list(edge) for edge in self.edges]} if self.edges else {}
        plain |= {"reasons": [reason.as_json() for reason in self.reasons]} if self.reasons else {}
        plain |= {"warnings": list(self.warnings)} if self.warnings else {}
        return plain | ({"error": self.error} if self.error else {})

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Score:
        """The score of `as_json`; what lacks a part of it raises LookupError, TypeError or ValueError."""
        from unseen.reasons.reason import Reason

        edges = tuple((head, relation, tail) for head, relation, tail in plain.get("edges") or ())
        reasons = tuple(Reason.from_json(one) for one in plain.get("reasons") or ())
        probability = None if plain["probability"] is None else float(plain["probability"])
        warnings, bindings = tuple(plain.get("warnings") or ()), dict(plain.get("bindings") or {})
        about = plain.get("method") or "", warnings, bindings, edges, reasons, plain.get("error")
        return cls(str(plain["statement"]), probability, bool(plain["known"]), *about)

    def draw(self) -> Picture:
        """The explanation as a picture, as for an answer; it needs `score(..., explain=True)`."""
        return drawn(self.statement, self.bindings, self.edges, self.reasons, {})

    def _repr_html_(self) -> str:
        status = self.error or ("known" if self.known else "predicted")
        row = (status, bar(self.probability, is_known=self.known))
        parts = [table(("", "probability"), [row]), *(note(str(reason)) for reason in self.reasons)]
        return block(heading(self.statement), *parts, *map(note, self.warnings))


@dataclass(frozen=True)
class Scores(Sequence[Score]):
    """The scores of many statements, in their order.

    The columns of `to_arrow` are those of what was scored (head, relation and tail, or statement), then `probability`,
    `known`, and `error` for what has no probability.
    """

    columns: pa.Table
    method: str
    warnings: tuple[str, ...] = ()
    details: Mapping[int, Score] = field(default_factory=dict)
    """By place what was explained."""

    @classmethod
    def of(cls, scores: Sequence[Score], method: str, warnings: Sequence[str] = ()) -> Scores:
        """Scores that were found one by one."""
        import pyarrow as pa

        columns = {
            "statement": pa.array([one.statement for one in scores], pa.large_string()),
            "probability": pa.array([one.probability for one in scores], pa.float64()),
            "known": pa.array([one.known for one in scores], pa.bool_()),
            "error": pa.array([one.error for one in scores], pa.large_string()),
        }
        said = tuple(dict.fromkeys([*warnings, *(text for one in scores for text in one.warnings)]))
        return cls(pa.table(columns), method, said, dict(enumerate(scores)))

    @overload
    def __getitem__(self, index: int) -> Score: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Score, ...]: ...
    def __getitem__(self, index: int | slice) -> Score | tuple[Score, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        return self.details.get(place) or self._score(place)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def _score(self, place: int) -> Score:
        row = self.columns.slice(place, 1).to_pylist()[0]
        text = row["statement"] if "statement" in row else shown_triple(*(row[name] for name in TRIPLE))
        return Score(text, row["probability"], bool(row["known"]), self.method, error=row["error"])

    def as_json(self) -> dict[str, Any]:
        """The scores as plain data."""
        plain: dict[str, Any] = {"method": self.method, "scores": [_without_method(score) for score in self]}
        return plain | ({"warnings": list(self.warnings)} if self.warnings else {})

    def to_arrow(self) -> pa.Table:
        """The scores as an Arrow table."""
        return self.columns

    def to_pandas(self) -> pd.DataFrame:
        """The scores as a pandas data frame."""
        from unseen.graph.conversions import pandas_of

        return pandas_of(self.columns)

    def _repr_html_(self) -> str:
        rows = [
            (
                one.statement,
                one.error or ("known" if one.known else "predicted"),
                bar(one.probability, is_known=one.known),
            )
            for one in self[:101]
        ]
        more = [note(f"{len(self):,} statements")] if len(self) > len(rows) else []
        return block(table(("statement", "", "probability"), rows), *more, *map(note, self.warnings))


def shown_triple(head: str, relation: str, tail: str) -> str:
    """A triple as a statement."""
    from unseen.logic.text_writer import quoted

    return f"{quoted(relation)}({quoted(head)}, {quoted(tail)})"


def _without_method(score: Score) -> dict[str, Any]:
    plain = score.as_json()
    plain.pop("method", None)
    return plain
