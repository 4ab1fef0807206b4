"""A question as a drawing: its things and variables are nodes, its relations are edges.

The sets that a question is computed from are questions of their own, so each step of it can be asked like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unseen.asking.preparing import prepare
from unseen.logic.algebra import Anchor, And, Not, Or, Project, Query, unbind
from unseen.logic.text_writer import quoted, to_formula
from unseen.server.entity_edges import has_edge

if TYPE_CHECKING:
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
    anchors: list[int] = field(default_factory=list)
    """The entities that the question names."""

    @classmethod
    def of(cls, graph: KnowledgeGraph, question: str | Query) -> Drawing:
        """The drawing of a question, as text or parsed."""
        query = prepare(graph, question).query
        drawing = cls(graph)
        drawing.nodes[ANSWER] = {"id": ANSWER, "kind": "answer", "label": "answer"}
        drawing._draw(query, ANSWER, negated=False, either=False)
        drawing._note_steps(query, {})
        drawing.steps = drawing.steps[-MOST_STEPS:]
        return drawing

    def _draw(self, query: Query, target: str, *, negated: bool, either: bool) -> None:
        """Draw what a query says about the node `target`."""
        match query:
            case And():
                for part in query.parts:
                    self._draw(part, target, negated=negated, either=either)
            case Or():
                for part in query.parts:
                    self._draw(part, target, negated=negated, either=True)
            case Not():
                self._draw(query.part, target, negated=not negated, either=either)
            case Project(relation=int(directed)):
                source = self._source(query)
                relation, inverse = self.graph.vocabulary.relation_name(directed)
                edge = {"relation": relation, "negated": negated, "either": either, "directed": directed}
                ends = (target, source) if inverse else (source, target)
                self.edges.append(edge | {"source": ends[0], "target": ends[1], "from": source, "to": target})
                if not isinstance(query.source, Anchor):
                    self._draw(query.source, source, negated=negated, either=either)
            case Anchor(entity=int(entity)):
                same = {"relation": "=", "negated": negated, "either": either}
                self.edges.append(same | {"source": self._thing(entity), "target": target})

    def _source(self, step: Project) -> str:
        """The node that a step starts from."""
        if isinstance(step.source, Anchor) and isinstance(step.source.entity, int):
            return self._thing(step.source.entity)
        variable = step.variable or ANSWER
        self.nodes.setdefault(
            variable, {"id": variable, "kind": "variable", "label": variable, "question": self._text(step.source)}
        )
        return variable

    def _thing(self, entity: int) -> str:
        node = f"={entity}"
        name = self.graph.vocabulary.entity_name(entity)
        self.nodes.setdefault(node, {"id": node, "kind": "thing", "label": name, "entity": name})
        self.anchors.append(entity)
        return node

    def _text(self, query: Query) -> str | None:
        """A sub-question as a formula, or nothing if it only excludes."""
        if isinstance(query, Not) or (isinstance(query, And) and all(isinstance(part, Not) for part in query.parts)):
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
            return f"not {parts[0]}" if isinstance(query, Not) else " and ".join(parts)
        self.steps.append(QuestionStep(self._label(query, parts), text))
        places[query] = f"set {len(places) + 1}"
        return places[query]

    def _label(self, query: Query, parts: list[str]) -> str:
        match query:
            case Project(relation=int(directed)):
                relation, inverse = self.graph.vocabulary.relation_name(directed)
                return f"{relation} to {parts[0]}" if inverse else f"{relation} from {parts[0]}"
            case Or():
                return " or ".join(parts)
        return " and ".join(parts)

    def bound(self, entity: str | None, bindings: dict[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Nodes and edges with the values of one answer, and whether the graph has each edge."""
        values = {**bindings, **({} if entity is None else {ANSWER: entity})}
        nodes = [node | {"value": values.get(name, node.get("entity"))} for name, node in self.nodes.items()]
        ids = {node["id"]: self._id_of(node["value"]) for node in nodes}
        return nodes, [self._with_status(edge, ids) for edge in self.edges]

    def _id_of(self, name: str | None) -> int:
        return -1 if name is None else int(self.graph.vocabulary.entities.find_all([name])[0])

    def _with_status(self, edge: dict[str, Any], ids: dict[str, int]) -> dict[str, Any]:
        shown = {name: edge[name] for name in ("source", "target", "relation", "negated", "either")}
        if "directed" not in edge or min(ids[edge["from"]], ids[edge["to"]]) < 0:
            return shown | {"exists": None}
        return shown | {"exists": has_edge(self.graph, ids[edge["from"]], edge["directed"], ids[edge["to"]])}
