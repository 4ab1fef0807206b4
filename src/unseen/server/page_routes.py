"""The data of the page: each view at `/VIEW` has its data at `/VIEW.json`, with the same parameters.

Nothing here computes on the event loop. What reads the graph runs in the threads for look-ups; what predicts is asked
like any other question, and so waits and is refused like any other. Known answers do not wait for the model.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unseen.errors import UnknownName
from unseen.scoring.bound_statements import is_statement
from unseen.server import page_descriptions as described
from unseen.server.answer_choice import AnswerChoice, asked_of
from unseen.server.answer_files import CSV, PARQUET, as_csv, as_parquet
from unseen.server.answers_at_once import answered
from unseen.server.entity_edges import has_edge
from unseen.server.entity_view import entity_view
from unseen.server.overview import Overview
from unseen.server.predicting import MOST_ANSWERS, Asked
from unseen.server.problems import bad_request
from unseen.server.relation_quality import RelationQuality
from unseen.server.requests import parameters_of
from unseen.server.route_table import Route
from unseen.server.scoring_work import Stated
from unseen.server.why_view import attempted, why_view

if TYPE_CHECKING:
    from unseen.asking.answers import Answers
    from unseen.database import Database
    from unseen.graph import KnowledgeGraph
    from unseen.server.callers import Caller
    from unseen.server.predicting import Planned
    from unseen.server.requests import Parameters
    from unseen.server.route_table import Endpoint
    from unseen.server.service import Service

LONGEST_QUESTION = 20_000
MOST_PREDICTED = 24
"""Relations of one entity that are predicted together."""


def routes(service: Service, query: Endpoint) -> list[Route]:
    """The routes of the page's data; `query` answers SPARQL given in the address."""
    quality = RelationQuality(service)
    overview = Overview(service, quality)
    return [*_for_questions(service, overview), *_for_the_graph(service, overview, quality), _sparql(query)]


def _for_questions(service: Service, overview: Overview) -> list[Route]:
    async def chosen(request: Request) -> tuple[Planned, Answers, list[dict[str, Any]]]:
        parameters, caller = await parameters_of(request, service.read), service.caller_of(request)
        choice = AnswerChoice.of(parameters)
        planned = await service.plan(choice.asked(_question(parameters), parameters), caller)
        answers = await answered(service, planned, caller)
        return planned, *await service.help(partial(_applied, service.database, choice, planned, answers))

    async def ask_json(request: Request) -> Response:
        """Answer a question, and say of each answer what kind of thing it is and whether it is related already."""
        parameters = await parameters_of(request, service.read)
        if not parameters.single("question"):
            found = await service.help(overview.current)
            return JSONResponse({"questions": found["questions"]})
        if is_statement(_question(parameters)):
            return JSONResponse(await _stated(service, parameters, service.caller_of(request)))
        planned, answers, said = await chosen(request)
        more = await service.help(partial(_forecast, service, planned))
        return await service.help(lambda: _annotated(answers, said, more))

    async def ask_csv(request: Request) -> Response:
        """Answer a question with a CSV file."""
        _, answers, _ = await chosen(request)
        return await service.help(lambda: _file(as_csv(answers), CSV, "answers.csv"))

    async def ask_parquet(request: Request) -> Response:
        """Answer a question with a Parquet file."""
        _, answers, _ = await chosen(request)
        return await service.help(lambda: _file(as_parquet(answers), PARQUET, "answers.parquet"))

    async def why(request: Request) -> Response:
        """Draw a question with the values of one answer, explain it, and give the sets that it is computed from."""
        parameters = await parameters_of(request, service.read)
        asked = asked_of(_question(parameters), parameters)
        wanted, is_plain = parameters.single("answer"), parameters.flag("plain")
        body = await why_view(service, asked, wanted, service.caller_of(request), is_plain=is_plain)
        return await service.help(lambda: JSONResponse(body))

    return [
        Route("GET", "/ask.json", "read", ask_json, described.ASK_JSON),
        Route("GET", "/ask.csv", "read", ask_csv, described.ASK_CSV),
        Route("GET", "/ask.parquet", "read", ask_parquet, described.ASK_PARQUET),
        Route("GET", "/why.json", "read", why, described.WHY),
    ]


