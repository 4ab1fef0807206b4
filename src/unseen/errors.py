"""The errors that users see, as a tree of classes.

```
UnseenError                      any error that the user can fix: one line, exit code 2
├── GraphError                   a graph could not be read, built or written
│   ├── MalformedLine            one line of one file is not a triple
│   └── TooLarge                 more ids than int32 columns can hold
├── QueryError                   a question that cannot be answered as written
│   ├── QuerySyntaxError         it does not parse: position and caret
│   ├── QueryRefused             it parses but cannot be answered: reason and place
│   └── UnknownName              an entity or relation the graph does not have: closest names
│       └── AmbiguousName        a readable name that several IRIs share
├── EvaluationError              a method or a result that cannot be measured or reported
├── DatasetError                 a dataset folder, archive or download is damaged, foreign or dangerous
├── DatabaseError                a database could not be opened, read or written
│   ├── DatabaseInUse            another process has it open
│   ├── DatabaseDamaged          a file of it is missing or was changed: which one, and how to go on
│   ├── DiskFull                 there is no space to write
│   └── EngineLost               the engine's process ended while it was at work: time, memory, nesting, crash
├── TrainingError                a run that cannot start, go on or be opened
│   ├── ConfigError              a setting that does not exist or does not fit
│   ├── RunFolderError           a run folder that is missing, taken, damaged or of another method
│   └── Diverged                 the loss is no longer a number
├── Stopped                      work that was stopped before it was done
├── ServerError                  an error that a server answered
├── UnknownMethod                no method (or embedded graph) of that name
├── FactoryError                 `package.module:factory` makes no method: what is wrong with it
└── MissingExtra                 a feature whose optional packages are not installed
```

Each error has its data as attributes. Its text says what was wrong, where, and what to do about it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class UnseenError(Exception):
    """Base of all errors that a user can fix."""


class GraphError(UnseenError):
    """A graph could not be read, built or written."""

    def __init__(self, problem: str, *, path: str | Path | None = None) -> None:
        self.problem = problem
        self.path = None if path is None else Path(path)
        super().__init__(problem if path is None else f"{path}: {problem}")


class MalformedLine(GraphError):
    """One line of one file is not a triple."""

    def __init__(self, problem: str, *, path: str | Path, line: int, remedy: str = "") -> None:
        self.line = line
        super().__init__(f"line {line}: {problem}" + (f" ({remedy})" if remedy else ""), path=path)


class TooLarge(GraphError):
    """More ids than int32 columns can hold, or more memory than the machine has."""


class DatasetError(UnseenError):
    """A dataset folder, archive or download is damaged, foreign or dangerous."""

    def __init__(self, problem: str, *, path: str | Path) -> None:
        self.problem, self.path = problem, Path(path)
        super().__init__(f"{path}: {problem}")


class DatabaseError(UnseenError):
    """A database could not be opened, read or written."""

    def __init__(self, problem: str, *, path: str | Path | None = None) -> None:
        self.problem = problem
        self.path = None if path is None else Path(path)
        super().__init__(problem if path is None else f"{path}: {problem}")


class DatabaseInUse(DatabaseError):
    """Another process has the database open."""

    def __init__(self, path: str | Path, process: int | None) -> None:
        self.process = process
        holder = "another process" if process is None else f"process {process}"
        remedy = "stop it first, or send the request to its server (`unseen.connect`, SPARQL)"
        super().__init__(f"is in use by {holder}; {remedy}", path=path)


class DatabaseDamaged(DatabaseError):
    """A file of the database is missing, or its bytes are not those that were written."""


class EngineLost(DatabaseError):
    """The engine process ended while it did something; `cause` is `time`, `memory`, `nesting`, `crash` or `gone`."""

    def __init__(self, doing: str, reason: str, *, cause: str = "crash", outcome: str = "") -> None:
        self.doing, self.reason, self.cause, self.outcome = doing, reason, cause, outcome
        super().__init__(f"the engine process ended while it {doing}: {reason}" + (f"; {outcome}" if outcome else ""))

    def with_outcome(self, outcome: str) -> EngineLost:
        """The same error, with what became of the change that was under way."""
        return EngineLost(self.doing, self.reason, cause=self.cause, outcome=outcome)


class DiskFull(DatabaseError):
    """There is no space to write; nothing was changed."""

    def __init__(self, path: str | Path) -> None:
        super().__init__("the disk is full; nothing was changed. Make room and try again", path=path)


class TrainingError(UnseenError):
    """A run that cannot start, go on or be opened."""


class ConfigError(TrainingError):
    """A setting that does not exist or does not fit."""


class RunFolderError(TrainingError):
    """A run folder that is missing, taken, damaged or of another method."""

    def __init__(self, problem: str, *, path: str | Path) -> None:
        self.problem, self.path = problem, Path(path)
        super().__init__(f"{path}: {problem}")


class Diverged(TrainingError):
    """The loss is no longer a number; its batch is saved."""

    def __init__(self, step: int, saved: Path) -> None:
        self.step, self.saved = step, saved
        super().__init__(
            f"the loss of step {step} is not a finite number; its batch is in {saved}, and the weights before it are "
            "the last checkpoint. A smaller --learning-rate or a --clip-norm usually helps"
        )


class Stopped(UnseenError):
    """Work that was stopped before it was done."""

    def __init__(self) -> None:
        super().__init__("stopped before it was done")


class ServerError(UnseenError):
    """An error that a server answered: its status, its code and details, and when to try again."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        details: object = None,
        retry_after: int | None = None,
    ) -> None:
        self.status, self.code, self.details = status, code, details
        self.retry_after = retry_after
        """Seconds to wait, if the server has said so."""
        super().__init__(message)


