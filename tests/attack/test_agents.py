"""Whatever is sent to `/mcp` gets an answer of the protocol, and holds up nobody."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed: install the extra 'mcp' to test the tools of agents")

from tests.conftest import FAMILY
from tests.server.running import JSON, Reply, Running, running
from unseen.server.agent_routes import MOST_AT_A_TIME, _Agents
from unseen.server.server_settings import Limits, ServerSettings

HEADERS = {**JSON, "Accept": "application/json, text/event-stream"}


def message(method: str, **parameters: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()


def tool(name: str, **arguments: Any) -> bytes:
    return message("tools/call", name=name, arguments=arguments)


TRIANGLE = "?x, y, z : likes(x, y) & likes(y, z) & likes(x, z)"
HOSTILE = {
    "deep lists": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":' + b"[" * 400_000 + b"]" * 400_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nothing": b"",
    "many at once": b"[" + b",".join([message("tools/list")] * 2000) + b"]",
    "large number": tool("find_names", limit=0).replace(b"0}", b"9" * 900_000 + b"}"),
    "large id": b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"tools/list"}',
    "no Unicode": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    "half a pair": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask\\ud800"}}',
    "zeros": tool("ask", question="\0" * 1000),
    "deep question": tool("ask", question="?x : " + "!" * 900_000),
    "long name": tool("find_names", text="a" * 900_000, limit=100),
    "many arguments": tool("ask", question="?x : likes(Ada, x)", **{f"k{n}": n for n in range(50_000)}),
    "unknown tool": tool("x" * 100_000),
    "wrong facts": tool("add_facts", facts=list(range(100_000))),
    "wrong names": tool("add_facts", facts=[list(range(100_000))]),
    "many facts": tool("add_facts", facts=[["a", "b", "c"]] * 20_000),
    "another file": message("resources/read", uri="file:///etc/passwd"),
    "negative limit": tool("find_names", limit=-1),
    "wrong types": tool("ask", question=["?x"], top="ten", explain=7),
    "a triangle": tool("ask", question=TRIANGLE, top=1000, explain=True),
    "unknown name": tool("ask", question="?x : likes(Adda, x)"),
}


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("agents") / "x.db", FAMILY) as server:
        yield server


def sent(server: Running, body: bytes) -> Reply:
    return server.send("POST", "/mcp", body, HEADERS)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_is_answered_and_changes_nothing(agents: Running, name: str) -> None:
    before = agents.database.graph.num_triples
    reply = sent(agents, HOSTILE[name])
    assert reply.status in (200, 400, 413, 503), reply.text[:300]
    assert "Traceback" not in reply.text
    assert "root:" not in reply.text
    assert len(reply.body) < 2 * len(HOSTILE[name]) + 10_000
    assert agents.send("GET", "/healthz").status == 200
    assert agents.database.graph.num_triples == before


def test_a_crowd_of_agents_is_answered_or_told_to_come_again(agents: Running) -> None:
    call = tool("explain", question="?x : likes(x, Go)", entity="Ada")
    with ThreadPoolExecutor(48) as pool:
        replies = list(pool.map(lambda _: sent(agents, call), range(96)))
    assert {reply.status for reply in replies} <= {200, 503}
    assert any(reply.status == 200 for reply in replies)
    assert all(int(reply.headers["retry-after"]) > 0 for reply in replies if reply.status == 503)
    assert sent(agents, message("tools/list")).status == 200


def test_a_client_leaves_room_to_others(agents: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.agents.graph_tools import GraphTools

    go_on, inside = threading.Event(), threading.Semaphore(0)

    def slowly(*_: object, **__: object) -> dict[str, object]:
        inside.release()
        assert go_on.wait(60)
        return {}

    sent(agents, message("tools/list"))
    monkeypatch.setattr(GraphTools, "ask", slowly)
    call = tool("ask", question="?x : likes(x, Go)")
    with ThreadPoolExecutor(MOST_AT_A_TIME) as pool:
        waiting = [pool.submit(sent, agents, call) for _ in range(MOST_AT_A_TIME // 2)]
        try:
            assert all(inside.acquire(timeout=60) for _ in waiting)
            assert sent(agents, call).status == 503
            other = agents.send("POST", "/mcp", message("tools/list"), HEADERS, source=("127.0.0.2", 0))
            assert other.status == 200
        finally:
            go_on.set()
        assert {one.result().status for one in waiting} == {200}
    assert sent(agents, message("tools/list")).status == 200


def test_the_first_agents_hold_no_thread_that_others_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, made, original = threading.Event(), [], _Agents._made

    def slowly(self: _Agents) -> object:
        made.append(self)
        assert go_on.wait(60)
        return original(self)

    monkeypatch.setattr(_Agents, "_made", slowly)
    settings = ServerSettings(port=0, model="edge-type", limits=Limits(seconds=0.5))
    with running(tmp_path / "x.db", FAMILY, settings) as server:
        try:
            for _ in range(3):
                early = sent(server, message("tools/list"))
                assert (early.status, early.headers["retry-after"]) == (503, "5")
        finally:
            go_on.set()
    assert len(made) == 1
