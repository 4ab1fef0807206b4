"""Every statement of a SPARQL endpoint, in pages that an interruption does not lose.

Predicates come one after the other, each with the number of its statements, which the endpoint has counted. Within a
predicate, pages are ordered by subject, and each begins at the subject with which the last one ended (keyset paging: a
page costs the endpoint the same at the end as at the beginning, and what is added meanwhile moves nothing). A subject
with more statements than a page holds is read with LIMIT and OFFSET. A predicate is done when as many different
statements have come as the endpoint counts; an endpoint that does not order its pages is found out by those that come
twice.

Blank nodes mean something within one answer only, so statements with one are left out and counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unseen.database.importing.endpoint import TooMuchAsked
from unseen.database.importing.import_state import Predicate
from unseen.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.database.importing.endpoint import Endpoint
    from unseen.database.importing.import_state import ImportState

    Term = dict[str, str]
    Row = dict[str, Term]

PAGE_SIZE, SMALLEST_PAGE = 10_000, 100
MOST_LISTED = 1_000
"""Predicates in an answer from which on there may be more than the endpoint says at a time."""
RESTARTS = 1
"""How often a predicate is read again whose statements are not as many as the endpoint counts."""
_REFUSED = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_STRING = "http://www.w3.org/2001/XMLSchema#string"
GOES_ON = "the same command continues where this one has stopped"


@dataclass(frozen=True)
class Pages:
    """One import: `progress` hears how many statements have come, and how many there are."""

    endpoint: Endpoint
    state: ImportState
    progress: Callable[[int, int], None] = lambda _done, _total: None
    note: Callable[[str], None] = lambda _: None
    page_size: int = PAGE_SIZE
    takes_what_comes: bool = False
    """Whether a predicate counts as done although the endpoint counts another number of statements."""

    def fetch(self) -> None:
        """Have all statements in the file of the state."""
        state = self.state
        if not state.is_planned:
            self._plan()
        state.cut()
        self.progress(state.received, state.expected)
        for predicate in state.predicates:
            while not predicate.is_done:
                self._next(predicate)
                state.save()
                self.progress(state.received, state.expected)

    def _plan(self) -> None:
        """Ask the endpoint for the number of statements of each predicate."""
        wish = self.state.wish
        found = self._predicates()
        if not found:
            where = f" in graph {wish.graph}" if wish.graph else ""
            raise DatabaseError(f"{wish.url}: there are no statements{where} that could be imported")
        found.sort(key=lambda one: (one[1], one[0]))
        self.state.predicates = [Predicate(*one) for one in found]
        self.state.total = self._count(self._where("?p", blank=True))
        self.state.page_size = max(SMALLEST_PAGE, self.page_size)
        self.state.save()

    def _predicates(self) -> list[tuple[str, int]]:
        """Every predicate with its number of statements; after a long list, which may be cut, what comes after it."""
        found: dict[str, int] = {}
        is_cut, after = True, ""
        while is_cut:
            text = f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {self._where('?p')}{after} }} GROUP BY ?p ORDER BY STR(?p)"
            come = {row["p"]["value"]: _number(row) for row in self._ask(text) if "p" in row}
            is_cut = len(come) >= MOST_LISTED and not come.keys() <= found.keys()
            found |= come
            after = f" FILTER(STR(?p) > {_text(max(come, default=''))})"
        return list(found.items())

    def _next(self, predicate: Predicate) -> None:
        """One page more of a predicate."""
        if predicate.received == 0 and predicate.after is None:
            predicate.start = self.state.length
        if predicate.after is None or predicate.offset is None:
            is_over = self._next_subjects(predicate)
        else:
            is_over = self._next_objects(predicate, predicate.after, predicate.offset)
        if not is_over and predicate.received > predicate.count:
            predicate.count = self._count(self._where(_iri(predicate.iri)))
        if is_over or predicate.received > predicate.count:
            self._finish(predicate)

    def _next_subjects(self, predicate: Predicate) -> bool:
        """A page of statements by subject; whether it was the last one."""
        rows = self._ask(lambda: self._page_of_subjects(predicate))
        if not rows:
            return True
        last = rows[-1]["s"]["value"]
        if predicate.received + len(rows) == predicate.count:
            self._take(predicate, rows)
            return True
        if whole := [row for row in rows if row["s"]["value"] != last]:
            self._take(predicate, whole)
            predicate.after, predicate.is_past = last, False
        else:
            predicate.after, predicate.is_past, predicate.offset = last, False, 0
        return False

    def _next_objects(self, predicate: Predicate, subject: str, offset: int) -> bool:
        """A page of the statements of one subject, of which some have come; never the last one of a predicate."""
        where = self._where(_iri(predicate.iri), _iri(subject))
        order = "ORDER BY STR(?o) LANG(?o) STR(DATATYPE(?o))"
        rows = self._ask(lambda: f"SELECT ?o WHERE {{ {where} }} {order} LIMIT {self.state.page_size} OFFSET {offset}")
        if rows:
            node = {"type": "uri", "value": subject}
            self._take(predicate, [{"s": node, "o": row["o"]} for row in rows])
            predicate.offset = offset + len(rows)
        else:
            predicate.offset, predicate.is_past = None, True
        return False

    def _page_of_subjects(self, predicate: Predicate) -> str:
        size = self.state.page_size
        where = self._where(_iri(predicate.iri))
        if predicate.after is not None:
            where += f" FILTER(STR(?s) {'>' if predicate.is_past else '>='} {_text(predicate.after)})"
        return f"SELECT ?s ?o WHERE {{ {where} }} ORDER BY STR(?s) LIMIT {size}"

    def _take(self, predicate: Predicate, rows: Sequence[Row]) -> None:
        relation = _iri(predicate.iri)
        self.state.append(f"{_term(row['s'])} {relation} {_term(row['o'])} .\n" for row in rows)
        predicate.received += len(rows)

    def _finish(self, predicate: Predicate) -> None:
        """Nothing more comes, or too much has: compare with what the endpoint counts now, which may have changed."""
        different = self.state.different_lines(predicate.start)
        if predicate.count != different:
            predicate.count = self._count(self._where(_iri(predicate.iri)))
        twice = predicate.received - different
        came = f"{different:,} statements came" + (f" and {twice:,} of them again" if twice else "")
        counted = f"the endpoint counts {predicate.count:,}"
        if predicate.received == different == predicate.count or self.takes_what_comes:
            if predicate.received != different or different != predicate.count:
                self.note(f"{predicate.iri}: {came}, {counted}")
            predicate.is_done, predicate.received, predicate.count = True, different, different
        elif predicate.restarts < RESTARTS:
            self.note(f"{predicate.iri}: {came}, {counted}; reading them again")
            self.state.length = predicate.start
            predicate.restart()
        else:
            self.state.length = predicate.start
            predicate.restart()
            predicate.restarts = 0
            self.state.save()
            raise DatabaseError(
                f"{self.endpoint.url}: of {predicate.iri}, {came}, but {counted}; its data change, it cuts answers "
                f"short, or it does not keep to ORDER BY. {GOES_ON.capitalize()}; a smaller --page-size may help; "
                "--skip-errors takes what comes"
            )

    def _where(self, predicate: str, subject: str = "?s", *, blank: bool = False) -> str:
        """A pattern for statements; with `blank` also for those with blank nodes."""
        wish = self.state.wish
        pattern = f"{subject} {predicate} ?o"
        pattern = f"GRAPH {_iri(wish.graph)} {{ {pattern} }}" if wish.graph else f"{pattern} ."
        if not blank:
            pattern += " FILTER(!isBlank(?o))" if subject != "?s" else " FILTER(isIRI(?s) && !isBlank(?o))"
        if wish.only:
            own = wish.only if subject == "?s" else f"VALUES ?s {{ {subject} }} {wish.only}"
            pattern += f" FILTER EXISTS {{ {own} }}"
        return pattern

    def _count(self, where: str) -> int:
        rows = self._ask(f"SELECT (COUNT(*) AS ?n) WHERE {{ {where} }}")
        return _number(rows[0]) if rows else 0

    def _ask(self, query: str | Callable[[], str]) -> list[Row]:
        """The rows of a query; where they are too much for the endpoint, those of one with smaller pages."""
        while True:
            text = query if isinstance(query, str) else query()
            try:
                return self.endpoint.select(text)
            except TooMuchAsked as error:
                size = self.state.page_size
                if size <= SMALLEST_PAGE or "LIMIT" not in text:
                    raise DatabaseError(f"{error.problem}; {GOES_ON}") from None
                self.state.page_size = max(SMALLEST_PAGE, size // 2)
                self.note(f"{error.problem}; going on with pages of {self.state.page_size:,}")


def _number(row: Row) -> int:
    try:
        return int(row["n"]["value"])
    except (KeyError, ValueError):
        raise DatabaseError("the endpoint does not count: COUNT(*) brought no number") from None


def _iri(iri: str) -> str:
    return "<" + _REFUSED.sub(lambda found: f"\\u{ord(found[0]):04X}", iri) + ">"


def _text(text: str) -> str:
    return '"' + "".join(_ESCAPED.get(character, character) for character in text) + '"'


def _term(term: Term) -> str:
    """A term of a JSON result as N-Triples."""
    kind, value = term["type"], term["value"]
    if kind == "uri":
        return _iri(value)
    if kind not in ("literal", "typed-literal"):
        raise DatabaseError(f"the endpoint answers with a term of type {kind!r}, which cannot be imported")
    if "xml:lang" in term:
        return f"{_text(value)}@{term['xml:lang']}"
    datatype = term.get("datatype", _STRING)
    return _text(value) if datatype == _STRING else f"{_text(value)}^^{_iri(datatype)}"
