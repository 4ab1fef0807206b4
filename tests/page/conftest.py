"""A server of `countries`, and a browser that notes whatever goes wrong in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import unseen
from tests.page.browser import find_browser
from tests.server.running import Running, running

SECONDS = 60
"""How long to wait for something on the page; machines may be busy."""


@dataclass
class Watched:
    """A page of a browser, and what went wrong on it."""

    page: Any
    url: str
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Any:
        self.page.goto(self.url + path)
        self.page.wait_for_selector("#view:not(:empty)")
        return self.page

    def note(self, problem: str) -> None:
        self.problems.append(problem)

    def note_request(self, address: str) -> None:
        if not address.startswith((f"{self.url}/", "data:", "blob:")):
            self.note(f"foreign request {address}")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, for one module: as long as it runs, its event loop does, and other tests need one of their own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is not tested: playwright is missing")
    found = find_browser()
    if found is None:
        pytest.skip("the page is not tested: there is no Chromium, and none could be installed with apt-get")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def countries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("page") / "countries.db"
    with running(path, list(unseen.load("countries").triples())) as made:
        yield made


@pytest.fixture
def watched(chromium: Any, countries: Running) -> Iterator[Watched]:
    """A page; at the end of the test nothing may have gone wrong on it."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True) as context:
        made = watch(context.new_page(), countries.url)
        yield made
        assert made.problems == []


def watch(page: Any, url: str) -> Watched:
    """Note errors, violations of the policy and foreign requests of a page."""
    made = Watched(page, url)
    page.set_default_timeout(SECONDS * 1000)
    page.on("console", lambda message: message.type in ("error", "warning") and made.note(message.text))
    page.on("pageerror", lambda error: made.note(str(error)))
    page.on("dialog", lambda dialog: (made.note(f"a dialog says {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: made.note_request(request.url))
    return made
