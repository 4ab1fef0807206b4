"""Probabilities of statements: `score`.

```python
unseen.score(graph, "borders(France, Atlantis)").probability
unseen.score(graph, [("France", "borders", "Spain"), ("France", "borders", "Chile")]).to_pandas()
```

A fact has the number that it has as an answer: that of its tail in `?x : relation(head, x)`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from unseen import api
from unseen.errors import UnseenError
from unseen.logic.stopping import check_stop
from unseen.logic.traverse import Traversal
from unseen.scoring.bound_statements import candidates_of, holds, prepare_statement
from unseen.scoring.scores import Score, Scores, shown_triple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.logic.execute import Execution
    from unseen.logic.method import Method
    from unseen.scoring.bound_statements import Statement

    Given = str | tuple[str, str, str]

MOST_CELLS = 1 << 24
"""Memberships that are computed together."""


@overload
def score(
    graph: KnowledgeGraph,
    statements: Given,
    *,
    method: str | Method | None = ...,
    explain: bool = ...,
    type_relation: str | None = ...,
) -> Score: ...
@overload
def score(
    graph: KnowledgeGraph,
    statements: list[Given],
    *,
    method: str | Method | None = ...,
    explain: bool = ...,
    type_relation: str | None = ...,
) -> Scores: ...
@overload
def score(
    graph: KnowledgeGraph,
    statements: Any,
    *,
    method: str | Method | None = ...,
    explain: bool = ...,
    type_relation: str | None = ...,
) -> Any: ...
def score(
    graph: KnowledgeGraph,
    statements: Any,
    *,
    method: str | Method | None = None,
    explain: bool = False,
    type_relation: str | None = None,
) -> Score | Scores:
    """How likely statements are, and whether the graph knows them.

    `statements` is a closed formula (`"borders(France, Chile) | borders(France, Peru)"`), a SPARQL ASK, or a triple of
    names as a tuple: the result is one `Score`. It may also be a list of these, or a table of triples (a data frame or
    an Arrow table): the result is `Scores`, in which what has an unknown name has an error and no probability.
    `method` is as for `ask`. `explain` adds reasons; it needs statements, not a table.
    """
    wanted = method or api.default_method()
    opened = _opened(wanted, graph)
    name = wanted if isinstance(wanted, str) else type(wanted).__name__
    if isinstance(statements, str) or _is_triple(statements):
        bound = prepare_statement(graph, statements, type_relation=type_relation)
        found = scores_of(graph, [bound], opened, name, explain=explain)
        return with_warnings(found, [bound], graph, opened, wanted)[0]
    if hasattr(statements, "__arrow_c_stream__"):
        if explain:
            raise UnseenError("reasons are given for statements, not for a table: give a list of triples")
        from unseen.scoring.triple_scores import scored_table

        return scored_table(graph, statements, opened, name)
    return scored_rows(graph, list(statements), opened, wanted, explain=explain, type_relation=type_relation)


def _opened(wanted: str | Method, graph: KnowledgeGraph) -> Method | None:
    """The method; None if the graph alone decides."""
    if wanted == "exact":
        return None
    opened = api.open_method(wanted) if isinstance(wanted, str) else wanted
    api.check_memory(opened, graph)
    return opened


def _is_triple(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 3 and all(isinstance(part, str) for part in given)


def scored_rows(
    graph: KnowledgeGraph,
    rows: Sequence[Any],
    method: Method | None,
    wanted: str | Method,
    *,
    explain: bool = False,
    type_relation: str | None = None,
) -> Scores:
    """The scores of triples and formulas one by one; all of them triples are scored as a table."""
    name = wanted if isinstance(wanted, str) else type(wanted).__name__
    if not explain and rows and not any(isinstance(row, str) for row in rows):
        from unseen.graph.conversions import triple_table
        from unseen.scoring.triple_scores import scored_table

        return scored_table(graph, triple_table(rows), method, name)
    found = [_prepared(graph, row, type_relation) for row in rows]
    statements = [one for one in found if not isinstance(one, UnseenError)]
    plain = scores_of(graph, statements, method, name, explain=explain)
    scores = iter(with_warnings(plain, statements, graph, method, wanted))
    results = [
        Score(_text(row), None, error=str(one)) if isinstance(one, UnseenError) else next(scores)
        for row, one in zip(rows, found, strict=True)
    ]
    return Scores.of(results, name)


def _prepared(graph: KnowledgeGraph, row: Any, type_relation: str | None) -> Any:
    try:
        return prepare_statement(graph, row if isinstance(row, str) else tuple(row), type_relation=type_relation)
    except UnseenError as error:
        return error


def _text(row: Any) -> str:
    return row if isinstance(row, str) else shown_triple(*map(str, row))


def scores_of(
    graph: KnowledgeGraph,
    statements: Sequence[Statement],
    method: Method | None,
    name: str,
    *,
    explain: bool = False,
) -> list[Score]:
    """The scores of some statements, as many by one call of the method as there is memory for."""
    traversal = Traversal(graph)
    if method is None:
        return [_exact(one, traversal, name, explain=explain) for one in statements]
    scores: list[Score] = []
    for part in _parts(graph, statements, explain=explain):
        check_stop()
        scores += _predicted(graph, part, (method, name), traversal, explain=explain)
    return scores


def with_warnings(
    scores: Sequence[Score],
    statements: Sequence[Statement],
    graph: KnowledgeGraph,
    method: Method | None,
    wanted: str | Method,
) -> list[Score]:
    """The scores with warnings about relations that cannot be predicted in the graph, where methods have a name."""
    if method is None or not isinstance(wanted, str):
        return list(scores)
    from unseen.asking.cautions import cautions_for  # compiled loops only where something is predicted

    cautions, uncalibrated = cautions_for(graph, method, wanted), api.uncalibrated(wanted)
    return [
        one if one.known else replace(one, warnings=(*uncalibrated, *cautions.guesses(graph, statement.relations)))
        for one, statement in zip(scores, statements, strict=True)
    ]


def _exact(statement: Statement, traversal: Traversal, name: str, *, explain: bool) -> Score:
    is_true = holds(statement.query, traversal, candidates_of(traversal.graph))
    found = Score(statement.text, float(is_true), statement.is_positive and is_true, name)
    return _explained(found, statement, traversal, None, (None, name)) if explain else found


def _parts(graph: KnowledgeGraph, statements: Sequence[Statement], *, explain: bool) -> Iterable[list[Statement]]:
    """The statements in parts, each of which needs few enough memberships."""
    most, size = max(1, MOST_CELLS // max(1, graph.num_entities)), 0
    part: list[Statement] = []
    for statement in statements:
        needed = len(statement.chance.needed)
        if part and (size + needed > most or explain):
            yield part
            part, size = [], 0
        part.append(statement)
        size += needed
    if part:
        yield part


def _predicted(
    graph: KnowledgeGraph,
    statements: Sequence[Statement],
    method: tuple[Method, str],
    traversal: Traversal,
    *,
    explain: bool,
) -> list[Score]:
    needed = [query for statement in statements for query in statement.chance.needed]
    if explain:
        from unseen.reasons.claims import sets_of

        needed += [query for statement in statements for query in sets_of(statement.query)]
    execution = method[0].estimate(graph, list(dict.fromkeys(needed)))
    candidates, scores = candidates_of(graph), []
    for statement in statements:
        probability = statement.chance.of(execution.memberships, candidates)
        found = Score(statement.text, probability, statement.is_known(traversal), method[1])
        scores.append(_explained(found, statement, traversal, execution, method) if explain else found)
    return scores


def _explained(
    found: Score,
    statement: Statement,
    traversal: Traversal,
    execution: Execution | None,
    method: tuple[Method | None, str],
) -> Score:
    from unseen.reasons.claims import explanation_of

    why = explanation_of(statement.query, traversal, execution, method, candidates_of(traversal.graph))
    return replace(found, bindings=why.bindings, edges=why.edges, reasons=why.reasons)
