"""Fetching public datasets, against a server on this machine that does all the things servers do."""

from __future__ import annotations

import hashlib
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from unseen.datasets import download as module
from unseen.datasets.download import SETS, PublicSet, RemoteFile, download, fetch
from unseen.errors import DatasetError, UnknownMethod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = bytes(range(256)) * 4000
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


@dataclass
class Behaviour:
    """What the server does."""

    content: bytes = CONTENT
    ranges: bool = True
    cut_after: int | None = None
    cuts: int = 0
    status: int = 200
    tag: str | None = '"v1"'
    says_length: bool = True
    requests: list[dict[str, str]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        rules = self.behaviour
        rules.requests.append(dict(self.headers))
        if rules.status != 200:
            self.send_error(rules.status)
            return
        start = self._start(rules)
        if start >= len(rules.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(rules.content)}")
            self.end_headers()
            return
        self._headers(rules, start)
        body = rules.content[start:]
        if rules.cut_after is not None and rules.cuts > 0:
            rules.cuts -= 1
            body = body[: rules.cut_after]
        self.wfile.write(body)
        self.close_connection = True

    def _start(self, rules: Behaviour) -> int:
        changed = self.headers.get("If-Range", rules.tag) != rules.tag
        if not rules.ranges or changed or "Range" not in self.headers:
            return 0
        return int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))

    def _headers(self, rules: Behaviour, start: int) -> None:
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(rules.content) - 1}/{len(rules.content)}")
        if rules.says_length:
            self.send_header("Content-Length", str(len(rules.content) - start))
        if rules.tag:
            self.send_header("ETag", rules.tag)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that hangs up is none of our business."""


@pytest.fixture
def server() -> Iterator[tuple[Behaviour, str]]:
    behaviour = Behaviour()
    handler = type("Ruled", (Handler,), {"behaviour": behaviour})
    with Server(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield behaviour, f"http://127.0.0.1:{running.server_address[1]}/data.zip"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    monkeypatch.setenv("no_proxy", "*")


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


class TestFetching:
    @pytest.mark.parametrize("checksum", [SHA256, MD5])
    def test_a_file_arrives_under_its_name_and_nothing_else(self, server, tmp_path: Path, checksum: str) -> None:
        _, url = server
        path = fetch(RemoteFile(url, "x.zip", checksum), tmp_path / "new")
        assert path.read_bytes() == CONTENT
        assert names(tmp_path / "new") == ["x.zip"]

    def test_progress_is_told_and_ends_at_the_total(self, server, tmp_path: Path) -> None:
        _, url = server
        told: list[tuple[int, int]] = []
        fetch(RemoteFile(url, "x.zip", SHA256), tmp_path, lambda done, total: told.append((done, total)))
        assert told == sorted(told)
        assert told[-1] == (len(CONTENT), len(CONTENT))

    def test_a_file_that_is_there_and_right_is_not_fetched_again(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        (tmp_path / "x.zip").write_bytes(CONTENT)
        fetch(RemoteFile(url, "x.zip", SHA256), tmp_path)
        assert behaviour.requests == []

    def test_a_file_that_is_there_and_wrong_is_said(self, server, tmp_path: Path) -> None:
        _, url = server
        (tmp_path / "x.zip").write_bytes(b"mine")
        with pytest.raises(DatasetError, match="already exists with a wrong checksum"):
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path)
        assert (tmp_path / "x.zip").read_bytes() == b"mine"

    def test_a_server_that_does_not_say_the_length(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        behaviour.says_length = False
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT


class TestResuming:
    def test_a_cut_connection_is_taken_up_where_it_broke_off(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        behaviour.cut_after, behaviour.cuts = 300_000, 3
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT
        assert [request.get("Range") for request in behaviour.requests] == [
            None,
            "bytes=300000-",
            "bytes=600000-",
            "bytes=900000-",
        ]
        assert names(tmp_path) == ["x.zip"]

    def test_a_connection_that_keeps_breaking_leaves_its_part_for_the_next_time(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        behaviour.cut_after, behaviour.cuts = 1000, module.ATTEMPTS
        with pytest.raises(DatasetError, match="the same command continues from there"):
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path)
        assert (tmp_path / "x.zip.part").read_bytes() == CONTENT[: 1000 * module.ATTEMPTS]
        assert not (tmp_path / "x.zip").exists()
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT
        assert behaviour.requests[-1]["Range"] == f"bytes={1000 * module.ATTEMPTS}-"

    def test_a_server_without_ranges_begins_anew(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        behaviour.ranges, behaviour.cut_after, behaviour.cuts = False, 1000, 1
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT

    def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        (tmp_path / "x.zip.part").write_bytes(b"old beginning")
        (tmp_path / "x.zip.part.tag").write_text('"v0"')
        assert fetch(RemoteFile(url, "x.zip", None), tmp_path).read_bytes() == CONTENT
        assert behaviour.requests[0]["If-Range"] == '"v0"'

    def test_a_part_that_is_complete_needs_only_its_name(self, server, tmp_path: Path) -> None:
        _, url = server
        (tmp_path / "x.zip.part").write_bytes(CONTENT)
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT

    def test_a_part_longer_than_the_file_is_thrown_away(self, server, tmp_path: Path) -> None:
        _, url = server
        (tmp_path / "x.zip.part").write_bytes(CONTENT + b"rubbish")
        assert fetch(RemoteFile(url, "x.zip", SHA256), tmp_path).read_bytes() == CONTENT


class TestChecksums:
    def test_a_wrong_checksum_keeps_nothing(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        behaviour.content = CONTENT[:-1] + b"!"
        with pytest.raises(DatasetError, match="nothing was kept"):
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path)
        assert "x.zip" not in names(tmp_path)
        assert "x.zip.part" not in names(tmp_path)

    def test_an_unpublished_checksum_is_noted_and_binding_from_then_on(self, server, tmp_path: Path) -> None:
        behaviour, url = server
        path = fetch(RemoteFile(url, "x.zip"), tmp_path)
        assert names(tmp_path) == ["x.zip", "x.zip.sha256"]
        assert (tmp_path / "x.zip.sha256").read_text() == f"{SHA256.removeprefix('sha256:')}  x.zip\n"
        path.unlink()
        behaviour.content, behaviour.tag = b"something else", '"v2"'
        with pytest.raises(DatasetError, match="nothing was kept"):
            fetch(RemoteFile(url, "x.zip"), tmp_path)


class TestFailures:
    @pytest.mark.parametrize("status", [403, 404, 500, 503])
    def test_an_error_of_the_server_is_one_line(self, server, tmp_path: Path, status: int) -> None:
        behaviour, url = server
        behaviour.status = status
        with pytest.raises(DatasetError, match=f"the server answers {status}") as caught:
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path / "new")
        assert "\n" not in str(caught.value)
        assert names(tmp_path) == []

    def test_no_server_is_one_line_that_asks_for_the_network(self, tmp_path: Path) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/x.zip"
        with pytest.raises(DatasetError, match=r"cannot reach 127\.0\.0\.1 .*is there a network\?") as caught:
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path / "new")
        assert "\n" not in str(caught.value)
        assert names(tmp_path) == []

    def test_an_unknown_host_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"cannot reach nowhere\.invalid"):
            fetch(RemoteFile("http://nowhere.invalid/x.zip", "x.zip"), tmp_path)

    @pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x"])
    def test_only_the_web(self, tmp_path: Path, url: str) -> None:
        with pytest.raises(DatasetError, match="only http and https"):
            fetch(RemoteFile(url, "x"), tmp_path)

    def test_a_place_that_cannot_be_written(self, server, tmp_path: Path) -> None:
        _, url = server
        (tmp_path / "file").touch()
        with pytest.raises(DatasetError, match="cannot be written"):
            fetch(RemoteFile(url, "x.zip", SHA256), tmp_path / "file")


class TestNames:
    def test_all_files_of_a_set_are_fetched(self, server, tmp_path: Path, monkeypatch) -> None:
        _, url = server
        files = tuple(RemoteFile(url, name, SHA256) for name in ("a.txt", "b.txt"))
        monkeypatch.setitem(SETS, "mine", PublicSet("mine", files, ""))
        assert download("mine", tmp_path) == [tmp_path / "a.txt", tmp_path / "b.txt"]

    def test_an_unknown_name_lists_the_known_ones(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownMethod, match="inductiveqe-175"):
            download("nope", tmp_path)

    def test_every_set_that_the_papers_benchmark_needs_has_a_name(self) -> None:
        ratios = {f"inductiveqe-{ratio}" for ratio in (106, 113, 122, 134, 150, 175, 217, 300, 550, "wikikg")}
        assert ratios | {"fb15k-237", "betae", "ogbl-wikikg2"} <= set(SETS)

    def test_checksums_are_of_known_algorithms_and_length(self) -> None:
        lengths = {"md5": 32, "sha256": 64}
        for entry in SETS.values():
            for file in entry.files:
                if file.checksum is not None:
                    algorithm, digest = file.checksum.split(":")
                    assert len(digest) == lengths[algorithm]
                    int(digest, 16)
