"""Every route, every kind of key, odd paths: without a key nothing is read, without a write key nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest

from tests.attack.raw import exchange, request, status_of
from tests.conftest import FAMILY
from tests.server.running import Running, running
from unseen.server import page_files
from unseen.server.app import make_app
from unseen.server.gate import Gate
from unseen.server.keys import Keys
from unseen.server.route_table import Route, RouteTable
from unseen.server.server_settings import ServerSettings

READ, WRITE = "read-key-0123456789", "write-key-0123456789"
NON_ASCII_READ = "lese-schlüssel-0123456789"
SECRET = b"Zanzibar"
"""A name in the graph that nobody without a key may see."""
BODIES = {
    ("POST", "/update"): ("application/sparql-update", b"DELETE WHERE { ?s ?p ?o }", ""),
    ("POST", "/triples"): ("application/json", b'{"triples": [["Mallory", "likes", "Go"]]}', ""),
    ("DELETE", "/triples"): ("application/json", b'{"triples": [["Zanzibar", "likes", "Go"]]}', ""),
    ("PUT", "/store"): ("text/turtle", b"<urn:m> <urn:m> <urn:m> .", "?default"),
    ("POST", "/store"): ("text/turtle", b"<urn:m> <urn:m> <urn:m> .", "?default"),
    ("DELETE", "/store"): (None, b"", "?default"),
    ("GET", "/store"): (None, b"", "?default"),
    ("GET", "/query"): (None, b"", "?query=SELECT*%7B?s?p?o%7D"),
    ("POST", "/query"): ("application/sparql-query", b"SELECT * { ?s ?p ?o }", ""),
    ("POST", "/ask"): ("application/json", b'{"question": "?x : likes(x, Go)"}', ""),
    ("POST", "/mcp"): (
        "application/json",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_facts", "arguments": '
        b'{"facts": [["Mallory", "likes", "Go"]]}}}',
        "",
    ),
    ("GET", "/entities"): (None, b"", "?search=Zanz"),
}
KEYS: dict[str, dict[str, str | bytes]] = {
    "none": {},
    "empty": {"Authorization": "Bearer "},
    "wrong": {"Authorization": "Bearer wrong-key-0123456789"},
    "wrong, not ASCII": {"X-API-Key": "falscher-schlüssel-012".encode("latin-1")},
    "no Unicode": {"X-API-Key": b"\xff\xfe-0123456789abcdef"},
    "read": {"Authorization": f"Bearer {READ}"},
    "read, UTF-8": {"X-API-Key": NON_ASCII_READ.encode()},
    "read, Latin-1": {"Authorization": b"Bearer " + NON_ASCII_READ.encode("latin-1")},
}
"""All but a write key."""
MAY_READ = ("read", "read, UTF-8", "read, Latin-1")


def odd_paths(path: str) -> list[str]:
    """Paths that are, or might be taken for, a path."""
    name = path[1:]
    first = f"%{ord(name[0]):02X}"
    return [
        path,
        *(path + end for end in ("%0A", "%0D", "%0D%0A", "%00", "%20", "%09", "%0B", "%85", "%C2%85", "%E2%80%A8")),
        *(path + end for end in ("/", "//", "/.", "/..", "/%2e", ";x", ";x=1", ".", "%2F", "%252F", "%3F", "%23", "*")),
        *(
            start + name
            for start in ("//", "///", "/./", "/../", "/%2e/", "/x/../", "/%2F", "%2F", "\\", "/;/", "/%0A")
        ),
        f"/{first}{name[1:]}",
        f"/%25{first[1:]}{name[1:]}",
        f"/{name.upper()}",
        f"/{name.title()}",
        f"/{name[:-1]}%EF%BD%{0x80 + ord(name[-1]) % 64:02X}",  # a full-width letter
        f"/{name}%D9%A1",  # a digit of another script
        f"http://localhost{path}",
        f"http://evil.example{path}",
        f"http://localhost{path}%0A",
        f"HTTP://localhost:1//{name}",
        f"//localhost{path}",
        f"{path}%0A%0A",
    ]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = ServerSettings(port=0, model="edge-type", keys=Keys((READ, NON_ASCII_READ), (WRITE,)))
    triples = [*FAMILY, ("Zanzibar", "likes", "Go")]
    with running(tmp_path_factory.mktemp("keys") / "x.db", triples, settings) as made:
        yield made


def dump(server: Running) -> list[str]:
    """Everything that the database holds."""
    triples, output = server.database.triples, BytesIO()
    triples.dump(output, triples.rdf.RdfFormat.N_QUADS, everything=True)
    return sorted(output.getvalue().decode().splitlines())


def routes_of(server: Running) -> list[tuple[str, str]]:
    """Every route of the table, described or not, but for the files of the page, which anyone may have."""
    app = make_app(server.database, ServerSettings(model="edge-type"))
    assert isinstance(app, Gate)
    files = {route.path for route in page_files.routes()}
    return [(route.method, route.path) for route in app.table.routes if route.path not in files]


def send(server: Running, method: str, route: tuple[str, str], path: str, key: dict[str, str | bytes]) -> bytes:
    media_type, body, query = BODIES.get(route, (None, b"", ""))
    headers = {**key, **({"Content-Type": media_type} if media_type else {})}
    return exchange(server.port, request(method, path + query, headers, body))


@pytest.mark.parametrize("kind", KEYS)
def test_without_a_write_key_nothing_changes_and_without_a_key_nothing_is_read(guarded: Running, kind: str) -> None:
    before = dump(guarded)
    opened = {"/healthz", "/openapi.json"}
    for route in routes_of(guarded):
        assert len(odd_paths(route[1])) >= 40
        for path in odd_paths(route[1]):
            answer = send(guarded, route[0], route, path, KEYS[kind])
            status = status_of(answer)
            where = (kind, route, path, answer[:300])
            assert 200 <= status < 500, where
            if kind not in MAY_READ:
                assert SECRET not in answer, where
                assert status in (400, 401) or route[1] in opened, where
        assert dump(guarded) == before, (kind, route)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "CONNECT", "QUERY"])
def test_other_methods_change_and_tell_nothing_either(guarded: Running, method: str) -> None:
    before = dump(guarded)
    for route in routes_of(guarded):
        for kind in ("none", "read"):
            answer = send(guarded, method, route, route[1], KEYS[kind])
            assert status_of(answer) < 500, answer[:300]
            assert SECRET not in answer
            assert method == "HEAD" or status_of(answer) >= 400
    assert dump(guarded) == before


@pytest.mark.parametrize("end", ["%0A", "%00", "/", "%2F", ";x", "%20"])
def test_a_path_with_something_behind_it_is_another_path(guarded: Running, end: str) -> None:
    for route in BODIES:
        answer = send(guarded, route[0], route, route[1] + end, {"X-API-Key": WRITE})
        assert status_of(answer) == 404, (route, answer[:300])


def test_the_key_comes_before_the_path_and_the_path_before_what_a_key_may_do(guarded: Running) -> None:
    def status(method: str, path: str, kind: str) -> int:
        return status_of(exchange(guarded.port, request(method, path, KEYS[kind])))

    assert [status(method, path, "none") for method, path in (("GET", "/x"), ("PUT", "/query"), ("PUT", "/store"))] == [
        401
    ] * 3
    assert [status(method, path, "read") for method, path in (("GET", "/x"), ("PUT", "/query"), ("PUT", "/store"))] == [
        404,
        405,
        403,
    ]
    refused = exchange(guarded.port, request("PATCH", "/store", KEYS["read"]))
    assert b"\r\nallow: DELETE, GET, HEAD, POST, PUT\r\n" in refused


def test_a_head_is_where_a_get_is(guarded: Running) -> None:
    for path in ("/healthz", "/openapi.json", "/query?query=ASK%7B%7D", "/store?default", "/metrics"):
        answer = exchange(guarded.port, request("HEAD", path, {"X-API-Key": READ}))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert (status_of(answer), body) == (200, b""), (path, head)


def test_a_key_with_other_than_ascii_letters_is_known_however_it_is_sent(guarded: Running) -> None:
    for kind in ("read, UTF-8", "read, Latin-1"):
        answer = exchange(guarded.port, request("GET", "/query?query=ASK%7B%7D", KEYS[kind]))
        assert status_of(answer) == 200


def test_a_route_must_say_what_right_it_needs() -> None:
    async def answer(_: object) -> None:
        raise NotImplementedError

    with pytest.raises(ValueError, match="open, or needs to read or to write"):
        Route("GET", "/x", "", answer)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Route("GET", "/x", answer=answer)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="twice"):
        RouteTable([Route("GET", "/x", "open", answer), Route("GET", "/x", "read", answer)])  # type: ignore[arg-type]


def test_only_the_health_the_description_and_the_files_of_the_page_are_open(guarded: Running) -> None:
    app = make_app(guarded.database, ServerSettings(model="edge-type"))
    assert isinstance(app, Gate)
    opened = {route.path for route in app.table.routes if route.right == "open"}
    files = {route.path for route in page_files.routes()}
    assert opened == {"/healthz", "/openapi.json", *files}
    assert all(path in page_files.VIEWS or path.startswith("/page/") for path in files)
    reading = {(route.method, route.path) for route in app.table.routes if route.right == "read"}
    assert {method for method, path in reading if path not in ("/query", "/ask", "/score", "/mcp")} == {"GET"}
