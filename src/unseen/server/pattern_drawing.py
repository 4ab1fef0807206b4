"""A question with several answer variables or cycles as a drawing; it has no sets on the way, so it has no steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.formula import (
    Atom,
    Conjunction,
    Constant,
    Disjunction,
    Equal,
    Exists,
    HasValue,
    Negation,
    Recorded,
    Test,
    Variable,
)
from unseen.logic.pattern import Pattern
from unseen.logic.resolving import KindNames, type_relation_of
from unseen.server.question_drawing import Drawing

if TYPE_CHECKING:
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.formula import Formula, Term
    from unseen.logic.outer_form import OuterForm


def drawing_of(
    graph: KnowledgeGraph, question: Query | Pattern | OuterForm, type_relation: str | None = None
) -> Drawing:
    """The drawing of a parsed question; a table has none."""
    if isinstance(question, Pattern):
        return _PatternDrawing(graph, question, type_relation).drawing
    return Drawing.of(graph, question, type_relation)  # type: ignore[arg-type]  # it refuses tables


class _PatternDrawing:
    """The parts of a pattern, drawn one after the other."""

    def __init__(self, graph: KnowledgeGraph, pattern: Pattern, type_relation: str | None) -> None:
        self.drawing, self._answers = Drawing(graph), set(pattern.names)
        self._names = KindNames(graph.vocabulary, type_relation_of(graph, type_relation))
        for variable in pattern.answers[: len(pattern.names)]:
            self._node(variable)
        self._draw(pattern.formula, negated=False, either=False)

    def _draw(self, formula: Formula, *, negated: bool, either: bool) -> None:
        status = {"negated": negated, "either": either}
        match formula:
            case Atom():
                relation = self._names.relation_id(formula.relation)
                ends = self._node(formula.subject), self._node(formula.object)
                self.drawing.link(relation, *ends, sign=formula.repeat, negated=negated, either=either)
            case Equal():
                ends = self._node(formula.constant), self._node(formula.variable)
                self.drawing.edges.append({"relation": "=", **status, "source": ends[0], "target": ends[1]})
            case Conjunction() | Disjunction():
                for part in formula.parts:
                    self._draw(part, negated=negated, either=either or isinstance(formula, Disjunction))
            case Negation():
                self._draw(formula.part, negated=not negated, either=either)
            case Exists():
                self._draw(formula.part, **status)
            case Recorded():
                self._recorded(formula, negated=negated)
            case HasValue(value=Variable() as value):
                ends = self._node(formula.subject), self._node(value)
                shown = {"relation": formula.attribute, **status, "source": ends[0], "target": ends[1]}
                self.drawing.edges.append(shown)
            case HasValue() | Test():
                pass  # said with the part that records it

    def _recorded(self, formula: Recorded, *, negated: bool) -> None:
        """A test of values, noted where it is about one thing."""
        text = " ".join(formula.written).strip()
        subjects = [part.subject for part in _parts(formula.part) if isinstance(part, HasValue)]
        if text and subjects:
            self.drawing.note(self._node(subjects[0]), text, negated=negated)
        else:
            self._draw(formula.part, negated=negated, either=False)

    def _node(self, term: Term) -> str:
        if isinstance(term, Constant):
            return self.drawing.thing(self._names.entity_id(term.name))
        node = {"id": term.name, "kind": "answer" if term.name in self._answers else "variable", "label": term.name}
        self.drawing.nodes.setdefault(term.name, node)
        return term.name


def _parts(formula: Formula) -> list[Formula]:
    """A formula and all that it is made of."""
    match formula:
        case Conjunction() | Disjunction():
            return [formula, *(one for part in formula.parts for one in _parts(part))]
        case Negation() | Exists() | Recorded():
            return [formula, *_parts(formula.part)]
    return [formula]
