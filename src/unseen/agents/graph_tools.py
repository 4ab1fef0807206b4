"""The tools of an agent: plain data in and out, independent of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

from unseen.agents.advice import MOST_LISTED, direction_hints, working_question
from unseen.errors import QueryRefused, UnseenError
from unseen.graph.catalogue import may_tell_kinds
from unseen.logic.text_writer import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.agents.asked_graphs import AskedGraph, AskOptions
    from unseen.asking.answers import Answer, Answers

MOST_RELATIONS = 30
"""Relations that are described with an example."""
MOST_NAMES = 100
MOST_ANSWERS = 1000
MOST_SEARCHED = 200
"""Answers among which the one to be explained is looked for."""
MOST_FACTS = 10_000
"""Facts in one call."""


class GraphTools:
    """What an agent can do with one graph. Errors are `UnseenError`s."""

    def __init__(self, graph: AskedGraph) -> None:
        self.graph = graph

    def describe_graph(self) -> dict[str, Any]:
        """Counts, the most frequent relations with one fact each, and a question that works."""
        counts = self.graph.counts()
        return {
            "entities": counts.num_entities,
            "relations": counts.num_relations,
            "triples": counts.num_triples,
            "most_frequent_relations": [self._described(one) for one in self.graph.relations("", MOST_RELATIONS)],
            "example_question": working_question(self.graph),
        } | self._described_values()

    def find_names(self, text: str, kind: Literal["entity", "relation"], limit: int) -> list[dict[str, Any]]:
        """Names that contain a text."""
        count = _checked("limit", limit, MOST_NAMES)
        return (self.graph.entities if kind == "entity" else self.graph.relations)(text, count)

    def ask(
        self, question: str, top: int | None, explain: bool, exact: bool, **wishes: Unpack[AskOptions]
    ) -> dict[str, Any]:
        """The answers, known ones first, and hints where the graph knows none."""
        count = None if top is None else _checked("top", top, MOST_ANSWERS)
        answers = self.graph.ask(question, top=count, explain=explain, exact=exact, **wishes)
        hints = [] if answers.known else direction_hints(self.graph, question)
        return answers.as_json() | ({"hints": hints} if hints else {})

    def score(self, statement: str, explain: bool, type_relation: str | None = None) -> dict[str, Any]:
        """How likely a statement is, and whether the graph knows it."""
        return self.graph.score(statement, explain=explain, type_relation=type_relation).as_json()

    def explain(self, question: str, entity: str, type_relation: str | None = None) -> dict[str, Any]:
        """Why one entity is an answer, in sentences and as data."""
        rank = _rank_of(entity, self.graph.ask(question, top=MOST_SEARCHED, type_relation=type_relation))
        explained = self.graph.ask(question, top=rank, explain=True, type_relation=type_relation)
        plain: dict[str, Any] = explained.as_json()["answers"][rank - 1]
        return {"question": question, "why": _sentences(explained[rank - 1]), **plain}

    def add_facts(self, facts: Sequence[Sequence[str]]) -> dict[str, int]:
        """Add facts by name, all or none; a name that is new becomes a new thing."""
        if not 0 < len(facts) <= MOST_FACTS:
            raise UnseenError(f"give 1 to {MOST_FACTS:,} facts in one call, not {len(facts):,}")
        wrong = next((fact for fact in facts if len(fact) != 3 or not all(fact)), None)
        if wrong is not None:
            raise UnseenError(f'a fact is three names like ["France", "borders", "Spain"], not {list(wrong)!r}')
        added = self.graph.add([(head, relation, tail) for head, relation, tail in facts])
        return {"added": added, "unchanged": len(facts) - added}

    def _described_values(self) -> dict[str, Any]:
        """Attributes and the relations that may tell kinds, where there are any."""
        attributes = self.graph.attributes()
        kinds = [one["name"] for one in self.graph.relations("", MOST_LISTED) if may_tell_kinds(one["iri"])]
        return ({"attributes": attributes} if attributes else {}) | ({"kinds_told_by": kinds} if kinds else {})

    def _described(self, relation: dict[str, Any]) -> dict[str, Any]:
        fact = self.graph.fact_of(relation)
        example = None if fact is None else f"{quoted(fact[1])}({quoted(fact[0])}, {quoted(fact[2])})"
        return {"name": relation["name"], "triples": relation["triples"], "example": example}


def _checked(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise UnseenError(f"{name} must be 1 to {most:,}, not {value}")
    return value


def _rank_of(entity: str, answers: Answers) -> int:
    """The rank of an entity by its name or key; that it is none of the answers is an error."""
    wanted = entity.strip("<>")
    for answer in answers:
        if wanted in (answer.entity, answer.key):
            return answer.rank
    shown = ", ".join(answer.entity for answer in answers[:5]) or "none"
    reason = f"{entity!r} is not among its {len(answers):,} likeliest answers; the first are: {shown}"
    raise QueryRefused(f"{reason}. Give the name as `ask` shows it")


def _sentences(answer: Answer) -> list[str]:
    proof = ", ".join(f"{relation}({head}, {tail})" for head, relation, tail in answer.edges)
    known = [f"the graph says so: {proof}"] if proof else []
    return known + [str(reason) for reason in answer.reasons if reason.kind != "known"]
