"""RDF statements told apart: edges between named things, labels that name them, literals left out.

A name is an IRI (one made from a plain name is that name again), `_:label` for a blank node, or the N-Triples form of
a literal.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.files.parts import LONGEST_NAME, Label, Part, PartBuilder, Problems
from unseen.graph.prefixes import PLAIN_NAMESPACE, WELL_KNOWN, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

LABEL = WELL_KNOWN["rdfs"] + "label"
_USABLE = r'^(?:_:|"|[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*$)'
_INVENTED_LABEL = re.compile(r"_:[a-f][0-9a-f]{23,31}")


class Unusable(Exception):
    """A statement that RDF allows but no graph of names can hold."""


class Statements:
    """The statements of one file, as they come; literals are kept as entities or counted and left out."""

    def __init__(self, rdf: ModuleType, *, literals: bool) -> None:
        self._iri, self._blank, self._literal = rdf.NamedNode, rdf.BlankNode, rdf.Literal
        self._keeps_literals = literals
        self._builder = PartBuilder()
        self._labels: dict[str, Label] = {}
        self._num_literals = self._num_labels = 0

    def add_all(self, quads: Iterable[Any]) -> None:
        """Take in statements; their named graphs do not matter."""
        self._builder.add_all(self._edges(quads))

    def _edges(self, quads: Iterable[Any]) -> Iterator[tuple[str, str, str]]:
        """The statements that are edges, by name."""
        is_iri, is_blank, is_literal = self._iri, self._blank, self._literal
        for subject, predicate, value, _ in quads:
            head = subject.value if type(subject) is is_iri else f"_:{subject.value}"
            relation = predicate.value
            kind = type(value)
            if kind is is_iri:
                tail = value.value
            elif kind is is_blank:
                tail = f"_:{value.value}"
            elif kind is is_literal:
                self._note_literal(head, relation, value)
                if not self._keeps_literals:
                    continue
                tail = str(value)
            else:
                raise Unusable("a statement about a statement (an RDF 1.2 triple term) cannot be an edge")
            if len(head) > LONGEST_NAME or len(relation) > LONGEST_NAME or len(tail) > LONGEST_NAME:
                raise Unusable(f"a name is longer than {LONGEST_NAME:,} characters")
            yield head, relation, tail

    def _note_literal(self, head: str, relation: str, value: Any) -> None:
        """Count a literal; remember it as a label of `head`, or of itself where literals are entities."""
        if relation == LABEL:
            self._num_labels += 1
            self._offer(head, _language_rank(value.language), value.value)
        elif not self._keeps_literals:
            self._num_literals += 1
        if self._keeps_literals:
            self._offer(str(value), 0, value.value)

    def _offer(self, name: str, rank: int, text: str) -> None:
        """Keep a label, on one line, if it is the best so far; the first of equals stays."""
        known = self._labels.get(name)
        if known is None or rank < known.rank:
            readable = " ".join(text.split())
            if readable and "\0" not in readable and len(readable) <= LONGEST_NAME:
                self._labels[name] = Label(rank, readable)

    def are_usable(self) -> bool:
        """Whether every IRI is absolute and free of the characters that no IRI may hold."""
        names = [*self._builder.entities, *self._builder.relations]
        return not names or bool(pc.all(pc.match_substring_regex(pa.array(names, pa.large_string()), _USABLE)).as_py())

    def part(self, prefixes: dict[str, str], problems: Problems, *, invented_labels: bool) -> Part:
        """Everything taken in; the random labels a parser invents become `_:b1`, `_:b2`, ... by appearance."""
        part = self._builder.part(problems)
        renames = _plain_names([*self._builder.entities, *self._builder.relations])
        if invented_labels:
            renames |= _steady_blank_nodes(self._builder.entities)
        return replace(
            replace(part, labels=self._labels).renamed(renames),
            prefixes=prefixes,
            has_blank_nodes=True,
            num_literals=self._num_literals,
            num_labels=self._num_labels,
        )


def _plain_names(names: list[str]) -> dict[str, str]:
    """The plain names behind IRIs that were made from them."""
    return {name: key_of(name) for name in names if name.startswith(PLAIN_NAMESPACE)}


def _steady_blank_nodes(entities: dict[str, int]) -> dict[str, str]:
    """`_:b1`, `_:b2`, ... for the random labels among `entities`, past those that the file itself uses."""
    renames: dict[str, str] = {}
    number = 0
    for name in entities:
        if name.startswith("_:") and _INVENTED_LABEL.fullmatch(name):
            number += 1
            while f"_:b{number}" in entities:
                number += 1
            renames[name] = f"_:b{number}"
    return renames


def _language_rank(language: str | None) -> int:
    """English first, then no language, then any other."""
    if language is None:
        return 2
    return 0 if language == "en" else 1 if language.startswith("en-") else 3
