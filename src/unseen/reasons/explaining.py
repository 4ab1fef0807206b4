"""Explanations of answers: values of the inner variables, proofs, and a reason for everything that is predicted.

A known answer has its proof. A predicted one has its likeliest witness: links that the graph has are stated, and every
other link has its reasons. What a question excludes is said to be absent. Cost beside mining: some milliseconds for a
predicted link, and the trials of `moving_facts` where rules explain too little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from unseen.logic.algebra import Anchor, Or, Project, Query, unbind
from unseen.logic.link import Link
from unseen.logic.stopping import check_stop
from unseen.logic.text_writer import statement
from unseen.reasons.reason import Edge, Reason
from unseen.reasons.wording import atom, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.execute import Execution, LikelyWitness
    from unseen.logic.protocols import Estimator
    from unseen.logic.traverse import Traversal

MOST_REASONED = 100
"""Predicted answers to one question that have reasons; further ones only have the values of inner variables."""


class Explanation(NamedTuple):
    """Why something is an answer, by readable names."""

    bindings: dict[str, str]
    edges: tuple[Edge, ...] = ()
    reasons: tuple[Reason, ...] = ()


NOTHING = Explanation({})


class Explainer:
    """Explanations on one graph; predicted answers need what was executed, and the method for what moves it."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        traversal: Traversal,
        execution: Execution | None = None,
        method: Estimator | None = None,
        method_name: str = "",
    ) -> None:
        self.graph, self.traversal, self.execution = graph, traversal, execution
        self._method = method, method_name

    def known(self, query: Query, entity: int) -> Explanation:
        """The proof of an answer that the graph gives."""
        check_stop()
        witness = self.traversal.witness(query, entity)
        edges = tuple(self._named(*edge) for edge in witness.edges)
        proof = [Reason("known", f"the graph says {together(edges)}", body=edges)] if edges else []
        reasons = (*proof, *self.absent(witness.excluded))
        return Explanation(self._values(witness.bindings.items()), edges, reasons)

    def predicted(self, query: Query, answers: Sequence[tuple[int, float]]) -> list[Explanation]:
        """The likeliest ways to predicted answers of one query, given with their probabilities."""
        if self.execution is None or not answers:
            return []
        from unseen.reasons.link_reasons import LinkReasons  # compiled loops take a second to import

        links = LinkReasons(self.graph, *self._method)
        witnesses: list[LikelyWitness] = []
        expected: dict[Link, float] = {}
        for place, (entity, probability) in enumerate(answers):
            check_stop()
            is_reasoned = place < MOST_REASONED
            witness = self.execution.likely_witness(query, entity, links.choose if is_reasoned else None)
            witnesses.append(witness)
            for link in _distinct(witness) if is_reasoned else ():
                if not link.is_in(self.graph):
                    expected[link] = max(expected.get(link, 0.0), probability)
        found = links.of_links(expected)
        return [
            Explanation(
                self._values((name, value) for name, (value, _) in witness.bindings.items()),
                reasons=tuple(self._reasons(witness, found)) if place < MOST_REASONED else (),
            )
            for place, witness in enumerate(witnesses)
        ]

    def _reasons(self, witness: LikelyWitness, found: dict[Link, list[Reason]]) -> Iterator[Reason]:
        for link in _distinct(witness):
            if link in found:
                yield from found[link]
            else:
                edge = self._named(*link.triple)
                yield Reason("known", f"the graph says {atom(edge)}", edge, (edge,))
        yield from self.absent(witness.excluded)

    def absent(self, excluded: Iterable[tuple[Query, int]]) -> Iterator[Reason]:
        """Reasons that the graph lacks the excluded facts, or that it has them, against the answer."""
        for query, entity in excluded:
            for part in query.parts if isinstance(query, Or) else (query,):
                head, text = self._stated(part, entity)
                if self.traversal.contains(part, entity):
                    yield Reason("known", f"against it, the graph says {text}", head)
                else:
                    yield Reason("absent", f"the graph does not say {text}", head)

    def _stated(self, query: Query, entity: int) -> tuple[Edge | None, str]:
        """What a query says about an entity: the link if it is one, and the text."""
        vocabulary = self.graph.vocabulary
        if isinstance(query, Project) and isinstance(query.source, Anchor):
            edge = self._named(*Link(int(query.source.entity), int(query.relation), entity).triple)
            return edge, atom(edge)
        names = unbind(query, vocabulary.entity_name, vocabulary.relation_name)
        return None, statement(names, vocabulary.entity_name(entity))

    def _values(self, bindings: Iterable[tuple[str, int]]) -> dict[str, str]:
        return {variable: self.graph.vocabulary.entity_name(value) for variable, value in bindings}

    def _named(self, head: int, relation: int, tail: int) -> Edge:
        vocabulary = self.graph.vocabulary
        return vocabulary.entity_name(head), vocabulary.relations.name(relation), vocabulary.entity_name(tail)


def _distinct(witness: LikelyWitness) -> list[Link]:
    """The links of a witness in order, each once."""
    return list(dict.fromkeys(witness.links))
