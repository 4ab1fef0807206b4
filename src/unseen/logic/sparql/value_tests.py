"""Values in SPARQL: which variables stand for them, literals, and the tests of FILTER as expressions.

A variable stands for values if it is the object of an attribute of the graph. A name that is both an attribute and a
relation leads to values where its object is a literal or a variable that nothing else makes an entity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.errors import QueryRefused, ValuesMissing
from unseen.graph.attributes.value_kinds import LANGUAGE_TYPE, STRING, STRING_TYPE, Tag
from unseen.logic.formula import Constant, HasValue, Place, Variable
from unseen.logic.sparql.terms import kind_of
from unseen.logic.values.test_expressions import Both, Compare, Denied, Either, IsKind, Literal, Text, TextOf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.graph.names import Names
    from unseen.logic.formula import Term
    from unseen.logic.sparql.terms import Terms
    from unseen.logic.values.test_expressions import Expression, Operand

_LAYERS = (
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
)
_TEXT_TESTS = {
    "Builtin_STRSTARTS": "starts",
    "Builtin_STRENDS": "ends",
    "Builtin_CONTAINS": "contains",
    "Builtin_LANGMATCHES": "language",
}
_KINDS = {
    "Builtin_isLITERAL": "literal",
    "Builtin_isIRI": "iri",
    "Builtin_isURI": "iri",
    "Builtin_isBLANK": "blank",
    "Builtin_isNUMERIC": "numeric",
}
_PARTS = {"Builtin_STR": "STR", "Builtin_LANG": "LANG"}


class NotAValueTest(Exception):
    """A part of FILTER that says something about names only, or that is not answered."""


class ValueReader:
    """Reads values in one text; `attributes` are those of the graph, `relations` its relations."""

    def __init__(self, terms: Terms, attributes: Names | None, relations: Names | None) -> None:
        self.terms, self._attributes, self._relations = terms, attributes, relations
        self.variables: set[str] = set()
        self._objects: dict[str, str] = {}
        """By variable a name that leads to it."""
        self._known: dict[str, tuple[bool, bool]] = {}

    def note_variables(self, where: Any) -> None:
        """Find the variables that stand for values, wherever they are tested."""
        subjects: set[str] = set()
        doubtful: set[str] = set()
        for start, path, end in _triples(where):
            subjects.add(str(start))
            for name, target in self._ends(path, start, end):
                self._objects.setdefault(str(target), name)
                is_attribute, is_relation = self._is_attribute(name)
                if is_attribute and kind_of(target) == "Variable":
                    (doubtful if is_relation else self.variables).add(str(target))
        self.variables |= doubtful - subjects

    def has_value(self, name: str, end: Any, subject: Term, value: Term, place: Place) -> HasValue | None:
        """The value pattern that a triple is; None if its object is an entity."""
        literal = self.literal(end)
        if literal is not None and self._is_attribute(name)[0]:
            return HasValue(name, subject, literal, place)
        is_attribute, is_relation = self._is_attribute(name)
        if isinstance(value, Variable) and is_attribute and (value.name in self.variables or not is_relation):
            return HasValue(name, subject, value, place)
        return None

    def literal(self, node: Any) -> Literal | None:
        """The value that a node of the tree is; None if it is none."""
        match kind_of(node):
            case "Literal":
                return Literal(str(node), Tag(str(node.datatype)) if node.datatype else STRING)
            case "literal" if node.lang:
                return Literal(str(node.string), Tag(LANGUAGE_TYPE, str(node.lang).lower()))
            case "literal" if node.datatype:
                return Literal(str(node.string), Tag(self.terms.iri(node.datatype)))
            case "literal":
                return Literal(str(node.string))
            case "UnaryMinus" | "UnaryPlus":
                inner = self.literal(bare(node.expr))
                sign = "-" if kind_of(node) == "UnaryMinus" else ""
                return None if inner is None or inner.tag == STRING else Literal(sign + inner.text, inner.tag)
        return None

    def is_value_test(self, node: Any) -> bool:
        """Whether a test, without the signs && || !, is one of values."""
        kind = kind_of(node)
        if kind in _TEXT_TESTS or kind in _KINDS or kind == "Builtin_REGEX":
            return True
        if kind != "RelationalExpression" or not node.op:
            return False
        sides = [bare(node.expr), *(map(bare, node.other) if node.op in ("IN", "NOT IN") else [bare(node.other)])]
        return node.op in ("<", "<=", ">", ">=") or self._are_values(sides)

    def _are_values(self, sides: list[Any]) -> bool:
        if all(kind_of(side) == "Variable" for side in sides):
            return True
        typed = [self.literal(side) for side in sides]
        return any(
            (kind_of(side) == "Variable" and str(side) in self.variables)
            or kind_of(side) in _PARTS
            or (value is not None and value.tag.datatype != STRING_TYPE)
            for side, value in zip(sides, typed, strict=True)
        )

    def expression(self, node: Any) -> Expression:  # noqa: PLR0911 - a table
        """The test that a node of the tree is."""
        node = bare(node)
        kind = kind_of(node)
        match kind:
            case "ConditionalOrExpression":
                return Either(tuple(self.expression(part) for part in (node.expr, *node.other)))
            case "ConditionalAndExpression":
                return Both(tuple(self.expression(part) for part in (node.expr, *node.other)))
            case "UnaryNot":
                return Denied(self.expression(node.expr))
            case "RelationalExpression":
                return self._comparison(node)
            case "Builtin_REGEX":
                flags = self._constant(node.flags).text if node.flags else ""
                return Text("regex", self._text(node.text), self._constant(node.pattern), flags)
        if kind in _TEXT_TESTS:
            return Text(_TEXT_TESTS[kind], self._text(node.arg1), self._constant(node.arg2))
        if kind in _KINDS:
            return IsKind(_KINDS[kind], self._operand(node.arg))
        raise NotAValueTest

    def _comparison(self, node: Any) -> Expression:
        left = self._operand(node.expr)
        for side in (left, self._operand(node.other)) if node.op in ("<", "<=", ">", ">=") else ():
            self._require_values(side)
        if node.op in ("IN", "NOT IN"):
            parts = tuple(Compare("=", left, self._operand(option)) for option in node.other)
            return Either(parts) if node.op == "IN" else Denied(Either(parts))
        return Compare(str(node.op), left, self._operand(node.other))

    def _text(self, node: Any) -> Operand:
        """What a test of a text is about."""
        operand = self._operand(node)
        self._require_values(operand)
        return operand

    def _require_values(self, side: Operand) -> None:
        """Refuse a test of entities as if they were values, with the attributes that may have been meant."""
        if not isinstance(side, Variable) or side.name in self.variables:
            return
        reason = f"?{side.name} stands for entities, not for values"
        name = self._objects.get(side.name)
        if name is not None and self._attributes is not None and len(self._attributes):
            near = ", ".join(self._attributes.closest(name))
            closest = f", closest: {near}" if near else ""
            raise ValuesMissing(f"{reason}; {name} is not an attribute of the graph{closest}", name)
        if self._attributes is not None:
            reason += "; the graph has no values"
        raise ValuesMissing(reason, "")

    def _operand(self, node: Any) -> Operand:
        node = bare(node)
        kind = kind_of(node)
        if kind in _PARTS:
            return TextOf(_PARTS[kind], self._operand(node.arg))
        if kind == "Variable":
            return Variable(str(node))
        literal = self.literal(node)
        if literal is not None:
            return literal
        if kind in ("pname", "URIRef"):
            return Constant(self.terms.name(node))
        raise NotAValueTest

    def _constant(self, node: Any) -> Literal:
        literal = self.literal(bare(node))
        if literal is None:
            raise QueryRefused("a test of a text needs a text in quotation marks as its second part")
        return literal

    def _ends(self, path: Any, start: Any, end: Any) -> Iterator[tuple[str, Any]]:
        """The names of relations that lead to an end of a path, each with that end."""
        match kind_of(path):
            case "pname" | "URIRef":
                yield self.terms.name(path), end
            case "PathAlternative":
                for part in path.part:
                    yield from self._ends(part, start, end)
            case "PathSequence":
                yield from self._ends(path.part[-1], None if len(path.part) > 1 else start, end)
            case "PathEltOrInverse":
                yield from self._ends(path.part, end, start)
            case "PathElt" if not path.mod:
                yield from self._ends(path.part, start, end)

    def _is_attribute(self, name: str) -> tuple[bool, bool]:
        """Whether a name is that of an attribute, and whether it is that of a relation."""
        if self._attributes is None or not len(self._attributes):
            return False, True
        if name not in self._known:
            is_relation = self._relations is not None and self._relations.find_all([name])[0] >= 0
            self._known[name] = _has(self._attributes, name), bool(is_relation)
        return self._known[name]


def bare(node: Any) -> Any:
    """What an expression is without the layers of the grammar that say nothing."""
    while kind_of(node) in _LAYERS and not node.other:
        node = node.expr
    return node


def _has(names: Names, name: str) -> bool:
    return bool(names.find_all([name])[0] >= 0)


def _triples(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """All triple patterns below a node of the tree."""
    if kind_of(node) == "TriplesBlock":
        for terms in node.triples:
            parts = list(terms)
            yield from zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        return
    children = node.values() if isinstance(node, dict) else node if kind_of(node) in ("ParseResults", "list") else ()
    for child in children:
        yield from _triples(child)
