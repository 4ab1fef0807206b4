"""The pictures of the page in docs/figures, of a server of `countries` whose check has ended.

unseen serve countries --port 7878 &
PYTHONPATH=. python tools/page_pictures.py http://127.0.0.1:7878
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.page.browser import find_browser

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
QUESTION = quote("?x : exists v . borders(France, v) & speaks(v, x)")
WIDE = {"viewport": {"width": 1180, "height": 820}}
TALL = {"viewport": {"width": 1180, "height": 1180}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
DARK = {"color_scheme": "dark"}
PICTURES = [
    ("page-graph-dark", "/", ".relations .share", WIDE | DARK),
    ("page-relations", "/#relations", ".relations .share", WIDE),
    ("page-ask", f"/ask?question={QUESTION}", ".answer:not(.known)", WIDE),
    ("page-ask-phone", f"/ask?question={QUESTION}", ".answer:not(.known)", PHONE),
    ("page-why", f"/why?question={QUESTION}&answer=Croatian", "#reason", TALL),
    ("page-entity", "/entity?name=Switzerland", ".relation-facts .bar", WIDE),
]
"""File, address, what has to be there, and the settings of the browser."""


def take(browser: Browser, url: str, name: str, address: str, shown: str, settings: dict[str, object]) -> None:
    """Write one picture."""
    with browser.new_context(**settings) as context:
        page = context.new_page()
        path, _, part = address.partition("#")
        page.goto(url + path)
        page.wait_for_selector(shown)
        page.wait_for_selector(".waiting", state="detached")
        page.wait_for_load_state("networkidle")
        if part:
            page.evaluate("(part) => document.getElementById(part).scrollIntoView()", part)
            page.evaluate("() => scrollBy(0, -90)")
        page.wait_for_timeout(500)
        file = FIGURES / f"{name}.png"
        page.screenshot(path=file)
        Image.open(file).convert("RGB").quantize(192).save(file, optimize=True)  # a third of the bytes


def main() -> None:
    """Write all pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for picture in PICTURES:
            take(browser, sys.argv[1], *picture)
        browser.close()


if __name__ == "__main__":
    main()