class QueryError(UnseenError):
    """A question that cannot be answered as written."""

    suggestion: str = ""
    """The nearest question that works, where one was looked for and found."""

    def show(self, text: str, position: int | None = None, suggestion: str = "", example: str = "") -> None:
        """Add a caret at a place of the question, the nearest question that works, or one that works anyway."""
        self.suggestion = suggestion
        lines = [str(self)]
        lines += [] if position is None else [caret_line(text, position)]
        lines += [f"did you mean: {suggestion}"] if suggestion else []
        lines += [f"a question that works on this graph: {example}"] if example else []
        self.args = ("\n".join(lines),)


def caret_line(text: str, position: int) -> str:
    """The line of `text` that holds `position`, and a caret under it; long lines are cut around the caret."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    left = max(0, column - 60)
    window = line[left : left + 100].replace("\t", " ")
    prefix = "… " if left else ""
    suffix = " …" if left + 100 < len(line) else ""
    return f"  {prefix}{window}{suffix}\n  {' ' * (len(prefix) + column - left)}^"


class QuerySyntaxError(QueryError):
    """The question does not parse."""

    def __init__(self, problem: str, *, text: str, position: int) -> None:
        self.problem, self.text, self.position = problem, text, position
        super().__init__(f"syntax error at position {position + 1}: {problem}\n{caret_line(text, position)}")


class QueryRefused(QueryError):
    """The question parses, but it cannot be answered: what does not fit, and where."""

    def __init__(self, reason: str, *, text: str | None = None, position: int | None = None, place: str = "") -> None:
        self.reason, self.text, self.position, self.place = reason, text, position, place
        where = f" (in {place})" if place else ""
        caret = f"\n{caret_line(text, position)}" if text is not None and position is not None else ""
        super().__init__(f"cannot answer this question: {reason}{where}{caret}")


class QuestionTooLarge(QueryRefused):
    """The question has a form that could be answered, but too many parts or levels."""


class ValuesMissing(QueryRefused):
    """A comparison of an attribute that the graph does not have; `name` is its name in the question."""

    def __init__(self, reason: str, name: str, *, text: str | None = None, position: int | None = None) -> None:
        self.name = name
        super().__init__(reason, text=text, position=position)


class UnknownName(QueryError):
    """An entity or relation the graph does not have."""

    def __init__(self, kind: str, name: str, closest: Sequence[str] = ()) -> None:
        self.kind, self.name, self.closest = kind, name, tuple(closest)
        self.position: int | None = None
        super().__init__()
        self.offer(self.closest)

    def offer(self, closest: Sequence[str]) -> None:
        """Name the closest names."""
        self.closest = tuple(closest)
        hint = f"; closest: {', '.join(self.closest)}" if self.closest else ""
        self.args = (f"unknown {self.kind} {shorten(self.name)!r}{hint}",)

    def show(self, text: str, position: int | None = None, suggestion: str = "", example: str = "") -> None:
        """As for any question; the place is kept."""
        self.position = position
        super().show(text, position, suggestion, example)


class AmbiguousName(UnknownName):
    """A readable name that several entities share; their full names tell them apart."""

    def __init__(self, kind: str, name: str, candidates: Sequence[str]) -> None:
        super().__init__(kind, name, candidates)
        self.args = (f"the {kind} name {name!r} is ambiguous; choose one of: {', '.join(self.closest)}",)


class EvaluationError(UnseenError):
    """The scores of a method cannot be ranked, or a result file cannot be read."""


class UnknownMethod(UnseenError):
    """No method or embedded graph of that name."""

    def __init__(self, kind: str, name: str, available: Sequence[str]) -> None:
        self.kind, self.name, self.available = kind, name, tuple(available)
        super().__init__(f"there is no {kind} {shorten(name)!r}; available: {', '.join(self.available)}")


class FactoryError(UnseenError):
    """`package.module:factory` does not make a method."""

    def __init__(self, name: str, problem: str) -> None:
        self.name, self.problem = name, problem
        super().__init__(f"cannot make the method {shorten(name)}: {problem}")


class MissingExtra(UnseenError):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str, package: str) -> None:
        self.feature, self.extra, self.package = feature, extra, package
        remedy = f"install the extra {extra!r}: `pip install -c constraints.txt '.[{extra}]'` in a clone of unseen"
        super().__init__(f"{feature} needs {package}; {remedy}")


def shorten(name: str, limit: int = 80) -> str:
    """`name`, cut to `limit` characters so that an error stays one line."""
    return name if len(name) <= limit else name[: limit - 1] + "…"
