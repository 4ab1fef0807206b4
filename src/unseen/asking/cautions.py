"""Warnings beside answers: relations that cannot be predicted in a graph, found out by hiding facts of them.

One question decides: `Cautions.verdict(graph, directed relation)`. A verdict of rules costs some walks. One of a model
takes a few questions to it, so it is only made on small graphs, and only where rules, if the model has any, find
nothing. Verdicts are kept as long as the number of a relation's facts stays about the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from unseen.evaluation.predictability import LEAST_TRIED, NO_VERDICT, TRIED, Verdict, chance_of, measured_verdict
from unseen.graph.vocabulary import is_inverse, undirected_relation
from unseen.logic.algebra import Not, Project, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unseen.asking.answers import Answers
    from unseen.graph import KnowledgeGraph
    from unseen.logic.protocols import Estimator
    from unseen.rules.rule_set import Rules

UNJUDGED = ("exact", "edge-type", "path-counts")
"""Methods without warnings: one predicts nothing, the other is a baseline that users name on purpose."""
MOST_TRIPLES = 100_000
"""Triples of the largest graph on which a model is asked about hidden facts."""
MOST_RELATIONS = 4
"""Relations of one question that are judged."""
CHANGE = 0.1
"""By which share the facts of a relation may grow or shrink before it is judged anew."""
RULES = "rules"


class Cautions:
    """Verdicts about the relations of one graph, or of one that grows, for one method."""

    def __init__(self, method: Any, name: str) -> None:
        self.method, self.name = method, name
        self._known: dict[int, tuple[int, Verdict]] = {}

    def applied(self, answers: Answers, query: Query, graph: KnowledgeGraph) -> Answers:
        """The same answers with warnings; without predictions if all relations they need cannot be predicted."""
        if self.name in UNJUDGED or all(answer.known for answer in answers):
            return answers
        needed = list(dict.fromkeys(_needed(query)))[:MOST_RELATIONS]
        verdicts = {directed: self.verdict(graph, directed) for directed in needed}
        poor = {directed: verdict for directed, verdict in verdicts.items() if verdict.is_at_chance}
        if not poor:
            return answers
        is_silenced = len(poor) == len(needed)
        warnings = tuple(_warning(graph, directed, verdict, is_silenced) for directed, verdict in poor.items())
        shown = tuple(answer for answer in answers if answer.known or not is_silenced)
        expected = None if is_silenced else answers.expected
        return replace(answers, answers=shown, warnings=(*answers.warnings, *warnings), expected=expected)

    def guesses(self, graph: KnowledgeGraph, needed: Sequence[int]) -> tuple[str, ...]:
        """Warnings about directed relations that cannot be predicted, for probabilities that are shown all the same."""
        if self.name in UNJUDGED:
            return ()
        verdicts = ((directed, self.verdict(graph, directed)) for directed in needed[:MOST_RELATIONS])
        return tuple(_guess(graph, directed, verdict) for directed, verdict in verdicts if verdict.is_at_chance)

    def verdict(self, graph: KnowledgeGraph, directed: int) -> Verdict:
        """Whether the method can predict a directed relation of a graph."""
        facts = int((graph.relations == undirected_relation(directed)).sum())
        before, verdict = self._known.get(directed, (-1, NO_VERDICT))
        if before < 0 or abs(facts - before) > CHANGE * before:
            verdict = self._judged(graph, directed) if facts >= LEAST_TRIED else NO_VERDICT
            self._known[directed] = facts, verdict
        return verdict

    def _judged(self, graph: KnowledgeGraph, directed: int) -> Verdict:
        by_rules = self._by_rules(graph, directed)
        if self.name == RULES or (by_rules is not None and not by_rules.is_at_chance):
            return by_rules or NO_VERDICT
        if graph.num_triples > MOST_TRIPLES:
            return NO_VERDICT
        return measured_verdict(self.method, graph, directed, lambda left: self._lend_rules(graph, left))

    def _by_rules(self, graph: KnowledgeGraph, directed: int) -> Verdict | None:
        """The verdict of the rules that the method predicts with; none if it has none."""
        rules_of = self._rules_of
        if rules_of is None:
            return None
        from unseen.rules.quality import found_by_rules

        found = found_by_rules(rules_of(graph), graph, directed, TRIED)
        if len(found) < LEAST_TRIED:
            return NO_VERDICT
        return Verdict(len(found), float(np.sum(found)), chance_of(graph))

    @property
    def _rules_of(self) -> Callable[[KnowledgeGraph], Rules] | None:
        """Where a method that predicts with rules has them from."""
        return getattr(getattr(self.method, "method", self.method), "rules_of", None)

    def _lend_rules(self, graph: KnowledgeGraph, left: KnowledgeGraph) -> None:
        """Let a method that uses rules take those of the whole graph for what is left of it; they found nothing."""
        rules_of = self._rules_of
        if rules_of is not None:
            from unseen.rules.opening import use_rules

            use_rules(left, rules_of(graph))


_KEPT: WeakKeyDictionary[KnowledgeGraph, dict[str, Cautions]] = WeakKeyDictionary()


def cautions_for(graph: KnowledgeGraph, method: Estimator, name: str) -> Cautions:
    """What is known of a method on a graph, as long as the graph lives."""
    kept = _KEPT.setdefault(graph, {})
    if name not in kept or kept[name].method is not method:
        kept[name] = Cautions(method, name)
    return kept[name]


def _needed(query: Query) -> Iterator[int]:
    """The directed relations that predicted answers come by: all but those under negation."""
    if isinstance(query, Not):
        return
    if isinstance(query, Project) and isinstance(query.relation, int):
        yield query.relation
    for child in query.children:
        yield from _needed(child)


def _warning(graph: KnowledgeGraph, directed: int, verdict: Verdict, is_silenced: bool) -> str:
    meaning = "only known answers are shown" if is_silenced else "predictions that need it are guesses"
    return f"{_said_of(graph, directed, verdict)}; {meaning}"


def _guess(graph: KnowledgeGraph, directed: int, verdict: Verdict) -> str:
    return f"{_said_of(graph, directed, verdict)}; a probability that needs it is a guess"


def _said_of(graph: KnowledgeGraph, directed: int, verdict: Verdict) -> str:
    name = graph.vocabulary.relations.name(undirected_relation(directed))
    asked = f"{name}(?, …)" if is_inverse(directed) else f"{name}(…, ?)"
    counts = f"{verdict.found:.0f} of {verdict.tried} hidden facts came back among the first ten"
    return f"unseen cannot predict {asked} in this graph: {counts}"