def _for_the_graph(service: Service, overview: Overview, quality: RelationQuality) -> list[Route]:
    async def start(_: Request) -> Response:
        """What is in the graph: counts, relations with example facts, questions to begin with."""
        return await service.help(lambda: JSONResponse(overview.current()))

    async def predictable(_: Request) -> Response:
        """How well each relation can be predicted, as far as known; starts a check in the background."""
        return await service.help(lambda: JSONResponse(quality.current()))

    async def entity(request: Request) -> Response:
        """Facts about an entity by relation; with `predict`, as many predictions for each of them."""
        parameters = await parameters_of(request, service.read)
        count, name = parameters.number("predict", 1, 20), parameters.single("name")
        if not name:
            found = await service.help(overview.current)
            return JSONResponse({"best_connected": found["best_connected"]})
        view = await service.help(lambda: entity_view(service.database.graph, name))
        if count is not None:
            await _predict(service, view["relations"][:MOST_PREDICTED], count, service.caller_of(request))
        return await service.help(lambda: JSONResponse(view))

    async def change(request: Request) -> Response:
        """Whether the graph has a fact, and the current answers to a question."""
        parameters = await parameters_of(request, service.read)
        fact = [parameters.single(name) or "" for name in ("head", "relation", "tail")]
        is_there = await service.help(lambda: _has(service.database.graph, fact))
        body: dict[str, Any] = {"fact": fact, "is_there": is_there, "answers": None, "unknown": None}
        if parameters.single("question"):
            asked = Asked(_question(parameters), parameters.number("top", 1, MOST_ANSWERS))
            try:
                body["answers"] = (await service.ask(asked, service.caller_of(request))).as_json()
            except UnknownName as error:  # the fact may be what brings the name
                body["unknown"] = error.name
        return await service.help(lambda: JSONResponse(body))

    return [
        Route("GET", "/.json", "read", start, described.OVERVIEW),
        Route("GET", "/quality.json", "read", predictable, described.QUALITY),
        Route("GET", "/entity.json", "read", entity, described.ENTITY_VIEW),
        Route("GET", "/change.json", "read", change, described.CHANGE),
    ]


def _sparql(query: Endpoint) -> Route:
    async def sparql(request: Request) -> Response:
        """Run a SPARQL query given in the address, with results as JSON."""
        kept = [pair for pair in request.scope["headers"] if pair[0] != b"accept"]
        accept = (b"accept", b"application/sparql-results+json, application/ld+json;q=0.9")
        return await query(Request({**request.scope, "headers": [*kept, accept]}, request.receive))

    return Route("GET", "/sparql.json", "read", sparql)


def _question(parameters: Parameters) -> str:
    question = parameters.required("question")
    if len(question) > LONGEST_QUESTION:
        raise bad_request(f"a question in the address has at most {LONGEST_QUESTION:,} characters; POST it to /ask")
    return question


async def _stated(service: Service, parameters: Parameters, caller: Caller) -> dict[str, Any]:
    """How likely a statement is, in the place of answers."""
    text, types = _question(parameters), parameters.single("type_relation") or None
    flags = {name: parameters.flag(name) for name in ("explain", "exact")}
    scores = await service.score(Stated((text,), type_relation=types, is_single=True, **flags), caller)
    return {"query": text, "method": scores.method, "score": scores[0].as_json()}


def _file(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _applied(
    database: Database, choice: AnswerChoice, planned: Planned, answers: Answers
) -> tuple[Answers, list[dict[str, Any]]]:
    return choice.applied(database.graph, planned.query, answers)


def _annotated(answers: Answers, said: list[dict[str, Any]], more: dict[str, Any]) -> Response:
    """The answers with details about each."""
    body = answers.as_json()
    for answer, about in zip(body["answers"], said, strict=True):
        answer.update(about)
    return JSONResponse(body | more)


def _forecast(service: Service, planned: Planned) -> dict[str, Any]:
    """With known answers: how many seconds predicted ones will take, None while the model is made ready."""
    if not planned.asked.exact or service.predictor.method is None:
        return {}
    if not service.batcher.is_measured:
        return {"predicted_in": None}
    asked = replace(planned, asked=replace(planned.asked, exact=False))
    seconds = service.predictor.cost_of(asked).seconds + service.batcher.backlog_seconds
    return {"predicted_in": round(seconds, 1)}


def _has(graph: KnowledgeGraph, fact: list[str]) -> bool:
    """Whether the graph has a fact; names that it does not have are in none."""
    head, tail = graph.vocabulary.entities.find_all([fact[0], fact[2]]).tolist()
    relation = int(graph.vocabulary.relations.find_all([fact[1]])[0])
    return min(head, tail, relation) >= 0 and has_edge(graph, head, 2 * relation, tail)


async def _predict(service: Service, relations: list[dict[str, Any]], count: int, caller: Caller) -> None:
    """Add predictions to each relation of an entity: all are asked together, those without room again alone."""
    sets = await asyncio.gather(
        *(attempted(service, Asked(one["question"], count, predicted_only=True), caller) for one in relations)
    )
    for relation, predicted in zip(relations, sets, strict=True):
        alone = Asked(relation["question"], count, predicted_only=True)
        relation["predicted"] = await attempted(service, alone, caller) if "error" in predicted else predicted
