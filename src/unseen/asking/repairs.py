"""Errors of questions that show the place, and offer the nearest question that works on the graph."""

from __future__ import annotations

import re
from contextlib import contextmanager
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from unseen.asking.preparing import is_sparql, lookup_for, parse, prepare
from unseen.asking.rewordings import is_like_variable, rewordings, with_inner
from unseen.errors import AmbiguousName, QueryError, QueryRefused, QuerySyntaxError, QuestionTooLarge, UnknownName
from unseen.logic.text_writer import quoted, quoted_relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names

LONGEST = 400
"""Characters of a question that is repaired."""
MOST_TRIES = 12
"""Texts that are tried for one question."""
LIKE_ENOUGH = 0.75
"""How like a name must be to stand in for an unknown one."""
_KIND = re.compile(r'(\??\w+)\s+a\s+("[^"]+"|[\w.<>/#:-]+)')


@contextmanager
def repairing(graph: KnowledgeGraph, question: object, type_relation: str | None = None) -> Iterator[None]:
    """Errors of a question get a caret and, where one is found, the nearest question that works."""
    try:
        yield
    except QueryError as error:
        if isinstance(question, str):
            help_with(error, graph, question, type_relation)
        raise


def help_with(error: QueryError, graph: KnowledgeGraph, text: str, type_relation: str | None = None) -> None:
    """Add to an error where its name stands in the question, and what may have been meant."""
    place = _place_of(error, text)
    if isinstance(error, UnknownName) and not error.closest and place is not None:
        error.offer(_names(graph, error).closest(error.name))
    if isinstance(error, QuestionTooLarge) or len(text) > LONGEST:
        error.show(text, place)
        return
    repaired = _Repairs(graph, type_relation).of(text, error)
    error.show(text, place, repaired)
    if not repaired and isinstance(error, QuerySyntaxError):
        error.show(text, example=working_question(graph, in_sparql=is_sparql(text)))
    if not repaired and isinstance(error, QueryRefused) and is_sparql(text) and has_exact_answer(graph, text, error):
        error.args = (f'{error}\nwithout predictions it has an answer: --method exact (method="exact")',)


def has_exact_answer(graph: KnowledgeGraph, text: str, refusal: QueryRefused) -> bool:
    """Whether an engine can answer a text that cannot be predicted because of something that stands in it."""
    if refusal.position is None and not refusal.place:
        return False
    from unseen.asking.exact_selects import exact_select

    return exact_select(graph, text, refusal, None) is not None


def working_question(graph: KnowledgeGraph, *, in_sparql: bool = False) -> str:
    """A question with a known answer, about the entity that most is said of; nothing if the graph is empty."""
    if not graph.num_triples:
        return ""
    head = int(np.bincount(graph.heads).argmax())
    relation = int(np.bincount(graph.relations[graph.heads == head]).argmax())
    names = graph.vocabulary
    if in_sparql:
        ends = (_written(name, "", True) for name in (names.entity_name(head), names.relations.name(relation)))
        return f"SELECT ?x {{ {' '.join(ends)} ?x }}"
    return f"?x : {quoted_relation(names.relations.name(relation))}({quoted(names.entity_name(head), {'x'})}, x)"


