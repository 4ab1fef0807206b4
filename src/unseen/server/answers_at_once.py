"""Known answers to small questions, given without waiting for the model, which may be busy for seconds.

A step costs a pass over the edges of a relation at most, so a few steps are as quick as looking up a name. They run in
the same threads; larger questions wait for their turn like any other.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from unseen.api import ask_all
from unseen.asking.preparing import lookup_for, prepare
from unseen.errors import Stopped
from unseen.logic.algebra import Query
from unseen.logic.stopping import stop_when
from unseen.server.predicting import MOST_ANSWERS, RESTRICTIONS, order_of
from unseen.server.problems import too_slow

if TYPE_CHECKING:
    from unseen.asking.answers import Answers
    from unseen.graph import KnowledgeGraph
    from unseen.server.callers import Caller
    from unseen.server.predicting import Planned
    from unseen.server.service import Service

MOST_STEPS = 8
"""Relation steps of a small question."""
SECONDS = 5.0
"""Longest time for one; it is stopped between two steps."""


def is_small(planned: Planned) -> bool:
    """Whether only known answers are wanted, and these are quickly found."""
    asked = planned.asked
    return (
        isinstance(planned.query, Query)
        and asked.exact
        and not asked.explain
        and not asked.predicted_only
        and planned.steps <= MOST_STEPS
    )


async def answered(service: Service, planned: Planned, caller: Caller) -> Answers:
    """The answers to a question, at once where that is possible."""
    if is_small(planned):
        return await service.with_suggestions(service.help(lambda: known_answers(service.database.graph, planned)))
    return await service.answer(planned, caller)


def known_answers(graph: KnowledgeGraph, planned: Planned) -> Answers:
    """What the graph itself answers to a small question."""
    wanted = [count for count in (planned.limit, planned.asked.top) if count is not None]
    wishes = {name: getattr(planned.asked, name) for name in RESTRICTIONS}
    lookup = lookup_for(graph, [planned.query], suggest=False)
    top = min([*wanted, MOST_ANSWERS]) if wanted else None
    question = prepare(graph, planned.query, top=top, lookup=lookup, order_by=order_of(planned), **wishes)
    deadline = time.monotonic() + SECONDS
    try:
        with stop_when(lambda: time.monotonic() > deadline):
            return ask_all(graph, [replace(question, text=planned.asked.text)], None, "exact")[0]
    except Stopped:
        raise too_slow(SECONDS) from None
