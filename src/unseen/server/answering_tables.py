"""Tables in a server: each question for a core waits its turn like any other, rows come from the readers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unseen.asking.solution_tables.solving import solved
from unseen.asking.solution_tables.wanted import ExactRows, Predicted, Wishes
from unseen.server.predicting import MOST_ANSWERS

if TYPE_CHECKING:
    from unseen.asking.answers import Answers
    from unseen.logic.outer_form import OuterForm
    from unseen.server.callers import Caller
    from unseen.server.predicting import Asked
    from unseen.server.service import Service

TOGETHER = 8
"""Questions for a core that wait at the same time."""


async def table_answers(service: Service, asked: Asked, form: OuterForm, caller: Caller) -> Answers:
    """The table that a question asks for."""
    graph, method = service.database.graph, "exact" if asked.exact else service.predictor.name
    top = None if asked.top is None else min(asked.top, MOST_ANSWERS)
    is_exact = asked.exact or service.predictor.method is None
    wishes = Wishes(method, graph, graph.vocabulary.entities, top, asked.predicted_only, is_exact)
    steps, result = solved(form, wishes), None
    try:
        while True:
            result = await _found(service, asked, steps.send(result), caller)
    except StopIteration as stop:
        answers: Answers = stop.value
        return answers


async def _found(service: Service, asked: Asked, wanted: Any, caller: Caller) -> Any:
    """What a step wants to know."""
    if isinstance(wanted, ExactRows):
        return await service.exact.rows(wanted.text)
    if isinstance(wanted, Predicted):
        return await _predicted(service, asked, wanted, caller)
    found: list[Answers] = []
    for start in range(0, len(wanted), TOGETHER):
        asking = (_predicted(service, asked, one, caller) for one in wanted[start : start + TOGETHER])
        found += await asyncio.gather(*asking)
    return found


async def _predicted(service: Service, asked: Asked, wanted: Predicted, caller: Caller) -> Answers:
    is_exact = asked.exact or wanted.exact
    own = replace(asked, core=wanted, top=wanted.top, predicted_only=wanted.predicted_only, exact=is_exact)
    return await service.answer(await service.plan(own, caller), caller)
