"""RDF statements told apart: edges between named things, labels that name them, literals as values of their subjects.

A name is an IRI (one made from a plain name is that name again), `_:label` for a blank node, or the N-Triples form of
a literal.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.graph.attributes.collecting import ValueCollector
from unseen.graph.attributes.value_kinds import LANGUAGE_TYPE, Tag
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.graph.files.parts import LONGEST_NAME, Label
from unseen.graph.prefixes import PLAIN_NAMESPACE, WELL_KNOWN, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from unseen.graph.files.parts import Part

LABEL = WELL_KNOWN["rdfs"] + "label"
_INVENTED_LABEL = re.compile(r"_:[a-f][0-9a-f]{23,31}")

Triple = tuple[str, str, str]


class Unusable(Exception):
    """A statement that RDF allows but no graph of names can hold."""


class Statements:
    """The statements of one file, as they come; literals are kept as values, or as entities."""

    def __init__(self, *, literals: bool) -> None:
        rdf = pyoxigraph_module()
        self._iri, self._blank, self._literal = rdf.NamedNode, rdf.BlankNode, rdf.Literal
        self._keeps_literals = literals
        self._labels: dict[str, Label] = {}
        self._values = ValueCollector()
        self._num_labels = 0

    def edges(self, quads: Iterable[Any]) -> Iterator[Triple]:
        """The statements that are edges, by name."""
        return (edge for edge in map(self.edge, quads) if edge is not None)

    def edge(self, quad: Any) -> Triple | None:
        """A statement by name, from any named graph; None if it is left out."""
        subject, predicate, value, _ = quad
        head = subject.value if type(subject) is self._iri else f"_:{subject.value}"
        relation = predicate.value
        kind = type(value)
        if kind is self._iri:
            tail = value.value
        elif kind is self._blank:
            tail = f"_:{value.value}"
        elif kind is self._literal:
            self._note_literal(head, relation, value)
            if not self._keeps_literals:
                return None
            tail = str(value)
        else:
            raise Unusable("a statement about a statement (an RDF 1.2 triple term) cannot be an edge")
        if len(head) > LONGEST_NAME or len(relation) > LONGEST_NAME or len(tail) > LONGEST_NAME:
            raise Unusable(f"a name is longer than {LONGEST_NAME:,} characters")
        return head, relation, tail

    def _note_literal(self, head: str, relation: str, value: Any) -> None:
        """Remember a literal as a value or label of `head`, or as a label of itself where literals are entities."""
        if relation == LABEL:
            self._num_labels += 1
            self._offer(head, language_rank(value.language), value.value)
        elif not self._keeps_literals:
            language = value.language
            tag = Tag(value.datatype.value) if language is None else Tag(LANGUAGE_TYPE, language)
            self._values.add(head, relation, value.value, tag)
        if self._keeps_literals:
            self._offer(str(value), 0, value.value)

    def _offer(self, name: str, rank: int, text: str) -> None:
        """Keep a label, on one line, if it is the best so far; the first of equals stays."""
        known = self._labels.get(name)
        if known is None or rank < known.rank:
            readable = " ".join(text.split())
            if readable and "\0" not in readable and len(readable) <= LONGEST_NAME:
                self._labels[name] = Label(rank, readable)

    def completed(
        self, part: Part, prefixes: Mapping[str, str] | None = None, *, invented_labels: bool = False
    ) -> Part:
        """The edges with labels and counts; random blank nodes become `_:b1`, `_:b2`, ... by appearance."""
        values = self._values.rows() if len(self._values) else None
        names = [part.entities, part.relations]
        if values is not None:
            names += [values.subjects, values.attributes]
        renames = {name: plain for column in names for name, plain in _plain_names(column).items()}
        if invented_labels:
            renames |= _steady_blank_nodes(pa.concat_arrays(names[:1] + names[2:3]))
        return replace(
            replace(part, labels=self._labels, values=values).renamed(renames),
            prefixes=prefixes or {},
            has_blank_nodes=True,
            num_literals=len(self._values),
            num_labels=self._num_labels,
        )


def _plain_names(names: pa.Array) -> dict[str, str]:
    """The plain names behind IRIs that were made from them."""
    made = names.filter(pc.starts_with(names, PLAIN_NAMESPACE)).to_pylist()
    return {name: key_of(name) for name in made}


def _steady_blank_nodes(entities: pa.Array) -> dict[str, str]:
    """`_:b1`, `_:b2`, ... for the random labels among `entities`, past those that the file itself uses."""
    blank = dict.fromkeys(entities.filter(pc.starts_with(entities, "_:")).to_pylist())
    numbered = (name for name in map("_:b{}".format, count(1)) if name not in blank)
    return {name: next(numbered) for name in blank if _INVENTED_LABEL.fullmatch(name)}


def language_rank(language: str | None) -> int:
    """English first, then no language, then any other."""
    if language is None:
        return 2
    return 0 if language == "en" else 1 if language.startswith("en-") else 3
