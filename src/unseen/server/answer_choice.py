"""Which answers of a question are wanted: known, predicted or new ones, one kind of thing, in which order.

The page writes these into its address, so that the same address gives the same answers as data and as files.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from unseen.errors import UnknownName
from unseen.logic.algebra import Anchor, walk
from unseen.logic.formula import constants_of
from unseen.logic.outer_form import OuterForm
from unseen.logic.pattern import Pattern
from unseen.server.answer_kinds import kinds_of
from unseen.server.entity_edges import related_to
from unseen.server.predicting import MOST_ANSWERS, Asked
from unseen.server.problems import bad_request

if TYPE_CHECKING:
    from unseen.asking.answers import Answer, Answers
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.server.requests import Parameters

Show = Literal["all", "known", "predicted", "new"]
Order = Literal["rank", "name", "unlikely"]
FLAGS = ("explain", "predicted_only", "exact", "all_predictions")


@dataclass(frozen=True)
class AnswerChoice:
    """What is wanted of the answers to a question."""

    show: str = "all"
    """New ones are predicted, and in no way related yet to what the question names."""
    kind: str = ""
    order: str = "rank"

    @classmethod
    def of(cls, parameters: Parameters) -> AnswerChoice:
        """The choice that an address says."""
        show, order = parameters.single("show") or "all", parameters.single("order") or "rank"
        for name, value, allowed in (("show", show, get_args(Show)), ("order", order, get_args(Order))):
            if value not in allowed:
                raise bad_request(f"the parameter {name!r} is one of {', '.join(allowed)}")
        return cls(show, parameters.single("kind") or "", order)

    def asked(self, question: str, parameters: Parameters) -> Asked:
        """The question as it has to be asked for this choice."""
        flags: dict[str, Any] = {name: parameters.flag(name) for name in FLAGS}
        flags["exact"] |= self.show == "known"
        flags["predicted_only"] |= self.show in ("predicted", "new")
        return replace(asked_of(question, parameters), **flags)

    def applied(
        self, graph: KnowledgeGraph, query: Query | Pattern | OuterForm, answers: Answers
    ) -> tuple[Answers, list[dict[str, Any]]]:
        """The answers that are wanted, and of each its kinds and whether it is related to what the question names."""
        ids = graph.vocabulary.entities.find_keys([answer.key for answer in answers]).tolist()
        related = related_to(graph, _named(query, graph))
        said = [
            {"kinds": kinds, "related": bool(entity >= 0 and related[entity])}
            for entity, kinds in zip(ids, kinds_of(graph, ids), strict=True)
        ]
        pairs = [pair for pair in zip(answers, said, strict=True) if self._fits(pair[1])]
        if self.order != "rank":
            pairs.sort(key=lambda pair: self._place(pair[0]))
        return replace(answers, answers=tuple(answer for answer, _ in pairs)), [about for _, about in pairs]

    def _fits(self, about: dict[str, Any]) -> bool:
        is_kind = not self.kind or self.kind in about["kinds"]
        return is_kind and not (self.show == "new" and about["related"])

    def _place(self, answer: Answer) -> tuple[float, str]:
        return (0.0, answer.entity) if self.order == "name" else (answer.probability, answer.entity)


def asked_of(question: str, parameters: Parameters) -> Asked:
    """A question with what an address says of its meaning: how many answers, who may be one, in which order."""
    texts = {"type_relation": "type_relation", "kind": "answers_like", "order_by": "order_by"}
    wishes: dict[str, Any] = {name: parameters.single(given) or None for name, given in texts.items()}
    top = parameters.number("top", 1, MOST_ANSWERS)
    return Asked(question, top, predict_values=parameters.flag("predict_values"), **wishes)


def _named(query: Query | Pattern | OuterForm, graph: KnowledgeGraph) -> list[int]:
    """The entities that a question names."""
    if isinstance(query, OuterForm):
        return _named(query.core.question(query.needed, {}), graph)
    if isinstance(query, Pattern):
        names = {constant.name for constant in constants_of(query.formula)}
    else:
        names = {node.entity for node in walk(query) if isinstance(node, Anchor) and isinstance(node.entity, str)}
    found: list[int] = []
    for name in sorted(names):
        with suppress(UnknownName):  # an ambiguous one, or one that is no entity
            found.append(graph.vocabulary.entities.find(name, suggest=False))
    return found
