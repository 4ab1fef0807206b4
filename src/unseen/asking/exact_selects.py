"""SELECTs that only a SPARQL engine can answer: without predictions, the engine answers them all.

What is predicted has to be taken apart into links, and some of SPARQL cannot be: paths like `(:a/:b)+`, sums inside of
a negation, a subquery before the patterns that it joins. Where nothing is predicted, such a question goes to the engine
as it is, and a warning names what the graph does not have, because the engine would only find nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NoReturn

from unseen.asking.answers import DEFAULT_TOP, Question
from unseen.asking.preparing import entity_term, names_of, prefixes_of
from unseen.errors import QuerySyntaxError
from unseen.graph.prefixes import key_of
from unseen.logic.alternatives import Everything
from unseen.logic.outer_form import OuterForm
from unseen.logic.sparql.outer_select import with_entities
from unseen.logic.sparql.parse import NAMESPACES
from unseen.logic.sparql.select_parts import select_parts
from unseen.logic.sparql.words import named_in, plain_text, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unseen.errors import QueryRefused
    from unseen.graph import KnowledgeGraph
    from unseen.logic.sparql.select_parts import SelectParts

_HIDING = ("FILTER", "EXISTS", "MINUS")
"""Parts whose own variables are not seen from outside."""


class Unpredictable:
    """The core of a question of which nothing can be predicted; asking for it is the error that says why."""

    variables: tuple[str, ...] = ()
    value_names: frozenset[str] = frozenset()

    def __init__(self, refusal: QueryRefused) -> None:
        self.refusal = refusal

    def question(self, answers: Sequence[str], values: Mapping[str, str]) -> NoReturn:  # noqa: ARG002 - as any core
        """Refused."""
        raise self.refusal


def exact_select(graph: KnowledgeGraph, text: str, refusal: QueryRefused, top: int | None) -> Question | None:
    """A SELECT as a table that an engine computes; None for any other text. `refusal` is why nothing is predicted."""
    try:
        parts = select_parts(plain_text(text))
    except QuerySyntaxError:
        return None
    if parts is None or any(part.kind in ("SERVICE", "GRAPH") for part in parts.parts):
        return None
    words = {token.text.upper() for token in tokens_of(parts.prologue) if token.kind == "word"}
    return _engine_question(graph, parts, refusal, top) if words <= {"PREFIX", "BASE"} and _is_bound(parts) else None


def _engine_question(graph: KnowledgeGraph, parts: SelectParts, refusal: QueryRefused, top: int | None) -> Question:
    """The question with all its parts as text for the engine."""
    shown = {word: piece.of(parts.text) for word, piece in parts.modifiers.items()}
    form = OuterForm(
        text=parts.text,
        core=Unpredictable(refusal),
        columns=tuple(_columns(parts)),
        needed=(),
        is_distinct=parts.is_distinct,
        limit=parts.number("LIMIT"),
        offset=parts.number("OFFSET") or 0,
        prologue=parts.prologue,
        select=" ".join(item.of(parts.text) for item in parts.items) or "*",
        group=with_entities(parts, parts.parts, partial(entity_term, graph), names_of(graph)[0]),
        group_by=shown.get("GROUP", ""),
        having=shown.get("HAVING", ""),
        order=f"{shown.get('ORDER', '')} {shown.get('VALUES', '')}",
    )
    wanted = next(count for count in (top, form.limit, DEFAULT_TOP) if count is not None)
    warnings = tuple(_unknown(graph, parts, {**NAMESPACES, **prefixes_of(graph)}))
    return Question(parts.text, Everything(), wanted, warnings=warnings, table=form)


def _columns(parts: SelectParts) -> list[str]:
    """What is selected; for `*` what the patterns bind."""
    chosen = [item.tokens[0 if item.kind == "VARIABLE" else -2].text[1:] for item in parts.items]
    return chosen or list(_bound(parts))


def _bound(parts: SelectParts) -> dict[str, None]:
    """The variables that patterns bind."""
    tokens = [token for part in parts.parts if part.kind not in _HIDING for token in part.tokens]
    return {token.text[1:]: None for token in tokens if token.kind == "variable"}


def _is_bound(parts: SelectParts) -> bool:
    """Whether all that is selected and ordered by has values."""
    made = {item.tokens[-2].text[1:] for item in parts.items if item.kind == "AS"}
    used = {item.tokens[0].text[1:] for item in parts.items if item.kind == "VARIABLE"}
    used |= parts.modifiers["ORDER"].variables if "ORDER" in parts.modifiers else set()
    return used <= {*made, *_bound(parts)}


def _unknown(graph: KnowledgeGraph, parts: SelectParts, prefixes: Mapping[str, str]) -> Iterator[str]:
    """A warning for every name in the patterns that the graph does not have."""
    tokens = [token for part in parts.parts if part.kind != "FILTER" for token in part.tokens]
    names = {token.text: key_of(iri) for token, iri in named_in([*tokens_of(parts.prologue), *tokens], prefixes)}
    columns = (graph.vocabulary.relations, graph.vocabulary.entities, graph.attributes.names)
    found = [column.find_keys(list(names.values())) for column in columns]
    for name, *places in zip(names, *found, strict=True):
        if max(places) < 0 and "XMLSchema#" not in names[name]:
            yield f"the graph has nothing that is called {name}"
