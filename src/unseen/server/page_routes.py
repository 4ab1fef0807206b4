"""The data of the page: each view at `/VIEW` has its data at `/VIEW.json`, with the same parameters.

Nothing here computes on the event loop. What reads the graph runs in the threads for look-ups; what predicts is asked
like any other question, and so waits and is refused like any other. Known answers do not wait for the model.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unseen.errors import UnknownName
from unseen.logic.algebra import Anchor, walk
from unseen.server import page_descriptions as described
from unseen.server.answer_files import CSV, PARQUET, as_csv, as_parquet
from unseen.server.answer_kinds import kinds_of
from unseen.server.answers_at_once import answered
from unseen.server.entity_edges import has_edge, related_to
from unseen.server.entity_view import entity_view
from unseen.server.overview import Overview
from unseen.server.predicting import MOST_ANSWERS, Asked
from unseen.server.problems import bad_request
from unseen.server.requests import parameters_of
from unseen.server.route_table import Route
from unseen.server.why_view import attempted, why_view

if TYPE_CHECKING:
    from unseen.answers import Answers
    from unseen.database import Database
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.server.callers import Caller
    from unseen.server.requests import Parameters
    from unseen.server.route_table import Endpoint
    from unseen.server.service import Service

LONGEST_QUESTION = 20_000
MOST_PREDICTED = 24
"""Relations of one entity that are predicted together."""


def routes(service: Service, query: Endpoint) -> list[Route]:
    """The routes of the page's data; `query` answers SPARQL given in the address."""
    return [*_for_questions(service), *_for_the_graph(service, query)]


def _for_questions(service: Service) -> list[Route]:
    async def ask_json(request: Request) -> Response:
        """Answer a question, and say of each answer what kind of thing it is and whether it is related already."""
        caller = service.caller_of(request)
        planned = await service.plan(_asked(await parameters_of(request, service.read)), caller)
        answers = await answered(service, planned, caller)
        return await service.help(partial(_annotated, service.database, planned.query, answers))

    async def ask_csv(request: Request) -> Response:
        """Answer a question with a CSV file."""
        answers = await service.ask(_asked(await parameters_of(request, service.read)), service.caller_of(request))
        return await service.help(lambda: _file(as_csv(answers), CSV, "answers.csv"))

    async def ask_parquet(request: Request) -> Response:
        """Answer a question with a Parquet file."""
        answers = await service.ask(_asked(await parameters_of(request, service.read)), service.caller_of(request))
        return await service.help(lambda: _file(as_parquet(answers), PARQUET, "answers.parquet"))

    async def why(request: Request) -> Response:
        """Draw a question with the values of one answer, explain it, and give the sets that it is computed from."""
        parameters = await parameters_of(request, service.read)
        body = await why_view(service, _question(parameters), parameters.single("answer"), service.caller_of(request))
        return await service.help(lambda: JSONResponse(body))

    return [
        Route("GET", "/ask.json", "read", ask_json, described.ASK_JSON),
        Route("GET", "/ask.csv", "read", ask_csv, described.ASK_CSV),
        Route("GET", "/ask.parquet", "read", ask_parquet, described.ASK_PARQUET),
        Route("GET", "/why.json", "read", why, described.WHY),
    ]


def _for_the_graph(service: Service, query: Endpoint) -> list[Route]:
    overview = Overview(service)

    async def start(_: Request) -> Response:
        """What is in the graph: counts, relations with example facts, questions to begin with."""
        return await service.help(lambda: JSONResponse(overview.current()))

    async def entity(request: Request) -> Response:
        """Facts about an entity by relation; with `predict`, as many predictions for each of them."""
        parameters = await parameters_of(request, service.read)
        count, name = parameters.number("predict", 1, 20), parameters.required("name")
        view = await service.help(lambda: entity_view(service.database.graph, name))
        if count is not None:
            await _predict(service, view["relations"][:MOST_PREDICTED], count, service.caller_of(request))
        return await service.help(lambda: JSONResponse(view))

    async def change(request: Request) -> Response:
        """Whether the graph has a fact, and the answers to a question as they are now."""
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

    async def sparql(request: Request) -> Response:
        """Run a SPARQL query given in the address, with results as JSON."""
        kept = [pair for pair in request.scope["headers"] if pair[0] != b"accept"]
        accept = (b"accept", b"application/sparql-results+json, application/ld+json;q=0.9")
        return await query(Request({**request.scope, "headers": [*kept, accept]}, request.receive))

    return [
        Route("GET", "/.json", "read", start, described.OVERVIEW),
        Route("GET", "/entity.json", "read", entity, described.ENTITY_VIEW),
        Route("GET", "/change.json", "read", change, described.CHANGE),
        Route("GET", "/sparql.json", "read", sparql),
    ]


def _question(parameters: Parameters) -> str:
    question = parameters.required("question")
    if len(question) > LONGEST_QUESTION:
        raise bad_request(f"a question in the address has at most {LONGEST_QUESTION:,} characters; POST it to /ask")
    return question


def _asked(parameters: Parameters) -> Asked:
    flags = {name: parameters.flag(name) for name in ("explain", "predicted_only", "exact", "all_predictions")}
    return Asked(_question(parameters), parameters.number("top", 1, MOST_ANSWERS), **flags)


def _file(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _annotated(database: Database, query: Query, answers: Answers) -> Response:
    """The answers, each with its kinds and whether it is related to what the question names; how many to expect."""
    graph, body = database.graph, answers.as_json()
    ids = graph.vocabulary.entities.find_keys([answer.key for answer in answers]).tolist()
    related = related_to(graph, _named(query, graph))
    for answer, entity, kinds in zip(body["answers"], ids, kinds_of(graph, ids), strict=True):
        answer |= {"kinds": kinds, "related": bool(entity >= 0 and related[entity])}
    body.setdefault("expected", round(sum(answer.probability for answer in answers), 3))
    return JSONResponse(body)


def _named(query: Query, graph: KnowledgeGraph) -> list[int]:
    """The entities that a question names."""
    names = {node.entity for node in walk(query) if isinstance(node, Anchor) and isinstance(node.entity, str)}
    return [int(one) for one in graph.vocabulary.entities.find_all(sorted(names)) if one >= 0]


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
