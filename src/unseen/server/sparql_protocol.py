"""`/query` and `/update`: the SPARQL 1.1 Protocol. Exact, unless predictions are asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.database import exact_sparql as exact
from unseen.database.format_versions import SOLUTIONS, chosen
from unseen.logic.sparql.asking import place_of_ask
from unseen.server import openapi
from unseen.server.exact_answers import unacceptable
from unseen.server.predicted_ask import ask_response
from unseen.server.predicted_sparql import (
    check_variable,
    clauses_of,
    results_of,
    values_of,
    with_values,
    without_extra_variables,
)
from unseen.server.predicting import MOST_ANSWERS, Asked
from unseen.server.problems import bad_request
from unseen.server.requests import FORM, Parameters, apart, parameters_of, require_type, text_of
from unseen.server.route_table import Route
from unseen.server.scoring_work import Stated

if TYPE_CHECKING:
    from starlette.requests import Request

    from unseen.asking.answers import Answers
    from unseen.server.service import Service

QUERY, UPDATE = "application/sparql-query", "application/sparql-update"


def routes(service: Service) -> list[Route]:
    """The routes of the protocol."""

    async def query_get(request: Request) -> Response:
        """Run a SPARQL query given in the address."""
        return await _answered(service, request, await parameters_of(request, service.read))

    async def query_post(request: Request) -> Response:
        """Run a SPARQL query given in the body."""
        return await _answered(service, request, await _parameters(service, request, "query", QUERY))

    async def update(request: Request) -> Response:
        """Run a SPARQL update: all of it or nothing; when the answer comes, it is on disk and in every later answer."""
        parameters = await _parameters(service, request, "update", UPDATE)
        text = parameters.required("update")
        using, named = parameters.all("using-graph-uri"), parameters.all("using-named-graph-uri")
        checked = await service.exact.checked_update(text, using, named)
        write = service.write_for_long if checked.makes_graph_anew else service.write
        await write(partial(exact.run, service.database, checked))
        return Response(status_code=204)

    return [
        Route("GET", "/query", "read", query_get, openapi.QUERY_GET),
        Route("POST", "/query", "read", query_post, openapi.QUERY_POST),
        Route("POST", "/update", "write", update, openapi.UPDATE),
    ]


async def _parameters(service: Service, request: Request, name: str, media_type: str) -> Parameters:
    """Parameters of the address, and those of the body, whichever of the two forms it has."""
    limit = service.limits.query_bytes if name == "query" else service.limits.update_bytes
    found = await parameters_of(request, service.read)
    is_form = require_type(request, [media_type, FORM]) == FORM
    text = await text_of(request, limit)
    if is_form:
        return await apart(service.read, len(text), partial(found.with_form, text))
    return Parameters([*found.pairs, (name, text)])


async def _answered(service: Service, request: Request, parameters: Parameters) -> Response:
    text = parameters.required("query")
    if len(text) > service.limits.query_bytes:
        raise bad_request(f"the query is longer than {service.limits.query_bytes:,} characters")
    accept = request.headers.get("accept", "")
    if parameters.flag("infer"):
        _refuse_graphs(parameters)
        return await _predicted(service, request, text, parameters.number("k", 1, MOST_ANSWERS))
    if "service" in text.lower():
        text = await _with_predictions(service, request, text, parameters.number("k", 1, MOST_ANSWERS))
    default_graphs, named_graphs = parameters.all("default-graph-uri"), parameters.all("named-graph-uri")
    return await service.exact.query(request, text, accept, default_graphs, named_graphs)


def _refuse_graphs(parameters: Parameters) -> None:
    for name in ("default-graph-uri", "named-graph-uri"):
        if parameters.all(name):
            raise bad_request(f"the parameter {name!r} does not go with infer: predictions read the default graph")


async def _predicted(service: Service, request: Request, text: str, count: int | None) -> Response:
    """Answer a query by prediction."""
    media_type = acceptable(request.headers.get("accept", ""), list(SOLUTIONS))
    if await apart(service.read, len(text), partial(place_of_ask, text)) is not None:
        scores = await service.score(Stated((text,), is_single=True), service.caller_of(request))
        return ask_response(scores[0], media_type)
    question = await apart(service.read, len(text), partial(without_extra_variables, text))
    variables, answers = await _asked(service, request, question, count)
    body = await service.help(partial(results_of, answers, variables, media_type))
    return Response(body, media_type=media_type)


async def _with_predictions(service: Service, request: Request, text: str, count: int | None) -> str:
    """The query with the predictions that its SERVICE clauses ask for."""
    clauses = await apart(service.read, len(text), partial(clauses_of, text))
    tables = []
    for clause in clauses:
        question = await apart(service.read, len(clause.question), partial(without_extra_variables, clause.question))
        variables, answers = await _asked(service, request, question, count)
        tables.append(await service.help(partial(values_of, answers, variables)))
    return with_values(text, clauses, tables)


async def _asked(
    service: Service, request: Request, question: str, count: int | None
) -> tuple[tuple[str, ...], Answers]:
    """The answers to a SPARQL question, and what it calls them."""
    caller = service.caller_of(request)
    planned = await service.plan(Asked(question, count, all_predictions=True, sparql=True), caller)
    for variable in planned.variables:
        check_variable(variable)
    answers = await service.answer(planned, caller)
    return planned.variables or answers.variables, answers


def acceptable(accept: str, offered: list[str]) -> str:
    """The media type to answer with."""
    found = chosen(accept, offered)
    if found is None:
        raise unacceptable(offered)
    return found
