"""Agents over HTTP: `/mcp` of a server, with its keys, limits and checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="mcp is not installed: install the extra 'mcp' to test the tools of agents")

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.conftest import FAMILY
from tests.server.running import Reply, Running, running
from unseen.server import agent_routes
from unseen.server.keys import Keys
from unseen.server.server_settings import Limits, ServerSettings

READ, WRITE = "read-key-0123456789", "write-key-0123456789"
TOOLS = {"describe_graph", "find_names", "ask", "explain", "score"}
HEADERS = {"Accept": "application/json, text/event-stream", "X-API-Key": WRITE}
HEAD, RELATION, TAIL = FAMILY[0]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = ServerSettings(
        port=0, model="edge-type", keys=Keys((READ,), (WRITE,)), limits=Limits(query_bytes=5000, update_bytes=9000)
    )
    with running(tmp_path_factory.mktemp("agents") / "x.db", FAMILY, settings) as made:
        yield made


def called(server: Running, name: str, key: str = WRITE, **arguments: Any) -> tuple[bool, Any]:
    """Whether a call of a tool by a client of the protocol failed, and its text or its data."""

    async def call() -> tuple[bool, Any]:
        async with create_mcp_http_client(headers={"X-API-Key": key}) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport) as client:
                if not name:
                    return False, {tool.name for tool in (await client.list_tools()).tools}
                result = await client.call_tool(name, arguments)
                text = result.content[0].text if result.content else ""
                return bool(result.is_error), text if result.is_error else result.structured_content

    return anyio.run(call)


def message(method: str, **parameters: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters})


def sent(server: Running, body: str, **headers: str) -> Reply:
    return server.send("POST", "/mcp", body, {**HEADERS, "Content-Type": "application/json", **headers})


def test_a_client_asks_explains_adds_and_asks_again(guarded: Running) -> None:
    found = called(guarded, "describe_graph")[1]
    assert found["triples"] == len(set(FAMILY))
    assert called(guarded, "ask", question=found["example_question"])[1]["known"]
    assert called(guarded, "find_names", text=HEAD)[1]["result"][0]["name"] == HEAD
    question = f"?x : {RELATION}({HEAD}, x)"
    assert called(guarded, "explain", question=question, entity=TAIL)[1]["known"]
    assert called(guarded, "add_facts", facts=[[HEAD, RELATION, "Zoe"]]) == (False, {"added": 1, "unchanged": 0})
    assert "Zoe" in [one["entity"] for one in called(guarded, "ask", question=question, top=50)[1]["answers"]]


def test_a_read_key_has_no_tool_that_writes(guarded: Running) -> None:
    assert called(guarded, "", READ)[1] == TOOLS
    assert called(guarded, "", WRITE)[1] == TOOLS | {"add_facts"}
    before = guarded.database.graph.num_triples
    call = message("tools/call", name="add_facts", arguments={"facts": [["Mallory", "likes", "Go"]]})
    refused = sent(guarded, call, **{"X-API-Key": READ})
    assert "error" in refused.json or refused.json["result"]["isError"]
    assert guarded.database.graph.num_triples == before


def test_an_error_reaches_the_agent_with_what_to_try(guarded: Running) -> None:
    failed, text = called(guarded, "ask", READ, question=f"?x : {RELATION}x({HEAD}, x)")
    assert failed
    assert f"did you mean: ?x : {RELATION}({HEAD}, x)" in text


def test_keys_origins_types_and_sizes_are_those_of_every_route(guarded: Running) -> None:
    listed = message("tools/list")
    assert sent(guarded, listed).status == 200
    assert sent(guarded, listed, **{"X-API-Key": "wrong"}).status == 401
    assert sent(guarded, listed, Origin="http://evil.example").error["code"] == "foreign_origin"
    assert sent(guarded, listed, **{"Content-Type": "text/plain"}).status == 415
    assert sent(guarded, listed, Accept="text/html").status == 406
    assert sent(guarded, listed + " " * 6000, **{"X-API-Key": READ}).status == 413
    assert sent(guarded, listed + " " * 4000).status == 200
    assert sent(guarded, listed + " " * 6000).status == 413
    assert [guarded.send(method, "/mcp", None, HEADERS).status for method in ("GET", "DELETE")] == [405, 405]
    assert sent(guarded, "[" * 4000).status == 400


def test_too_many_messages_at_a_time_are_told_to_come_again(guarded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_routes, "MOST_AT_A_TIME", 0)
    refused = sent(guarded, message("tools/list"))
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")


def test_without_keys_an_agent_of_this_machine_may_write(tmp_path: Any) -> None:
    with running(tmp_path / "x.db", FAMILY) as opened:
        assert called(opened, "")[1] == TOOLS | {"add_facts"}
