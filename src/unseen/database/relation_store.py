"""Exact SPARQL over a part of a graph in memory: what is computed around predicted solutions.

Only the edges and values that a text names are put into the store; all of them, where a variable stands for a relation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.database.checked_update import syntax_error
from unseen.database.guard import check_query
from unseen.database.triple_forms import statement_of_keys, term_text
from unseen.errors import QueryRefused, shorten
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.graph.files.rdf_terms import iri_term, object_term, subject_term, text_literal
from unseen.graph.prefixes import key_of
from unseen.logic.sparql.words import Token, named_in, tokens_of
from unseen.logic.values.shown import named_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph
    from unseen.graph.names import Names

MOST_TRIPLES = 3_000_000
"""Edges that are put into a store."""
TOGETHER = 100_000
TERMS = ("iri", "name", "variable", "string")
"""Kinds of words that may stand beside the relation of a triple."""
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
Row = dict[str, str]
"""Terms of N-Triples by variable; a variable without a value is missing."""


class RelationStore:
    """Answers SELECT queries on a graph; edges and values are read when a query first names their relation."""

    def __init__(self, graph: KnowledgeGraph, prefixes: Mapping[str, str]) -> None:
        self.graph, self.prefixes = graph, dict(prefixes)
        self._rdf = pyoxigraph_module()
        self._store = self._rdf.Store()
        self._loaded: set[str] = set()
        """Keys of the relations and attributes that are in the store."""

    def rows(self, text: str) -> list[Row]:
        """The solutions of a SELECT."""
        check_query(text)
        self._load(self._named_in(text))
        try:
            found: Any = self._store.query(text, prefixes=self.prefixes)
            names = [variable.value for variable in found.variables]
            return [
                {name: term_text(row[place]) for place, name in enumerate(names) if row[place] is not None}
                for row in found
            ]
        except SyntaxError as error:
            raise syntax_error(error, text) from None
        except (ValueError, RuntimeError, OSError) as error:
            raise QueryRefused(shorten(str(error), 200)) from None

    def _named_in(self, text: str) -> list[str]:
        """Keys of what a text may be about: the names in it; all relations if a variable or `!` stands for one."""
        tokens, depth = [Token("space", "", 0), *tokens_of(text), Token("space", "", 0)], 0
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "bracket" else 0
            if depth == 0 and _stands_for_relation(before, token, after):
                return [key for names in self._all_names() for key in names.keys.to_pylist()]
        kinds = [key_of(RDF_TYPE)] if any(token.text == "a" for token in tokens) else []
        return list(dict.fromkeys([*kinds, *(key_of(iri) for _, iri in named_in(tokens, self.prefixes))]))

    def _all_names(self) -> tuple[Names, Names]:
        return self.graph.vocabulary.relations, self.graph.attributes.names

    def _load(self, keys: Sequence[str]) -> None:
        """Put the edges of relations and the values of attributes into the store, by key."""
        new = [key for key in keys if key not in self._loaded]
        self._loaded.update(new)
        relations, attributes = (names.find_keys(new).tolist() for names in self._all_names())
        for key, relation, attribute in zip(new, relations, attributes, strict=True):
            if relation >= 0:
                heads, tails = self.graph.edges_from(2 * relation)
                self._extend(key, heads, tails)
            if attribute >= 0:
                owners, values = self.graph.attributes.of_attribute(attribute)
                self._extend(key, owners, values + self.graph.num_entities)

    def _extend(self, name: str, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> None:
        if len(self._store) + len(heads) > MOST_TRIPLES:
            raise QueryRefused(
                f"it needs more than {MOST_TRIPLES:,} edges at once: ask a server, which has them on disk"
            )
        for start in range(0, len(heads), TOGETHER):
            self._store.bulk_extend(self._quads(heads[start : start + TOGETHER], name, tails[start : start + TOGETHER]))

    def _quads(self, heads: NDArray[np.integer], relation: str, tails: NDArray[np.integer]) -> list[Any]:
        """Statements with entities and values, which have numbers behind those of all entities, as objects."""
        keys = {node: key for node, (_, key) in named_nodes(self.graph, np.unique([heads, tails]).tolist()).items()}
        count = self.graph.num_entities
        objects = (keys[tail] if tail >= count else object_term(keys[tail]) for tail in tails.tolist())
        ends, name = zip(heads.tolist(), objects, strict=True), iri_term(relation)
        lines = (f"{subject_term(keys[head])} {name} {value} .\n" for head, value in ends)
        return list(self._rdf.parse("".join(lines).encode(), self._rdf.RdfFormat.N_TRIPLES, lenient=True))


def _stands_for_relation(before: Token, token: Token, after: Token) -> bool:
    """Whether a word stands for more than the relations that are named: a variable between two terms, `!`, `*`."""
    if token.kind == "variable":
        return before.kind in TERMS and after.kind in TERMS
    if token.text in ("*", "?"):  # no step at all leads from anything to itself
        return before.kind in ("iri", "name") or before.text == ")"
    return token.text == "!" and (after.kind in ("iri", "name") or after.text in ("(", "^"))


def rows_of_json(results: bytes) -> list[Row]:
    """The solutions of a result in SPARQL's JSON."""
    bindings = json.loads(results)["results"]["bindings"]
    return [{name: _term_of_json(term) for name, term in row.items()} for row in bindings]


def _term_of_json(term: dict[str, Any]) -> str:
    if term["type"] == "uri":
        return f"<{term['value']}>"
    if term["type"] == "bnode":
        return f"_:{term['value']}"
    if term["type"] == "triple":
        value = term["value"]
        return f"<<( {' '.join(_term_of_json(value[part]) for part in ('subject', 'predicate', 'object'))} )>>"
    language, kind = term.get("xml:lang"), term.get("datatype")
    return text_literal(term["value"]) + (f"@{language}" if language else f"^^<{kind}>" if kind else "")


def term_of_key(key: str) -> str:
    """The term of an entity, as N-Triples writes it."""
    return statement_of_keys(("s", "p", key))[2]


def key_of_term(term: str) -> str:
    """The key of a term: of an IRI the name in the graph; other terms are their own."""
    return key_of(term[1:-1]) if term.startswith("<") and not term.startswith("<<") else term


def text_of_term(term: str) -> str:
    """The readable text of a literal; other terms unchanged."""
    if not term.startswith('"'):
        return key_of_term(term)
    rdf = pyoxigraph_module()
    (quad,) = rdf.parse(f"<urn:s> <urn:p> {term} .".encode(), rdf.RdfFormat.N_TRIPLES, lenient=True)
    return str(quad.object.value)
