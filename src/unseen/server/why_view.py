"""Why something is an answer: the question drawn with its values, an explanation, and the sets on the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError
from unseen.server.pattern_drawing import drawing_of
from unseen.server.predicting import MOST_ANSWERS, Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.server.callers import Caller
    from unseen.server.predicting import Planned
    from unseen.server.question_drawing import Drawing
    from unseen.server.service import Service

    Json = dict[str, Any]

LISTED = 25
"""Answers that are listed to choose from."""
STEP_MEMBERS = 4
"""Members that are shown of each set on the way: so many known ones, so many predicted ones."""
VALUES, MOST_VARIABLES = 4, 4
"""Values that are shown of an inner variable, and of how many variables."""


async def why_view(
    service: Service, asked: Asked, wanted: str | None, caller: Caller, *, is_plain: bool = False
) -> Json:
    """The view of one answer, the first one if none is named; a plain one is the drawing alone, at once."""
    planned = await service.plan(replace(asked, top=LISTED), caller)
    drawing = await service.with_suggestions(
        service.help(lambda: drawing_of(service.database.graph, planned.query, asked.type_relation))
    )
    if is_plain:
        return await service.help(lambda: _plain(drawing, asked.text))
    body, *sets = await asyncio.gather(
        _listed(service, planned, wanted, caller),
        *(_members(service, step.question, asked.type_relation, caller) for step in drawing.steps),
    )
    for place, step in enumerate(drawing.steps):  # alone, those for which there was no room together
        if "error" in sets[place]:
            sets[place] = await _members(service, step.question, asked.type_relation, caller)
    chosen = _chosen(body["answers"], wanted)
    likeliest: dict[str, Json] = {}
    if chosen is not None:
        explained, likeliest = await asyncio.gather(
            _explained(service, planned, body["answers"], chosen, caller),
            _on_the_way(service, drawing, chosen["entity"], asked, caller),
        )
        chosen = chosen | explained | {"likeliest": likeliest}
    values = {} if chosen is None else drawing.values_of(chosen)
    nodes, edges = await service.help(lambda: drawing.bound(values))
    return {**body, "nodes": nodes, "edges": edges, "steps": _steps(drawing, sets), "answer": chosen}


def _plain(drawing: Drawing, question: str) -> Json:
    """The question drawn, without an answer or members of its sets."""
    nodes, edges = drawing.bound({})
    steps = _steps(drawing, [None] * len(drawing.steps))
    return {"query": question, "answers": [], "nodes": nodes, "edges": edges, "steps": steps, "answer": None}


def _steps(drawing: Drawing, sets: Sequence[Json | None]) -> list[Json]:
    return [
        {"label": step.label, "question": step.question, "set": members}
        for step, members in zip(drawing.steps, sets, strict=True)
    ]


async def _on_the_way(service: Service, drawing: Drawing, answer: str, asked: Asked, caller: Caller) -> Json:
    """By inner variable, the likeliest values that it has for one answer, and how many are known."""
    wanted = await service.help(lambda: drawing.questions_on_the_way(answer))
    chosen = list(wanted.items())[:MOST_VARIABLES]
    found = await asyncio.gather(
        *(attempted(service, Asked(text, VALUES, type_relation=asked.type_relation), caller) for _, text in chosen)
    )
    return {name: members for (name, _), members in zip(chosen, found, strict=True) if "error" not in members}


async def _listed(service: Service, planned: Planned, wanted: str | None, caller: Caller) -> Json:
    """The answers; if one is wanted that is not among the first, as many as there may be."""
    answers = await service.answer(planned, caller)
    is_missing = wanted is not None and all(answer.entity != wanted for answer in answers)
    if is_missing and len(answers) == LISTED:
        more = replace(planned.asked, top=MOST_ANSWERS)
        answers = await service.answer(replace(planned, asked=more), caller)
    return answers.as_json()


def _chosen(answers: list[Json], wanted: str | None) -> Json | None:
    return next((one for one in answers if wanted is None or one["entity"] == wanted), None)


async def _explained(service: Service, planned: Planned, answers: list[Json], chosen: Json, caller: Caller) -> Json:
    """Values, proof and reasons of one answer; no more answers are explained than come before it."""
    alike = [one["entity"] for one in answers if one["known"] == chosen["known"]]
    top = alike.index(chosen["entity"]) + 1
    flags = {"explain": True, "exact": chosen["known"], "predicted_only": not chosen["known"]}
    asked = replace(planned, asked=replace(planned.asked, top=top, **flags))
    explained = _chosen((await service.answer(asked, caller)).as_json()["answers"], chosen["entity"]) or {}
    return {name: explained[name] for name in ("bindings", "edges", "reasons") if name in explained}


async def _members(service: Service, question: str, type_relation: str | None, caller: Caller) -> Json:
    """The likeliest members of the set of a question, known and predicted."""
    asked = Asked(question, STEP_MEMBERS, type_relation=type_relation)
    known, predicted = await asyncio.gather(
        attempted(service, asked, caller), attempted(service, replace(asked, predicted_only=True), caller)
    )
    if "error" in known or "error" in predicted:
        return known | predicted
    shown = [member for member in known["members"] if member["known"]]
    return known | {"members": [*shown, *predicted["members"]]}


async def attempted(service: Service, asked: Asked, caller: Caller) -> Json:
    """The answers to a question, or what was wrong with asking."""
    try:
        answers = await service.ask(asked, caller)
    except UnseenError as error:
        return {"error": str(error)}
    return {"known": answers.known, "members": answers.as_json()["answers"]}
