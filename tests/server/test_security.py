"""Who may come in, and what nobody may do."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

import unseen
from tests.conftest import FAMILY
from tests.server.running import FORM, JSON, Running, running, wait_until
from unseen.errors import DatabaseError, DatabaseInUse, DatasetError, DiskFull, GraphError, UnseenError
from unseen.server.keys import Keys, read_keys
from unseen.server.problems import described
from unseen.server.server_settings import ServerSettings, is_loopback

READ, WRITE = "read-key-0123456789", "write-key-0123456789"
QUERY = "/query?query=ASK%7B%7D"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = ServerSettings(
        port=0, model="edge-type", keys=Keys((READ,), (WRITE,)), origins=("http://friend.example",)
    )
    with running(tmp_path_factory.mktemp("guarded") / "x.db", FAMILY, settings) as made:
        yield made


def key(value: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {value}"}


@pytest.mark.parametrize("header", [key(READ), {"X-API-Key": READ}, {"authorization": f"bearer {READ}"}, key(WRITE)])
def test_a_key_lets_read(guarded: Running, header: dict[str, str]) -> None:
    assert guarded.send("GET", QUERY, None, header).status == 200


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        ({}, 401, "no_key"),
        (key("wrong"), 401, "wrong_key"),
        ({"X-API-Key": READ[:-1]}, 401, "wrong_key"),
        ({"X-API-Key": "schlüssel"}, 401, "wrong_key"),
        ({"Authorization": "Basic abc"}, 401, "no_key"),
    ],
)
def test_without_the_right_key_nothing_is_answered(
    guarded: Running, header: dict[str, str], status: int, code: str
) -> None:
    for address in (QUERY, "/metrics", "/relations", "/store?default", "/nothing"):
        encoded = {name: value.encode("utf-8") for name, value in header.items()}
        reply = guarded.send("GET", address, None, encoded)  # type: ignore[arg-type]
        assert (reply.status, reply.error["code"]) == (status, code)
        assert reply.headers["www-authenticate"].startswith("Bearer")


WRITES = [
    ("POST", "/update", "update=INSERT%20DATA%20%7B%3Aa%20%3Ab%20%3Ac%7D", FORM),
    ("POST", "/triples", '{"triples": [["a", "b", "c"]]}', JSON),
    ("DELETE", "/triples", '{"triples": [["a", "b", "c"]]}', JSON),
    ("PUT", "/store?graph=urn:g", "", {"Content-Type": "text/turtle"}),
    ("POST", "/store?graph=urn:g", "", {"Content-Type": "text/turtle"}),
    ("DELETE", "/store?graph=urn:g", None, {}),
]


@pytest.mark.parametrize(("method", "address", "body", "headers"), WRITES)
def test_a_read_key_may_not_write(guarded: Running, method: str, address: str, body: str, headers: dict) -> None:
    refused = guarded.send(method, address, body, {**headers, **key(READ)})
    assert (refused.status, refused.error["code"]) == (403, "read_only_key")
    assert guarded.send(method, address, body, {**headers, **key(WRITE)}).status < 300


def test_the_health_needs_no_key(guarded: Running) -> None:
    assert guarded.send("GET", "/healthz").status == 200


def test_the_description_says_how_to_send_a_key(guarded: Running, reading: Running) -> None:
    assert set(guarded.send("GET", "/openapi.json").json["components"]["securitySchemes"]) == {"bearer", "header"}
    assert "securitySchemes" not in reading.send("GET", "/openapi.json").json["components"]


def test_pages_of_other_origins_are_turned_away_unless_allowed(guarded: Running, reading: Running) -> None:
    for server, headers in ((guarded, key(READ)), (reading, {})):
        assert server.send("GET", QUERY, None, {**headers, "Origin": "http://evil.example"}).status == 403
    friend = guarded.send("GET", QUERY, None, {**key(READ), "Origin": "http://friend.example"})
    assert friend.headers["access-control-allow-origin"] == "http://friend.example"
    refused = guarded.send("GET", "/query?query=nonsense", None, {**key(READ), "Origin": "http://friend.example"})
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (400, "http://friend.example")
    own = reading.send("GET", QUERY, None, {"Origin": reading.url})
    assert own.status == 200
    assert "access-control-allow-origin" not in own.headers


def test_a_server_without_keys_answers_to_its_own_names_only(reading: Running) -> None:
    assert reading.send("GET", QUERY, None, {"Host": "evil.example"}).error["code"] == "foreign_host"
    assert reading.send("GET", QUERY, None, {"Host": f"localhost:{reading.port}"}).status == 200


def test_elsewhere_only_with_keys() -> None:
    with pytest.raises(UnseenError, match="needs keys: give --api-key-file"):
        ServerSettings(host="0.0.0.0")
    assert ServerSettings(host="0.0.0.0", keys=Keys((READ,), ())).host == "0.0.0.0"
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "192.168.0.1", "example.org", "::")] == [False] * 4


def test_key_files(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\nread {READ}\n\nwrite   {WRITE}\n")
    file.chmod(0o600)
    keys = read_keys(file)
    assert keys == Keys((READ,), (WRITE,))
    assert READ not in repr(keys)
    assert [keys.right_of(k) for k in (READ.encode(), WRITE.encode(), b"")] == ["read", "write", None]


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        ("", 0o600, "no key in it"),
        ("admin abc", 0o600, "line 1: write `read KEY`"),
        ("read short", 0o600, "shorter than 16"),
        (f"read {READ}", 0o644, "chmod 600"),
    ],
)
def test_bad_key_files_are_refused(tmp_path: Path, text: str, mode: int, problem: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(UnseenError, match=problem):
        read_keys(file)


def test_the_log_has_one_line_a_request_and_no_key(guarded: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="unseen.server"):
        guarded.send("GET", QUERY, None, key(WRITE))
        guarded.send("GET", QUERY, None, key("wrong-key-0123456789"))
        wait_until(lambda: len(caplog.records) >= 2)  # a line is written after its answer was sent
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "unseen.server"]
    assert [(line["path"], line["status"], line["key"]) for line in lines] == [
        ("/query", 200, "write"),
        ("/query", 401, "-"),
    ]
    assert WRITE not in caplog.text
    assert "wrong-key" not in caplog.text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_fetches_without_an_origin_is_refused(guarded: Running, reading: Running, site: str) -> None:
    """Images, scripts and forms of other pages send no Origin; the browser says where they come from."""
    for server, headers in ((guarded, key(READ)), (reading, {})):
        fetched = {**headers, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        for address in (QUERY, "/store?default", "/healthz"):
            refused = server.send("GET", address, None, fetched)
            assert (refused.status, refused.error["code"]) == (403, "foreign_origin")
            assert refused.headers["cross-origin-resource-policy"] == "same-origin"
        link = {**headers, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert server.send("GET", QUERY, None, link).status == 403
        assert server.send("GET", "/healthz", None, link).status == 200, "a link may lead to where there is no data"
        assert server.send("GET", "/healthz", None, {**link, "Sec-Fetch-Dest": "iframe"}).status == 403
    friend = {**key(READ), "Sec-Fetch-Site": site, "Origin": "http://friend.example"}
    assert guarded.send("GET", QUERY, None, friend).status == 200


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_what_the_user_or_our_own_page_fetches_is_answered(reading: Running, site: str) -> None:
    assert reading.send("GET", QUERY, None, {"Sec-Fetch-Site": site}).status == 200


def test_an_allowed_page_may_ask_what_it_may_send_and_reads_refusals(guarded: Running) -> None:
    origin = {"Origin": "http://friend.example"}
    asked = {**origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-api-key"}
    allowed = guarded.send("OPTIONS", "/store?default", None, asked)
    assert allowed.status == 200
    assert "PUT" in allowed.headers["access-control-allow-methods"]
    assert "x-api-key" in allowed.headers["access-control-allow-headers"].lower()
    refused = guarded.send("GET", QUERY, None, origin)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, "http://friend.example")
    foreign = {**asked, "Origin": "http://evil.example"}
    assert guarded.send("OPTIONS", "/store?default", None, foreign).status == 403
    assert guarded.send("OPTIONS", "/store?default").status == 401


def test_a_key_of_other_letters_works_from_a_key_file_to_the_client(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("write schlüssel-für-alle-日本\n", encoding="utf-8")
    file.chmod(0o600)
    keys = read_keys(file)
    with running(tmp_path / "x.db", FAMILY, ServerSettings(port=0, model="edge-type", keys=keys)) as server:
        with unseen.connect(server.url, api_key="schlüssel-für-alle-日本") as graph:
            assert graph.add([("Gus", "likes", "Go")]) == 1
        with unseen.connect(server.url, api_key="schlüssel-für-keinen") as graph, pytest.raises(UnseenError):
            graph.add([("Gus", "likes", "Chess")])


@pytest.mark.parametrize(
    "error",
    [
        DiskFull("/srv/secret/world.db"),
        DatabaseError("could not be written: [Errno 5] I/O error: '/srv/secret/x.sst'", path="/srv/secret/world.db"),
        DatabaseError("the query failed: IO error: While open a file /srv/secret/000012.sst: gone"),
        DatabaseInUse("/srv/secret/world.db", 7),
        GraphError("cannot be read: /srv/secret/x.ttl", path="/srv/secret/x.ttl"),
        DatasetError("is damaged", path="/srv/secret"),
        OSError("/srv/secret"),
    ],
)
def test_no_error_names_a_file_of_the_server(error: Exception) -> None:
    _, body, _ = described(error)
    assert "secret" not in json.dumps(body)
    assert body["error"]["message"]


def test_an_address_in_an_error_is_no_file() -> None:
    text = "the query failed: <http://example.org/a/b> and urn:a/b"
    assert described(DatabaseError(text))[1]["error"]["message"] == text
