"""The page of a server with keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conftest import FAMILY
from tests.page.conftest import watch
from tests.server.running import running
from unseen.server.keys import Keys
from unseen.server.server_settings import ServerSettings

READ, WRITE = "read-key-0123456789", "write-key-0123456789"


def test_a_key_is_asked_for_and_a_read_key_adds_nothing(chromium: Any, tmp_path: Path) -> None:
    settings = ServerSettings(port=0, model="edge-type", keys=Keys((READ,), (WRITE,)))
    with running(tmp_path / "x.db", FAMILY, settings) as guarded, chromium.new_context() as context:
        watched = watch(context.new_page(), guarded.url)
        page = watched.open("/")
        page.get_by_label("Key", exact=True).fill(READ)
        page.click("text=Use this key")
        page.wait_for_selector(".counts")
        page.click("text=Change")
        for label, value in (("Head", "Ada"), ("Relation", "knows"), ("Tail", "Bob")):
            page.get_by_label(label, exact=True).fill(value)
        page.click("text=Add this fact")
        page.wait_for_selector("dialog >> text=this key may read, not write")
        page.get_by_label("Key", exact=True).fill(WRITE)
        page.click("text=Use this key")
        page.wait_for_selector("dialog", state="hidden")
        page.click("text=Add this fact")
        page.wait_for_selector("text=Added:")
        refused = [problem for problem in watched.problems if "status of 40" in problem]
        assert refused == watched.problems
