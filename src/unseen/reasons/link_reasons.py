"""Reasons for predicted links: the rules that conclude them, and what the model gives them by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.logic.link import Link
from unseen.logic.stopping import check_stop
from unseen.reasons.method_parts import MethodParts
from unseen.reasons.moving_facts import allowed_trials, moving_facts, probabilities
from unseen.reasons.reason import Edge, Effect, Reason
from unseen.reasons.wording import by_method, by_network, of_entities, of_pairs
from unseen.rules.link_rules import LinkRule, best_confidence, link_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.link import Triple
    from unseen.logic.protocols import Estimator

TOP = 3
"""Rules for one link, and facts that move one."""
ENOUGH = 0.5
"""Share of an answer's probability that a rule must reach to explain it."""
TRIED, LEAST_TRIED = 5, 0.25
"""Facts are left out for so many links, of answers that are at least so probable beside the first one; of others only
the model's probability is told."""


class LinkReasons:
    """Reasons for links that a graph does not have, as one method sees them."""

    def __init__(self, graph: KnowledgeGraph, method: Estimator | None, method_name: str) -> None:
        self.graph, self.method, self.method_name = graph, method, method_name
        self.parts = MethodParts.of(method)
        self._rules: dict[Link, list[LinkRule]] = {}

    def of_links(self, expected: Mapping[Link, float]) -> dict[Link, list[Reason]]:
        """Reasons for links; `expected` says how probable the likeliest answer is that each of them leads to."""
        found = {link: [self._by_rule(link, one) for one in self._rules_for(link)] for link in expected}
        for link, reason in self._by_model(expected, found).items():
            found[link].append(reason)
        return found

    def choose(self, relation: int, target: int, sources: Sequence[int], degrees: Sequence[float]) -> int:
        """The place of the source whose link to a target is the likeliest by rules and by the source's membership."""
        if len(sources) == 1:
            return 0
        paths = self.parts.paths(self.graph, relation)
        values = [
            degree * best_confidence(self.graph, paths, Link(source, relation, target))
            for source, degree in zip(sources, degrees, strict=True)
        ]
        return max(range(len(values)), key=values.__getitem__)

    def name(self, triple: Triple) -> Edge:
        """An edge by readable names."""
        vocabulary = self.graph.vocabulary
        head, relation, tail = triple
        return vocabulary.entity_name(head), vocabulary.relations.name(relation), vocabulary.entity_name(tail)

    def _rules_for(self, link: Link) -> list[LinkRule]:
        if link not in self._rules:
            check_stop()
            self._rules[link] = link_rules(self.graph, self.parts.paths(self.graph, link.relation), link, TOP)
        return self._rules[link]

    def _is_explained(self, link: Link, probability: float) -> bool:
        """Whether some rule holds often enough for such a probability."""
        shares = (found.rule.support / max(1.0, found.rule.pairs) for found in self._rules_for(link))
        return max(shares, default=0.0) >= ENOUGH * probability and bool(self._rules_for(link))

    def _by_rule(self, link: Link, found: LinkRule) -> Reason:
        rule = found.rule
        if found.is_about_pairs:
            text = of_pairs(rule.example, rule.support, rule.pairs)
        else:
            text = of_entities(rule.example, rule.body[0], rule.head, rule.support, rule.pairs)
        numbers = rule.confidence, rule.support, rule.pairs
        return Reason("rule", text, self.name(link.triple), rule.example, str(rule), *numbers)

    def _by_model(self, expected: Mapping[Link, float], ruled: Mapping[Link, Sequence[Reason]]) -> dict[Link, Reason]:
        """The model's own probabilities of links, with the facts that change the most probable ones."""
        model = self.parts.model
        links = [link for link in expected if not self._is_explained(link, expected[link])]
        if model is None or not links:
            return self._by_method([link for link in links if not ruled[link]])
        links.sort(key=lambda link: -expected[link])
        least = LEAST_TRIED * max(expected.values())
        own = probabilities(model, self.graph, links)
        whole = own if model is self.method or self.method is None else probabilities(self.method, self.graph, links)
        before = dict(zip(links, own, strict=True))
        moved = self._moved(model, {link: before[link] for link in links if expected[link] >= least})
        found = {}
        for link, probability, total in zip(links, own, whole, strict=True):
            effects = tuple(Effect(self.name(edge), without) for edge, without in moved.get(link, ()))
            text = by_network(self.method_name, probability, effects, is_alone=not ruled[link], is_tried=link in moved)
            share = min(1.0, probability / total) if total > 0 else 1.0
            found[link] = Reason(
                "network", text, self.name(link.triple), probability=probability, share=share, effects=effects
            )
        return found

    def _by_method(self, links: Sequence[Link]) -> dict[Link, Reason]:
        """Reasons of a method without a model, for links that no rule with enough support leads to."""
        if self.method is None or not links:
            return {}
        values = zip(links, probabilities(self.method, self.graph, links), strict=True)
        return {
            link: Reason("network", by_method(self.method_name, value), self.name(link.triple), probability=value)
            for link, value in values
        }

    def _moved(self, model: Estimator, before: Mapping[Link, float]) -> dict[Link, list[tuple[Triple, float]]]:
        """The facts that move the first of some links; `before` are their probabilities."""
        tried = list(before)[: TRIED if allowed_trials(self.graph) else 0]
        return dict(
            zip(tried, moving_facts(model, self.graph, tried, [before[link] for link in tried], TOP), strict=True)
        )
