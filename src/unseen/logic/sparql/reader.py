"""From rdflib's parse tree of a SELECT to patterns over names.

The tree is read by the names of its nodes (`TriplesBlock`, `PathSequence`, `pname`, ...), which are those of the
grammar in the SPARQL 1.1 recommendation. It has no positions; the words of the text have, and each FILTER, MINUS, UNION
and VALUES is met in the order in which it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from unseen.errors import QueryRefused, QuerySyntaxError, ValuesMissing, shorten
from unseen.logic.formula import Atom, Constant, Equal, Formula, Place, Variable
from unseen.logic.sparql.order_by import order_of
from unseen.logic.sparql.patterns import (
    AllOf,
    AnyOf,
    Fact,
    Fails,
    Filter,
    Found,
    Group,
    Minus,
    Part,
    Passes,
    Test,
    Union,
    all_of,
    any_of,
    bound_by,
    denied,
    is_blank,
)
from unseen.logic.sparql.terms import Terms, kind_of
from unseen.logic.sparql.value_tests import NotAValueTest, ValueReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unseen.graph.names import Names
    from unseen.logic.formula import Term
    from unseen.logic.ordering import Ordering
    from unseen.logic.sparql.words import Token

    GraphNames = tuple[Names, Names]
    """Names of the attributes and of the relations of a graph."""

_OPERATIONS = {
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
}
_NAMES = ("pname", "URIRef", "literal", "Literal")
_REPETITIONS = {"+": "one or more steps", "*": "any number of steps", "?": "a step or none"}


@dataclass(frozen=True)
class Select:
    """A SELECT as written: the pattern, its answer variables, and how many answers are wanted."""

    group: Group
    answers: tuple[Variable, ...]
    limit: int | None
    order: tuple[Ordering, ...] = ()


def read_select(
    tree: Any, text: str, tokens: list[Token], namespaces: Mapping[str, str], names: GraphNames | None = None
) -> Select:
    """The SELECT of a parse tree; `namespaces` are prefixes that need no declaration, `names` those of the graph."""
    prologue, query = tree
    reader = _Reader(text, tokens, namespaces, names)
    for declaration in prologue:
        reader.terms.declare(declaration)
    reader.value_reader.note_variables(query.where)
    group = reader.group(query.where, Place())
    if query.valuesClause:
        group = Group((group, reader.values(query.valuesClause)), Place())
    order = order_of(query.orderby, lambda reason: reader.refuse(reason, reader.next_place("ORDER")))
    return Select(group, reader.answers(query.projection, group), _limit(query.limitoffset), order)


class _Reader:
    """Reads one parse tree."""

    def __init__(
        self, text: str, tokens: list[Token], namespaces: Mapping[str, str], names: GraphNames | None = None
    ) -> None:
        self.text, self.tokens = text, tokens
        self.terms = Terms(text, tokens, namespaces)
        self.ends: dict[int, Any] = {}
        """Nodes of the tree by the terms that they were read as."""
        self.value_reader = ValueReader(self.terms, *(names or (None, None)))
        self.places = {word: self.places_of(word) for word in ("SELECT", "FILTER", "MINUS", "UNION", "VALUES", "ORDER")}

    def refuse(self, reason: str, place: Place) -> NoReturn:
        raise QueryRefused(reason, text=self.text, position=place.position, place=place.shown)

    def places_of(self, word: str) -> Iterator[Place]:
        return (Place(token.position) for token in self.tokens if token.kind == "word" and token.text.upper() == word)

    def next_place(self, word: str) -> Place:
        return next(self.places[word], Place())

    def answers(self, projection: Any, group: Group) -> tuple[Variable, ...]:
        """The variables that are selected, or that are there to be selected by `*`."""
        if projection:
            names = list(dict.fromkeys(str(selected.var) for selected in projection))
        else:
            names = sorted(variable.name for variable in bound_by(group).sometimes)
        if not names:
            self.refuse("it has no answer variable", self.next_place("SELECT"))
        return tuple(Variable(name) for name in names)

    def group(self, node: Any, place: Place) -> Group:
        return Group(tuple(part for member in node.part or () for part in self.parts(member)), place)

    def parts(self, node: Any) -> Iterator[Part]:
        match kind_of(node):
            case "TriplesBlock":
                for terms in node.triples:
                    yield from self.triples(list(terms))
            case "GroupOrUnionGraphPattern":
                yield self.union(node.graph)
            case "MinusGraphPattern":
                place = self.next_place("MINUS")
                yield Minus(self.group(node.graph, place), place)
            case "Filter":
                place = self.next_place("FILTER")
                yield Filter(self.test(node.expr, place), place)
            case "InlineData":
                yield self.values(node)
            case other:
                self.refuse(f"{other} is not supported", Place())

    def union(self, nodes: list[Any]) -> Part:
        if len(nodes) == 1:
            return self.group(nodes[0], Place())
        first = self.group(nodes[0], Place())
        others: list[Group] = []
        for node in nodes[1:]:
            place = self.next_place("UNION")
            others.append(self.group(node, place))
        return Union((first, *others), others[0].place)

    def values(self, node: Any) -> Fact:
        """VALUES as a disjunction of rows, each a conjunction of equalities."""
        place = self.next_place("VALUES")
        variables = [Variable(str(variable)) for variable in node.var or ()]
        rows = [list(row) if kind_of(row) in ("ParseResults", "list") else [row] for row in node.value or ()]
        if not variables or not rows:
            self.refuse("VALUES without a value leaves no answer", place)
        if any(len(row) != len(variables) for row in rows):
            problem = "a row of VALUES must have one value for each variable"
            raise QuerySyntaxError(problem, text=self.text, position=place.position or 0)
        if values := {variable.name for variable in variables} & self.value_reader.variables:
            name = min(values)
            self.refuse(f"VALUES takes entities, and ?{name} stands for values: write FILTER(?{name} IN (1, 2))", place)
        return Fact(any_of([self.row(variables, row, place) for row in rows], place))

    def row(self, variables: list[Variable], row: list[Any], place: Place) -> Formula:
        pairs = zip(variables, row, strict=True)
        return all_of([Equal(variable, self.terms.constant(value), place) for variable, value in pairs], place)

    def triples(self, terms: list[Any]) -> Iterator[Fact]:
        """The triples of a list subject, path, object, subject, path, object, ..."""
        for start, path, end in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
            subject, target = self.terms.term(start), self.terms.term(end)
            place = Place(shown=f"`{_shown(subject)} {shorten(self.shown_path(path))} {_shown(target)}`")
            self.ends = {id(subject): start, id(target): end}
            yield Fact(self.link(subject, path, target, place))

    def link(  # noqa: PLR0911  # one for each kind of path
        self, start: Term, path: Any, end: Term, place: Place
    ) -> Formula:
        """That a path leads from `start` to `end`."""
        match kind_of(path):
            case "pname" | "URIRef":
                return self.step(self.terms.name(path), start, end, place)
            case "PathAlternative":
                return any_of([self.link(start, part, end, place) for part in path.part], place)
            case "PathSequence":
                return self.sequence(start, path.part, end, place)
            case "PathEltOrInverse":
                return self.link(end, path.part, start, place)
            case "PathElt" if not path.mod:
                return self.link(start, path.part, end, place)
            case "PathElt":
                return self.repeated(start, path, end, place)
            case "Variable":
                self.refuse("a variable cannot stand for a relation", place)
        return self.refuse("this path is not supported: a path is made of names and the signs / ^ |", place)

    def step(self, name: str, start: Term, end: Term, place: Place) -> Formula:
        """An edge, or a recorded value."""
        node = self.ends.get(id(end))
        return self.value_reader.has_value(name, node, start, end, place) or Atom(name, start, end, place)

    def repeated(self, start: Term, path: Any, end: Term, place: Place) -> Formula:
        """Several steps of one relation."""
        part = path.part
        while kind_of(part) in ("PathAlternative", "PathSequence") and len(part.part) == 1:
            part = part.part[0]
        if kind_of(part) == "PathEltOrInverse":
            start, end, part = end, start, part.part
        if kind_of(part) == "PathElt" and not part.mod:
            part = part.part
        if kind_of(part) not in ("pname", "URIRef"):
            sign = f"`{path.mod}` ({_REPETITIONS[path.mod]})"
            self.refuse(f"the path sign {sign} goes with one relation, like `:part_of{path.mod}`", place)
        return Atom(self.terms.name(part), start, end, place, str(path.mod))

    def sequence(self, start: Term, parts: list[Any], end: Term, place: Place) -> Formula:
        between = [self.terms.new_variable() for _ in parts[1:]]
        steps = zip([start, *between], parts, [*between, end], strict=True)
        return all_of([self.link(source, part, target, place) for source, part, target in steps], place)

    def test(self, node: Any, place: Place) -> Test:  # noqa: PLR0911 - a table
        """The test of a FILTER."""
        kind = kind_of(node)
        if kind in _OPERATIONS and not node.other:
            return self.test(node.expr, place)
        if self.value_reader.is_value_test(node):
            return self.value_test(node, place)
        match kind:
            case "ConditionalOrExpression" | "ConditionalAndExpression":
                tests = tuple(self.test(part, place) for part in (node.expr, *node.other))
                return AnyOf(tests) if kind == "ConditionalOrExpression" else AllOf(tests)
            case "RelationalExpression":
                return self.comparison(node, place)
            case "UnaryNot":
                return denied(self.test(node.expr, place))
            case "Builtin_EXISTS" | "Builtin_NOTEXISTS":
                found = Found(self.group(node.graph, place))
                return found if kind == "Builtin_EXISTS" else Fails(found)
        return self.refuse("this FILTER is not supported: it may compare a variable with a name or test EXISTS", place)

    def value_test(self, node: Any, place: Place) -> Test:
        try:
            return Passes(self.value_reader.expression(node))
        except NotAValueTest:
            reason = (
                "this FILTER is not supported: values are compared with values, texts with texts in quotation marks"
            )
        except ValuesMissing as error:
            raise ValuesMissing(error.reason, error.name, text=self.text, position=place.position) from None
        except QueryRefused as error:
            reason = error.reason
        return self.refuse(reason, place)

    def comparison(self, node: Any, place: Place) -> Test:
        left, right = _operand(node.expr), node.other
        if node.op in ("=", "!="):
            test: Test = self.equality(left, _operand(right), place)
        elif kind_of(right) == "URIRef":
            self.refuse("IN needs at least one name", place)
        else:
            test = AnyOf(tuple(self.equality(left, _operand(option), place) for option in right))
        return test if node.op in ("=", "IN") else Fails(test)

    def equality(self, left: Any, right: Any, place: Place) -> Equal:
        if kind_of(left) != "Variable":
            left, right = right, left
        if kind_of(left) != "Variable" or kind_of(right) not in _NAMES:
            self.refuse("FILTER may only compare a variable with a name", place)
        return Equal(Variable(str(left)), self.terms.constant(right), place)

    def shown_path(self, node: Any) -> str:
        match kind_of(node):
            case "PathAlternative" | "PathSequence":
                sign = "|" if kind_of(node) == "PathAlternative" else "/"
                shown = sign.join(self.shown_path(part) for part in node.part)
                return shown if len(node.part) == 1 else f"({shown})"
            case "PathEltOrInverse":
                return f"^{self.shown_path(node.part)}"
            case "PathElt":
                return f"{self.shown_path(node.part)}{node.mod or ''}"
            case "pname" | "URIRef":
                return self.terms.name(node)
            case "Variable":
                return f"?{node}"
        return "!(...)"


def _operand(node: Any) -> Any:
    """What a part of a comparison is about, if it is a single term."""
    while kind_of(node) in _OPERATIONS and not node.other:
        node = node.expr
    return node


def _limit(clauses: Any) -> int | None:
    """The number of a LIMIT; one beyond all counting is none."""
    digits = str(clauses.limit) if clauses else ""
    return int(digits) if 0 < len(digits) < 19 else None


def _shown(term: Term) -> str:
    if isinstance(term, Constant):
        return shorten(term.name)
    return term.name if is_blank(term) else f"?{term.name}"
