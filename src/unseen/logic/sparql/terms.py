"""The terms of a SPARQL question: variables, and names of entities and relations.

An IRI in the namespace of plain names is that name, any other is `<iri>`; a literal is the readable name of an entity;
a blank node is a variable that nobody else can name.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from unseen.errors import QuerySyntaxError, shorten
from unseen.graph.prefixes import name_in_question
from unseen.logic.formula import Constant, Variable
from unseen.logic.sparql.patterns import NAMELESS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.logic.formula import Term
    from unseen.logic.sparql.words import Token

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPED = re.compile(r"\\(.)")
_INVENTED_LABEL = re.compile(r"N[0-9a-f]{32}")


def kind_of(node: Any) -> str:
    """The name of a node of the grammar, or the class of a term."""
    return getattr(node, "name", None) or type(node).__name__


class Terms:
    """Reads the terms of one text; `namespaces` are the prefixes known before it."""

    def __init__(self, text: str, tokens: list[Token], namespaces: Mapping[str, str]) -> None:
        self.text, self.tokens, self.namespaces = text, tokens, dict(namespaces)
        self.base = ""
        self.numbers = count(1)
        self.blanks: dict[str, Variable] = {}

    def declare(self, declaration: Any) -> None:
        """Take in a PREFIX or BASE."""
        iri = self._absolute(str(declaration.iri))
        if kind_of(declaration) == "Base":
            self.base = iri
        else:
            self.namespaces[declaration.prefix or ""] = iri

    def term(self, node: Any) -> Term:
        """A variable, a blank node as a variable, or the name of an entity."""
        match kind_of(node):
            case "Variable":
                return Variable(str(node))
            case "BNode":
                return self._blank(str(node))
        return self.constant(node)

    def constant(self, node: Any) -> Constant:
        """The name of an entity."""
        match kind_of(node):
            case "literal":
                return Constant(str(node.string))
            case "Literal":
                return Constant(str(node))
        return Constant(self.name(node))

    def new_variable(self) -> Variable:
        """A variable without a name; its scope tells it from others."""
        return Variable(NAMELESS, -next(self.numbers))

    def _blank(self, label: str) -> Variable:
        """The variable of a blank node; rdflib invents a label for `[]`."""
        if label not in self.blanks:
            invented = _INVENTED_LABEL.fullmatch(label) is not None
            self.blanks[label] = self.new_variable() if invented else Variable(f"_:{label}")
        return self.blanks[label]

    def name(self, node: Any) -> str:
        """The name of an IRI: plain in the namespace of plain names, else `<iri>`."""
        iri = self.iri(node)
        plain = name_in_question(iri)
        return f"<{iri}>" if plain == iri else plain

    def iri(self, node: Any) -> str:
        """The IRI that a name stands for."""
        return self._expanded(node) if kind_of(node) == "pname" else self._absolute(str(node))

    def _expanded(self, node: Any) -> str:
        prefix = node.prefix or ""
        if prefix not in self.namespaces:
            raise self._unknown_prefix(prefix)
        return self.namespaces[prefix] + _ESCAPED.sub(r"\1", node.localname or "")

    def _unknown_prefix(self, prefix: str) -> QuerySyntaxError:
        names = (token for token in self.tokens if token.kind == "name" and token.text.startswith(f"{prefix}:"))
        position = next((token.position for token in names), 0)
        return QuerySyntaxError(f"the prefix `{shorten(prefix)}:` is not declared", text=self.text, position=position)

    def _absolute(self, iri: str) -> str:
        if _ABSOLUTE.match(iri) or not self.base:
            return iri
        joined = urljoin(self.base, iri)
        return f"{joined}#" if iri.endswith("#") and not joined.endswith("#") else joined
