"""`/ask`, `/triples`, `/entities`, `/relations`: questions and facts as plain JSON."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from unseen.server import openapi
from unseen.server.catalogue import entities_like, relations_like
from unseen.server.models import AskRequest, TriplesRequest
from unseen.server.predicting import Asked
from unseen.server.problems import bad_request
from unseen.server.requests import Parameters, json_of

if TYPE_CHECKING:
    from unseen.server.service import Service

Model = TypeVar("Model", bound=BaseModel)
MOST_LISTED = 1000
FEW = 100
"""Answers that are written out without a thread."""


def routes(service: Service) -> APIRouter:
    """The routes of plain questions and facts."""
    router = APIRouter()

    @router.post("/ask", **openapi.ASK)
    async def ask(request: Request) -> JSONResponse:
        """Answer a question: what the graph says (known), then what it implies (predicted)."""
        asked = _checked(AskRequest, await json_of(request, service.limits.query_bytes))
        question = Asked(asked.question, asked.top, asked.explain, asked.predicted_only, asked.exact)
        answers = await service.ask(question, service.caller_of(request))
        if len(answers) <= FEW and not asked.explain:  # quicker than to hand it to a thread
            return JSONResponse(answers.as_json())
        return await service.help(lambda: JSONResponse(answers.as_json()))

    @router.post("/triples", **openapi.TRIPLES_POST)
    async def add(request: Request) -> JSONResponse:
        """Add triples by name, all or none; a name not met before becomes a new entity or relation."""
        triples = await _triples(request)
        added = await service.write(partial(service.database.add, triples))
        return JSONResponse({"added": added, "unchanged": len(triples) - added})

    @router.delete("/triples", **openapi.TRIPLES_DELETE)
    async def remove(request: Request) -> JSONResponse:
        """Remove triples by name, all or none."""
        triples = await _triples(request)
        removed = await service.write(partial(service.database.remove, triples))
        return JSONResponse({"removed": removed, "unchanged": len(triples) - removed})

    @router.get("/entities", **openapi.ENTITIES)
    async def entities(request: Request) -> JSONResponse:
        """Entities whose name holds a text, the best match first."""
        return JSONResponse(await service.help(partial(_listed, service, request, entities_like, "entities")))

    @router.get("/relations", **openapi.RELATIONS)
    async def relations(request: Request) -> JSONResponse:
        """Relations, the most frequent first."""
        return JSONResponse(await service.help(partial(_listed, service, request, relations_like, "relations")))

    async def _triples(request: Request) -> list[tuple[str, str, str]]:
        sent = _checked(TriplesRequest, await json_of(request, service.limits.body_bytes))
        if len(sent.triples) > service.limits.triples:
            raise bad_request(f"at most {service.limits.triples:,} triples a request; send several")
        return sent.triples

    return router


def _listed(service: Service, request: Request, search: Any, name: str) -> dict[str, Any]:
    parameters = Parameters.of_query(request)
    limit = parameters.number("limit", 1, MOST_LISTED) or 20
    return {name: search(service.database.graph, parameters.single("search") or "", limit)}


def _checked(model: type[Model], body: dict[str, Any]) -> Model:
    """The body as the model says it must be."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise bad_request(f"{where or 'the body'}: {first['msg']}", "bad_json") from None
