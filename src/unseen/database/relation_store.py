"""Exact SPARQL over some relations of a graph in memory: what is computed around predicted solutions.

Only the edges of relations that a text names are put into the store; all of them, where a variable stands for one.
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
from unseen.graph.files.rdf_terms import text_literal
from unseen.graph.prefixes import key_of
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.graph import KnowledgeGraph

MOST_TRIPLES = 3_000_000
"""Edges that are put into a store."""
TOGETHER = 100_000
TERMS = ("iri", "name", "variable", "string")
"""Kinds of words that may stand beside the relation of a triple."""
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
Row = dict[str, str]
"""Terms of N-Triples by variable; a variable without a value is missing."""


class RelationStore:
    """Answers SELECT queries on a graph; edges of a relation are read when a query first names it."""

    def __init__(self, graph: KnowledgeGraph, prefixes: Mapping[str, str]) -> None:
        self.graph, self.prefixes = graph, dict(prefixes)
        self._rdf = pyoxigraph_module()
        self._store = self._rdf.Store()
        self._loaded: set[int] = set()

    def rows(self, text: str) -> list[Row]:
        """The solutions of a SELECT."""
        check_query(text)
        for relation in self._relations_in(text):
            self._load(relation)
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

    def _relations_in(self, text: str) -> list[int]:
        """The relations that a text may be about: those it names; all if a variable or `!` stands for one."""
        tokens = [Token("space", "", 0), *tokens_of(text), Token("space", "", 0)]
        prefixes, keys, depth = dict(self.prefixes), list[str](), 0
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "bracket" else 0
            if token.kind == "name" and before.text.upper() == "PREFIX" and after.kind == "iri":
                prefixes[token.text[:-1]] = after.text[1:-1]
            elif token.kind in ("iri", "name"):
                prefix, _, local = token.text.partition(":")
                keys.append(key_of(token.text[1:-1] if token.kind == "iri" else prefixes.get(prefix, "") + local))
            elif depth == 0 and _stands_for_relation(before, token, after):
                return list(range(self.graph.num_relations))
            elif token.text == "a":
                keys.append(key_of(RDF_TYPE))
        found = self.graph.vocabulary.relations.find_keys(list(dict.fromkeys(keys)))
        return [int(relation) for relation in found if relation >= 0]

    def _load(self, relation: int) -> None:
        if relation in self._loaded:
            return
        self._loaded.add(relation)
        heads, tails = self.graph.edges_from(2 * relation)
        if len(self._store) + len(heads) > MOST_TRIPLES:
            raise QueryRefused(
                f"it needs more than {MOST_TRIPLES:,} edges at once: ask a server, which has them on disk"
            )
        name = self.graph.vocabulary.relations.key(relation)
        for start in range(0, len(heads), TOGETHER):
            self._store.bulk_extend(self._quads(heads[start : start + TOGETHER], name, tails[start : start + TOGETHER]))

    def _quads(self, heads: Any, relation: str, tails: Any) -> list[Any]:
        ids, places = np.unique(np.concatenate([heads, tails]), return_inverse=True)
        keys = [key for _, key in self.graph.vocabulary.entities.named(ids.tolist())]
        ends = zip(places[: len(heads)].tolist(), places[len(heads) :].tolist(), strict=True)
        lines = (" ".join(statement_of_keys((keys[head], relation, keys[tail]))) + " .\n" for head, tail in ends)
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
    """A literal as a person reads it; other terms as they are."""
    if not term.startswith('"'):
        return key_of_term(term)
    rdf = pyoxigraph_module()
    (quad,) = rdf.parse(f"<urn:s> <urn:p> {term} .".encode(), rdf.RdfFormat.N_TRIPLES, lenient=True)
    return str(quad.object.value)
