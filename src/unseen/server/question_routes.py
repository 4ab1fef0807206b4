"""`/ask`, `/score`, `/triples`, `/entities`, `/relations`: questions and facts as plain JSON."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from unseen.graph.catalogue import entities_like, relations_like
from unseen.server import openapi
from unseen.server.body_check import checked
from unseen.server.predicting import Asked
from unseen.server.problems import bad_request
from unseen.server.requests import JSON, Parameters, apart, body_of, json_of, require_type
from unseen.server.route_table import Route
from unseen.server.schemas import ASK_REQUEST, SCORE_REQUEST
from unseen.server.scoring_work import Stated
from unseen.server.triples_body import triples_in

if TYPE_CHECKING:
    from starlette.requests import Request

    from unseen.server.service import Service

MOST_LISTED = 1000
FEW = 100
"""Answers that are written out without a thread."""


def routes(service: Service) -> list[Route]:
    """The routes of plain questions and facts."""

    async def ask(request: Request) -> Response:
        """Answer a question: what the graph says (known), then what it implies (predicted)."""
        sent = checked(ASK_REQUEST, await json_of(request, service.limits.query_bytes, service.read))
        asked = Asked(sent.pop("question"), **sent)
        answers = await service.ask(asked, service.caller_of(request))
        if len(answers) <= FEW and not asked.explain:  # quicker than to hand it to a thread
            return JSONResponse(answers.as_json())
        return await service.help(lambda: JSONResponse(answers.as_json()))

    async def score(request: Request) -> Response:
        """Say how likely statements are, and whether the graph knows them."""
        sent = checked(SCORE_REQUEST, await json_of(request, service.limits.query_bytes, service.read))
        scores = await service.score(_stated(sent), service.caller_of(request))
        return await service.help(lambda: JSONResponse(scores.as_json()))

    async def add(request: Request) -> Response:
        """Add triples by name, all or none; a name not met before becomes a new entity or relation."""
        triples = await _triples(service, request)
        added = await service.write(partial(service.database.add, triples))
        return JSONResponse({"added": added, "unchanged": len(triples) - added})

    async def remove(request: Request) -> Response:
        """Remove triples by name, all or none."""
        triples = await _triples(service, request)
        removed = await service.write(partial(service.database.remove, triples))
        return JSONResponse({"removed": removed, "unchanged": len(triples) - removed})

    async def entities(request: Request) -> Response:
        """Entities whose name contains a text, the best match first."""
        return JSONResponse(await service.look_up(partial(_listed, service, request, entities_like, "entities")))

    async def relations(request: Request) -> Response:
        """Relations, the most frequent first."""
        return JSONResponse(await service.look_up(partial(_listed, service, request, relations_like, "relations")))

    return [
        Route("POST", "/ask", "read", ask, openapi.ASK),
        Route("POST", "/score", "read", score, openapi.SCORE),
        Route("POST", "/triples", "write", add, openapi.TRIPLES_POST),
        Route("DELETE", "/triples", "write", remove, openapi.TRIPLES_DELETE),
        Route("GET", "/entities", "read", entities, openapi.ENTITIES),
        Route("GET", "/relations", "read", relations, openapi.RELATIONS),
    ]


def _stated(sent: dict[str, Any]) -> Stated:
    """The statements of a body, which has one or a list of them."""
    single, several = sent.pop("statement", None), sent.pop("statements", None)
    if (single is None) == (several is None):
        raise bad_request("give `statement` or `statements`, one of the two", "bad_json")
    given = [single] if several is None else several
    return Stated(
        tuple(one if isinstance(one, str) else tuple(one) for one in given), is_single=several is None, **sent
    )


async def _triples(service: Service, request: Request) -> list[tuple[str, str, str]]:
    """The triples of a body."""
    require_type(request, [JSON])
    body = await body_of(request, service.limits.body_bytes)
    return await apart(service.read, len(body), partial(triples_in, body, service.limits.triples))


def _listed(service: Service, request: Request, search: Any, name: str) -> dict[str, Any]:
    parameters = Parameters.of_query(request)
    limit = parameters.number("limit", 1, MOST_LISTED) or 20
    return {name: search(service.database.graph, parameters.single("search") or "", limit)}
