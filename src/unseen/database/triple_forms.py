"""Statements, terms and keys: three ways to write the same triple.

A *key* is the name that the graph uses (`France`, a full IRI, `_:b1`); a *statement* is the triple in N-Triples; a
*quad* is what pyoxigraph takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.errors import GraphError, shorten
from unseen.graph.files.oxigraph import one_line, pyoxigraph_module
from unseen.graph.files.parts import LONGEST_NAME
from unseen.graph.files.rdf_terms import iri_term, object_term, subject_term
from unseen.graph.prefixes import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unseen.database.journal import Statement
    from unseen.graph.deltas import KeyTriple

LABEL_PREDICATE = "<http://www.w3.org/2000/01/rdf-schema#label>"


def statement_of_keys(triple: KeyTriple) -> Statement:
    """The statement of a triple of keys; a literal can only be the tail."""
    head, relation, tail = triple
    return subject_term(head), iri_term(relation), object_term(tail)


def term_text(term: Any) -> str:
    """A term as N-Triples writes it; pyoxigraph leaves out the marks around a statement about a statement."""
    if not isinstance(term, pyoxigraph_module().Triple):
        return str(term)
    return f"<<( {term_text(term.subject)} {term.predicate} {term_text(term.object)} )>>"


def quads_of(statements: Iterable[Statement]) -> list[Any]:
    """The quads of statements, in the default graph; labels of blank nodes stay."""
    rdf = pyoxigraph_module()
    text = "".join(f"{' '.join(statement)} .\n" for statement in statements)
    try:
        return list(rdf.parse(text.encode(), rdf.RdfFormat.N_TRIPLES, lenient=True))
    except SyntaxError as error:
        raise GraphError(f"this is not a statement: {one_line(error)}") from None


def readable(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements that the store can read."""
    try:
        quads_of(statements)
    except GraphError:
        return tuple(one for s in statements for one in readable((s,))) if len(statements) > 1 else ()
    return tuple(statements)


def keys_of(statement: Statement) -> KeyTriple:
    """The keys of a statement."""
    subject, predicate, value = statement
    return _key(subject), _key(predicate), _key(value)


def is_literal(term: str) -> bool:
    """Whether a term of a statement is a literal."""
    return term.startswith('"')


def can_be_edge(statement: Statement, *, literals: bool) -> bool:
    """Whether the graph has an edge for a statement: not for statements about statements, for literals if asked."""
    value = statement[2]
    return not value.startswith("<<") and (literals or not is_literal(value))


def check_names(triples: Sequence[Sequence[str]]) -> None:
    """Refuse what is no triple of names, before anything is changed."""
    for triple in triples:
        if isinstance(triple, str) or len(triple) != 3:
            raise GraphError(f"a triple has three parts (head, relation, tail), not {shorten(repr(triple))}")
        for name in triple:
            _check_name(name)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise GraphError(f"a name must be a text that is not empty, not {shorten(repr(name))}")
    if len(name) > LONGEST_NAME or "\0" in name:
        raise GraphError(f"a name has more than {LONGEST_NAME:,} characters or holds a NUL")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise GraphError(f"a name is not valid Unicode text: {shorten(ascii(name))}") from None


def _key(term: str) -> str:
    return key_of(term[1:-1]) if term.startswith("<") else term
