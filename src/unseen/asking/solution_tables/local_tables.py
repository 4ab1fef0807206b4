"""Tables on a graph in memory: the steps ask the method, and a store with the relations that they name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unseen.asking.answers import DEFAULT_TOP
from unseen.asking.preparing import prefixes_of, prepare
from unseen.asking.solution_tables.solving import solved
from unseen.asking.solution_tables.wanted import ExactRows, Predicted, Wishes
from unseen.database.relation_store import RelationStore
from unseen.logic.sparql.parse import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.asking.answers import Answers, Question
    from unseen.graph import KnowledgeGraph
    from unseen.logic.outer_form import OuterForm

    AskAll = Callable[[Sequence[Question], bool], list[Answers]]
    """Answers to questions; only known ones if that is said."""


def table_answers(
    graph: KnowledgeGraph, question: Question, form: OuterForm, ask_all: AskAll, method_name: str, *, exact: bool
) -> Answers:
    """The table that a question asks for."""
    store = RelationStore(graph, NAMESPACES | prefixes_of(graph))
    top = None if question.top == DEFAULT_TOP and form.limit is not None else question.top
    wishes = Wishes(method_name, graph, graph.vocabulary.entities, top, question.predicted_only, exact)
    steps = solved(form, wishes)
    result: Any = None
    try:
        while True:
            wanted = steps.send(result)
            if isinstance(wanted, ExactRows):
                result = store.rows(wanted.text)
            else:
                asked = [wanted] if isinstance(wanted, Predicted) else wanted
                questions = [_question(graph, form, one) for one in asked]
                found = ask_all(questions, exact or asked[0].exact)
                result = found[0] if isinstance(wanted, Predicted) else found
    except StopIteration as stop:
        answers: Answers = stop.value
        return replace(answers, warnings=tuple(dict.fromkeys([*question.warnings, *answers.warnings])))


def _question(graph: KnowledgeGraph, form: OuterForm, wanted: Predicted) -> Question:
    asked = form.core.question(wanted.answers, dict(wanted.values))
    return prepare(graph, asked, top=wanted.top, predicted_only=wanted.predicted_only)