class _Repairs:
    """A search for a text that works, from one error to the next."""

    def __init__(self, graph: KnowledgeGraph, type_relation: str | None) -> None:
        self.graph, self.type_relation = graph, type_relation
        self.left = MOST_TRIES
        self.seen = set[str]()

    def of(self, text: str, error: QueryError) -> str:
        """The first text that works; nothing if none is found."""
        for candidate in self._candidates(text, error):
            if not candidate or candidate in self.seen or candidate == text:
                continue
            if self.left <= 0:
                return ""
            self.left -= 1
            self.seen.add(candidate)
            found = self._error_of(candidate)
            if found is None:
                return candidate
            if _is_nearer(candidate, found, text, error) and (repaired := self.of(candidate, found)):
                return repaired
        return ""

    def _error_of(self, text: str) -> QueryError | None:
        try:
            query, _ = parse(text, self.graph)
            lookup = lookup_for(self.graph, [query], suggest=False)
            prepare(self.graph, query, lookup=lookup, type_relation=self.type_relation)
        except QueryError as error:
            return error
        return None

    def _unknown(self, name: str) -> bool:
        return int(self.graph.vocabulary.entities.find_all([name])[0]) < 0

    def _candidates(self, text: str, error: QueryError) -> Iterator[str]:
        if isinstance(error, QuerySyntaxError | QueryRefused):
            yield from rewordings(text, error, self._unknown)
            if isinstance(error, QueryRefused) and "rdf:type" in error.reason:
                yield from self._kind_by_relation(text)
            if isinstance(error, QueryRefused) and (attribute := re.search(r"unknown attribute '(.+?)'", error.reason)):
                yield from self._renamed(
                    text, attribute.group(1), self.graph.attributes.names.closest(attribute.group(1))
                )
        elif isinstance(error, UnknownName) and not isinstance(error, AmbiguousName):
            if error.kind == "entity" and is_like_variable(error.name) and not is_sparql(text):
                yield with_inner(text, error.name)
            yield from self._renamed(text, error.name, error.closest or _names(self.graph, error).closest(error.name))

    def _kind_by_relation(self, text: str) -> Iterator[str]:
        """`x a Kind` by the relation that most often leads to the kind."""
        match = _KIND.search(text)
        kind = -1 if match is None else int(self.graph.vocabulary.entities.find_all([match.group(2).strip('":')])[0])
        leading = self.graph.relations[self.graph.tails == kind]
        if match is None or not len(leading):
            return
        name = self.graph.vocabulary.relations.name(int(np.bincount(leading).argmax()))
        if is_sparql(text):
            shown = f"{match.group(1)} {_written(name, '', True)} {match.group(2)}"
        else:
            shown = f"{quoted_relation(name)}({match.group(1)}, {match.group(2)})"
        yield f"{text[: match.start()]}{shown}{text[match.end() :]}"

    def _renamed(self, text: str, name: str, closest: list[str] | tuple[str, ...]) -> Iterator[str]:
        match = _found(name, text)
        for other in closest[:2]:
            if (
                match is None
                or SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio() < LIKE_ENOUGH
            ):
                continue
            yield f"{text[: match.start()]}{_written(other, match.group(), is_sparql(text))}{text[match.end() :]}"


def _names(graph: KnowledgeGraph, error: UnknownName) -> Names:
    vocabulary = graph.vocabulary
    return vocabulary.relations if error.kind == vocabulary.relations.kind else vocabulary.entities


def _is_nearer(candidate: str, found: QueryError, text: str, error: QueryError) -> bool:
    """Whether an error comes later than the one before it: less of the text is behind it, or it parses by now."""
    if not isinstance(error, QuerySyntaxError):
        return str(found) != str(error) and not isinstance(found, QuerySyntaxError)
    if not isinstance(found, QuerySyntaxError):
        return True
    return len(candidate) - found.position < len(text) - error.position


def _found(name: str, text: str) -> re.Match[str] | None:
    """Where a name stands in a question, in quotation marks or not."""
    plain = re.escape(name)
    return re.search(rf'"{plain}"|(?<![\w"])\??:?{plain}(?!\w)', text)


def _place_of(error: QueryError, text: str) -> int | None:
    """Where in a question an error is that does not say it."""
    match = _found(error.name, text) if isinstance(error, UnknownName) else None
    if isinstance(error, QueryRefused) and error.position is None and "rdf:type" in error.reason:
        match = _KIND.search(text)
    return None if match is None else match.start()


def _written(name: str, before: str, is_in_sparql: bool) -> str:
    """A name as it stands in a question."""
    if not is_in_sparql:
        return quoted(name)
    if re.fullmatch(r"\w+", name) and not before.startswith('"'):
        return f":{name}"
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
