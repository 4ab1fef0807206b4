"""A question as a drawing: its things and variables are nodes, its relations are edges.

The sets that a question is computed from are questions of their own, so each step of it can be asked like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unseen.asking.preparing import lookup_for, parse
from unseen.errors import QueryRefused, QuestionTooLarge
from unseen.logic.algebra import Anchor, And, Anything, Loop, Not, Or, Project, Query, Repeat, Valued, bind, unbind
from unseen.logic.resolving import KindNames, type_relation_of
from unseen.logic.text_writer import quoted, to_formula
from unseen.logic.variables import with_variables
from unseen.server.entity_edges import has_edge
from unseen.server.values_on_the_way import values_on_the_way

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.graph import KnowledgeGraph

ANSWER = "?"
"""The node of the answer."""
MOST_STEPS = 12
"""Sets that are shown of one question."""


@dataclass(frozen=True)
class QuestionStep:
    """One set on the way to the answer."""

    label: str
    """What is done, in terms of the steps before."""
    question: str
    """The formula of the set."""


@dataclass
class Drawing:
    """Nodes, edges and steps of one question on one graph."""

    graph: KnowledgeGraph
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[dict[str, Any]] = field(default_factory=list)
    steps: list[QuestionStep] = field(default_factory=list)
    query: Query | None = None
    """The question with ids, where it is a tree."""

    @classmethod
    def of(cls, graph: KnowledgeGraph, question: str | Query, type_relation: str | None = None) -> Drawing:
        """The drawing of a question that is a tree, as text or parsed."""
        parsed = parse(question, graph)[0] if isinstance(question, str) else question
        if not isinstance(parsed, Query):
            raise QueryRefused("counts and tables are not drawn: ask for what they are made of")
        names = KindNames(lookup_for(graph, [parsed]), type_relation_of(graph, type_relation), graph.attributes.names)
        query = bind(with_variables(parsed, answer=""), names.entity_id, names.relation_id)
        drawing = cls(graph, query=query)
        drawing.nodes[ANSWER] = {"id": ANSWER, "kind": "answer", "label": "answer"}
        drawing._draw(query, ANSWER, negated=False, either=False)
        drawing._note_steps(query, {})
        drawing.steps = drawing.steps[-MOST_STEPS:]
        return drawing

    def thing(self, entity: int) -> str:
        """The node of an entity that the question names."""
        node = f"={entity}"
        name = self.graph.vocabulary.entity_name(entity)
        self.nodes.setdefault(node, {"id": node, "kind": "thing", "label": name, "entity": name})
        return node

    def link(self, directed: int, start: str, end: str, *, sign: str = "", negated: bool, either: bool) -> None:
        """An edge between two nodes, drawn in the direction of its relation."""
        relation, inverse = self.graph.vocabulary.relation_name(directed)
        ends = (end, start) if inverse else (start, end)
        edge = {"relation": relation + sign, "directed": directed, "from": start, "to": end, "repeated": bool(sign)}
        status = {"negated": negated, "either": either}
        self.edges.append(edge | status | {"source": ends[0], "target": ends[1]})

    def note(self, node: str, text: str, *, negated: bool = False) -> None:
        """Something that a node must be, such as `population > 20`."""
        self.nodes[node].setdefault("tests", []).append(f"not {text}" if negated else text)

    def _draw(self, query: Query, target: str, *, negated: bool, either: bool) -> None:
        """Draw what a query says about the node `target`."""
        match query:
            case And() | Or():
                for part in query.parts:
                    self._draw(part, target, negated=negated, either=either or isinstance(query, Or))
            case Not():
                self._draw(query.part, target, negated=not negated, either=either)
            case Project(relation=int(directed)) | Repeat(relation=int(directed)):
                source = self._source(query)
                sign = query.sign if isinstance(query, Repeat) else ""
                self.link(directed, source, target, sign=sign, negated=negated, either=either)
                if not isinstance(query.source, Anchor):
                    self._draw(query.source, source, negated=negated, either=either)
            case Loop(relation=int(directed)):
                self.link(directed, target, target, negated=negated, either=either)
            case Valued():
                self.note(target, " ".join(query.part.written).strip() or "a test of values", negated=negated)
            case Anchor(entity=int(entity)):
                same = {"relation": "=", "negated": negated, "either": either}
                self.edges.append(same | {"source": self.thing(entity), "target": target})

    def _source(self, step: Project | Repeat) -> str:
        """The node that a step starts from."""
        if isinstance(step.source, Anchor) and isinstance(step.source.entity, int):
            return self.thing(step.source.entity)
        variable = step.variable or ANSWER
        self.nodes.setdefault(
            variable, {"id": variable, "kind": "variable", "label": variable, "question": self._text(step.source)}
        )
        return variable

    def _text(self, query: Query) -> str | None:
        """A sub-question as a formula; nothing if it only excludes, or cannot be written."""
        if isinstance(query, Not) or (isinstance(query, And) and all(isinstance(part, Not) for part in query.parts)):
            return None
        if isinstance(query, Anything) or (isinstance(query, Valued) and not query.part.written[0]):
            return None
        vocabulary = self.graph.vocabulary
        return to_formula(unbind(query, vocabulary.entity_name, vocabulary.relation_name))

    def _note_steps(self, query: Query, places: dict[Query, str]) -> str:
        """Note the sets that a query is computed from, inner ones first; its own is known by a number."""
        if isinstance(query, Anchor) and isinstance(query.entity, int):
            return quoted(self.graph.vocabulary.entity_name(query.entity))
        if query in places:
            return places[query]
        parts = [self._note_steps(child, places) for child in query.children]
        text = self._text(query)
        if text is None:  # a complement, or several: everything else, which is no set to show
            return f"not {parts[0]}" if isinstance(query, Not) else " and ".join(parts) or _plain(query)
        self.steps.append(QuestionStep(self._label(query, parts), text))
        places[query] = f"set {len(places) + 1}"
        return places[query]

    def _label(self, query: Query, parts: list[str]) -> str:
        match query:
            case Project(relation=int(directed)) | Repeat(relation=int(directed)):
                relation, inverse = self.graph.vocabulary.relation_name(directed)
                sign = query.sign if isinstance(query, Repeat) else ""
                return f"{relation}{sign} {'to' if inverse else 'from'} {parts[0]}"
            case Loop(relation=int(directed)):
                return f"{self.graph.vocabulary.relation_name(directed)[0]} to itself"
            case Or():
                return " or ".join(parts)
        return " and ".join(parts) or _plain(query)

    def bound(self, values: Mapping[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Nodes and edges with the values of one answer by node, and whether the graph has each edge."""
        nodes = [node | {"value": values.get(name, node.get("entity"))} for name, node in self.nodes.items()]
        ids = {node["id"]: self._id_of(node["value"]) for node in nodes}
        return nodes, [self._with_status(edge, ids) for edge in self.edges]

    def values_of(self, answer: Mapping[str, Any]) -> dict[str, str]:
        """The values of an answer by node."""
        shown = answer.get("values") or {}
        return {**answer["bindings"], **(shown or dict.fromkeys(self.answers, answer["entity"]))}

    def questions_on_the_way(self, answer: str) -> dict[str, str]:
        """By inner variable, the question for the values that it can have if `answer` is the answer."""
        entity = self._id_of(answer)
        if self.query is None or entity < 0:
            return {}
        try:
            wanted = values_on_the_way(self.query, entity)
        except QuestionTooLarge:
            return {}
        texts = {variable: self._text(query) for variable, query in wanted.items() if variable in self.nodes}
        return {variable: text for variable, text in texts.items() if text is not None}

    @property
    def answers(self) -> list[str]:
        """The nodes of the answer variables."""
        return [name for name, node in self.nodes.items() if node["kind"] == "answer"]

    def _id_of(self, name: str | None) -> int:
        return -1 if name is None else int(self.graph.vocabulary.entities.find_all([name])[0])

    def _with_status(self, edge: dict[str, Any], ids: dict[str, int]) -> dict[str, Any]:
        shown = {name: edge[name] for name in ("source", "target", "relation", "negated", "either")}
        if "directed" not in edge or edge["repeated"] or min(ids[edge["from"]], ids[edge["to"]]) < 0:
            return shown | {"exists": None}
        return shown | {"exists": has_edge(self.graph, ids[edge["from"]], edge["directed"], ids[edge["to"]])}


def _plain(query: Query) -> str:
    """A part without a relation, in words."""
    return " ".join(query.part.written).strip() or "a test of values" if isinstance(query, Valued) else "anything"
