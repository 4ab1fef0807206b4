"""The readable syntax: `?u : exists v . win(NobelPrize, v) & citizen(USA, v) & graduate(v, u)`.

```
question  ?x : formula        ?x, y : formula        formula with ?x
formula   formula | formula        formula & formula        ! formula        exists v, w . formula        ( formula )
          relation(term, term)     relation+(term, term)     term = term     term != term     term a Kind
          attribute(term) sign value     attribute(term) sign attribute(term)
term      a declared variable, else the name of an entity
sign      = != < <= > >= ~ !~ ~* !~*          value      1000     1900-01-01     true     "text"
```
Unicode signs ∃ ∧ ∨ ¬ are the same as `exists & | !`. A name with spaces or signs is quoted: `speaks(x, "Low Saxon")`;
a full IRI stands in angle brackets. A quoted word is always a name, never a variable.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.algebra import MAX_DEPTH
from unseen.logic.formula import (
    TYPE,
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Exists,
    Formula,
    Negation,
    Place,
    Test,
    Variable,
)
from unseen.logic.pattern import Pattern, query_or_pattern
from unseen.logic.tree import to_query
from unseen.logic.values.test_expressions import Compare, Literal
from unseen.logic.values.written import EXAMPLES, SIGN, compared, literal_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.logic.algebra import Query
    from unseen.logic.formula import Term

_SPACE = re.compile(r"\s*")
_VARIABLE = re.compile(r"\??([^\W\d]\w*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_IRI = re.compile(r"<([^<>\s]*)>")
_PLAIN = r"[^\s(),&|!~=<>\"?¬∧∨∃:.'\\]"
BARE_NAME = re.compile(rf"(?::(?={_PLAIN}))?{_PLAIN}(?:{_PLAIN}|[:.'](?={_PLAIN}|[:.]))*")
_EXISTS = re.compile(r"∃|exists(?!\w)(?!\s*\()", re.IGNORECASE)
_KIND = re.compile(r"a(?=\s)")
_EQUALITY = re.compile(r"!?=|≠")
_REPEAT = re.compile(r"([+*?])(?=\s*\()")
_NOT = re.compile(r"[!~¬]")
_AND = re.compile(r"&&?|∧")
_OR = re.compile(r"\|\|?|∨")
LONGEST_REMEMBERED = 1000
"""Characters of a question that is kept with its query."""


def parse_formula(text: str) -> Query:
    """The query of a question in readable syntax, with names; errors show the place with a caret.

    A short text is parsed only once, as long as not too many others come between.
    """
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _parsed(text)


def _parsed(text: str) -> Query:
    formula, answers = _Parser(text).question()
    if len(answers) > 1:
        reason = f"it has several answer variables: {', '.join(f'?{answer.name}' for answer in answers)}"
        raise QueryRefused(reason, text=text, position=0)
    return to_query(formula, answers[0], text)


_remembered = lru_cache(maxsize=2048)(_parsed)


def parse_answers(text: str) -> tuple[Formula, tuple[Variable, ...]]:
    """The formula of a question, and its answer variables."""
    return _Parser(text).question()


def parse_question(text: str) -> Query | Pattern:
    """The query of a question, or its pattern if it has several answer variables, or is not a tree."""
    return _remembered_question(text) if len(text) <= LONGEST_REMEMBERED else _parsed_question(text)


def _parsed_question(text: str) -> Query | Pattern:
    formula, answers = _Parser(text).question()
    return query_or_pattern(Pattern(formula, answers, text))


_remembered_question = lru_cache(maxsize=2048)(_parsed_question)


def parse_closed(text: str) -> Formula:
    """A formula without an answer variable, like `borders(France, Spain)`: something that holds or does not."""
    return _Parser(text).closed()


class _Parser:
    """A recursive-descent parser that reads `text` from `position` on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0
        self.scopes: dict[str, list[Variable]] = {}
        self.undeclared: list[Variable] | None = None
        """The variables written with `?` in a question that does not declare its answers."""
        self.skip_space()

    def question(self) -> tuple[Formula, tuple[Variable, ...]]:
        if not self.text.startswith("?", self.position):
            return self.without_head()
        answers = [self.declare()]
        while self.take(","):
            answers.append(self.declare())
            if answers[-1].name in {answer.name for answer in answers[:-1]}:
                self.fail(f"?{answers[-1].name} is an answer variable already")
        self.expect(":", "`:` after the answer variable" + ("s" if len(answers) > 1 else ""))
        formula = self.disjunction()
        if self.position < len(self.text):
            self.fail("expected `&`, `|` or the end of the question")
        return formula, tuple(answers)

    def without_head(self) -> tuple[Formula, tuple[Variable, ...]]:
        """A question that does not declare its answers: they are the variables that are written with `?`."""
        start, self.undeclared = self.position, []
        problem = "a question starts with its answer variable, as in `?x : ...`"
        try:
            formula = self.disjunction()
            if self.position < len(self.text):
                self.fail("expected `&`, `|` or the end of the question")
        except QuerySyntaxError:
            if self.undeclared:
                raise
            self.fail(problem, start)
        if not self.undeclared:
            self.fail(f"{problem}; `unseen score` says how likely a statement is", start)
        return formula, tuple(self.undeclared)

    def closed(self) -> Formula:
        if self.text.startswith("?", self.position):
            self.fail("a statement has no answer variable: leave out `?x :`, or ask for answers with `ask`")
        formula = self.disjunction()
        if self.position < len(self.text):
            self.fail("expected `&`, `|` or the end of the statement")
        return formula

    def disjunction(self) -> Formula:
        return self.sequence(self.conjunction, _OR, Disjunction)

    def conjunction(self) -> Formula:
        return self.sequence(self.unary, _AND, Conjunction)

    def sequence(
        self, part: Callable[[], Formula], sign: re.Pattern[str], node: type[Conjunction | Disjunction]
    ) -> Formula:
        place = self.place()
        parts = [part()]
        while self.take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else node(tuple(parts), place)

    def unary(self) -> Formula:
        place = self.place()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            reason = f"it is nested deeper than {MAX_DEPTH} levels"
            raise QueryRefused(reason, text=self.text, position=place.position)
        formula = self.operand(place)
        self.depth -= 1
        return formula

    def operand(self, place: Place) -> Formula:
        if self.take(_NOT):
            return Negation(self.unary(), place)
        if self.take(_EXISTS):
            return self.exists(place)
        if self.take("("):
            formula = self.disjunction()
            self.expect(")", "`)`")
            return formula
        return self.atom(place)

    def exists(self, place: Place) -> Formula:
        variables = [self.declare()]
        while not self.take("."):
            self.take(",")
            if not _VARIABLE.match(self.text, self.position):
                self.fail("expected a variable, or `.` after the variables of `exists`")
            variables.append(self.declare())
        formula = self.disjunction()
        for variable in variables:
            self.scopes[variable.name].pop()
        return Exists(tuple(variables), formula, place)

    def declare(self) -> Variable:
        match = _VARIABLE.match(self.text, self.position)
        if match is None:
            self.fail("expected a variable")
        variable = Variable(match.group(1), self.position)
        self.advance(match.end())
        self.scopes.setdefault(variable.name, []).append(variable)
        return variable

    def atom(self, place: Place) -> Formula:
        start = self.position
        name, is_name = self.name("a relation like `borders(France, x)`, `!`, `exists` or `(`")
        name, repeat = self.repetition(name, is_name)
        if self.take("("):
            subject = self.term()
            if self.take(")"):
                return self.comparison(name, subject, place)
            self.expect(",", "`,` between the two ends of a relation")
            target = self.term()
            self.expect(")", "`)` after the two ends of a relation")
            return Atom(name, subject, target, place, repeat)
        if self.take(_KIND):
            return Atom(TYPE, self.resolve(name, is_name, start), self.term(), place)
        sign = _EQUALITY.match(self.text, self.position)
        if sign is None:
            self.fail(f"expected `(` after the relation {name!r}, or `=`, `!=` or `a` after a variable")
        self.advance(sign.end())
        left = self.resolve(name, is_name, start)
        return self.equality(left, self.term(), place, is_equal=sign.group() == "=")

    def comparison(self, attribute: str, subject: Term, place: Place) -> Formula:
        """The comparison after `population(x)`."""
        match = SIGN.match(self.text, self.position)
        if match is None:
            self.fail(f"expected a comparison like `{attribute}(x) > 1000`, or a second end like `{attribute}(x, y)`")
        self.advance(match.end())
        return compared(attribute, subject, match.group(), self.value("~" in match.group()), place)

    def value(self, is_pattern: bool) -> Literal | tuple[str, Term]:
        """A value that is compared, or an attribute and whose it is."""
        found = None if is_pattern else literal_at(self.text, self.position)
        if found is not None:
            self.advance(found[1])
            return found[0]
        start, is_quoted = self.position, self.text.startswith('"', self.position)
        expected = "a pattern in quotation marks" if is_pattern else f"a value: {EXAMPLES}"
        name, _ = self.name(expected)
        if is_pattern or not self.take("("):
            if is_quoted:
                return Literal(name)
            self.fail(f"expected {expected}", start)
        term = self.term()
        self.expect(")", "`)`: an attribute has one argument")
        return name, term

    def repetition(self, name: str, is_name: bool) -> tuple[str, str]:
        """A relation without the sign at its end that says how many steps are meant, and that sign."""
        if match := _REPEAT.match(self.text, self.position):
            self.advance(match.end())
            return name, match.group(1)
        is_repeated = not is_name and len(name) > 1 and name[-1] in "+*" and self.text.startswith("(", self.position)
        return (name[:-1], name[-1]) if is_repeated else (name, "")

    def equality(self, left: Term, right: Term, place: Place, *, is_equal: bool) -> Formula:
        if isinstance(left, Constant):
            left, right = right, left
        if isinstance(left, Constant):
            self.fail("`=` and `!=` stand between variables, or a variable and the name of an entity", place.position)
        if isinstance(right, Variable):
            return Test(Compare("=" if is_equal else "!=", left, right), place)
        same = Equal(left, right, place)
        return same if is_equal else Negation(same, place)

    def term(self) -> Term:
        start = self.position
        return self.resolve(*self.name("a variable or the name of an entity"), start)

    def resolve(self, name: str, is_name: bool, start: int) -> Term:
        """A declared variable, the innermost of its name, else a constant."""
        if not is_name and self.scopes.get(name):
            return self.scopes[name][-1]
        if self.text[start] == "?" and self.undeclared is not None:
            variable = Variable(name, start)
            self.undeclared.append(variable)
            self.scopes.setdefault(name, []).append(variable)
            return variable
        if self.text[start] == "?":
            self.fail(f"the variable ?{name} is not declared: write `exists {name} .` before it is used", start)
        return Constant(name)

    def name(self, expected: str) -> tuple[str, bool]:
        """A name or variable, and whether it was quoted, so that it cannot be a variable."""
        text, start = self.text, self.position
        if match := _QUOTED.match(text, start):
            self.advance(match.end())
            return re.sub(r"\\(.)", r"\1", match.group(1), flags=re.DOTALL), True
        if text[start : start + 1] == '"':
            self.fail("this quotation mark is never closed")
        if match := _IRI.match(text, start):
            self.advance(match.end())
            return match.group(), True
        match = _VARIABLE.match(text, start) if text[start : start + 1] == "?" else BARE_NAME.match(text, start)
        if match is None:
            self.fail(f"expected {expected}")
        self.advance(match.end())
        return match.group().removeprefix("?"), False

    def take(self, sign: str | re.Pattern[str]) -> bool:
        """Whether `sign` comes next; if so it is consumed."""
        pattern = re.compile(re.escape(sign)) if isinstance(sign, str) else sign
        match = pattern.match(self.text, self.position)
        if match:
            self.advance(match.end())
        return match is not None

    def expect(self, sign: str, described: str) -> None:
        if not self.take(sign):
            self.fail(f"expected {described}")

    def advance(self, position: int) -> None:
        self.position = position
        self.skip_space()

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def place(self) -> Place:
        return Place(self.position)

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        position = self.position if position is None else position
        found = "" if position < len(self.text) else ", but the question ends here"
        raise QuerySyntaxError(problem + found, text=self.text, position=position)


def is_keyword(name: str) -> bool:
    """Whether a bare word would be read as part of the syntax rather than as a name."""
    return _EXISTS.fullmatch(name) is not None
