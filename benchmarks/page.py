"""How long a person waits for the page: the first view, known answers and predicted ones after a click, in a browser.

Starts `unseen serve` on a graph or database and opens its page in a headless Chromium. First views have an empty
browser cache. Then the ten questions that the page makes from the graph are asked twice; the second time counts. Prints
one JSON line: medians and maxima in seconds, the same with the processor time of the server, bytes sent, and the load
of the machine, which the clock times depend on.

    PYTHONPATH=. python benchmarks/page.py countries [--model default]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from server_load import processor_seconds, served
from tests.page.browser import find_browser

WEIGHT = """performance.getEntries().reduce((sum, one) => sum + (one.transferSize ?? 0), 0)"""
PATIENCE = 300_000


@contextlib.contextmanager
def opened() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


def timed(process: int, steps: list[Callable[[], Any]]) -> list[tuple[float, float]]:
    """Seconds after each step since the first one began: of the clock, and of the server's processor time."""
    clock, processor, passed = time.perf_counter(), processor_seconds(process), []
    for step in steps:
        step()
        passed.append((time.perf_counter() - clock, processor_seconds(process) - processor))
    return passed


def first_view(browser: Browser, url: str, process: int) -> tuple[tuple[float, float], int]:
    context = browser.new_context()
    page = context.new_page()
    passed = timed(process, [lambda: page.goto(url), lambda: page.wait_for_selector(".questions a")])
    weight = page.evaluate(WEIGHT)
    context.close()
    return passed[-1], weight


def when_ready(page: Any) -> None:
    """Wait until the model is ready and no check runs beside the questions."""
    for path, is_over in (("/healthz", "said.ready !== false"), ("/quality.json", "said.state !== 'running'")):
        while not page.evaluate(f"fetch('{path}').then((got) => got.json()).then((said) => {is_over})"):
            time.sleep(1)


def asked(page: Any, url: str, process: int, question: str) -> list[tuple[float, float]]:
    page.goto(f"{url}/ask")
    page.wait_for_selector(".questions")
    page.fill("#question", question)
    page.keyboard.press("Escape")
    shown = ".summary strong, .statement p, dl.counts"
    return timed(
        process,
        [
            lambda: (page.click(".asking button.main"), page.wait_for_selector(shown)),
            lambda: page.wait_for_selector(".waiting", state="detached"),
        ],
    )


def summary(pairs: list[tuple[float, float]]) -> dict[str, float]:
    clock, processor = zip(*pairs, strict=True)
    found = {"median": statistics.median(clock), "most": max(clock)}
    found |= {"processor_median": statistics.median(processor), "processor_most": max(processor)}
    return {name: round(value, 2) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--model", default="default")
    parser.add_argument("--views", type=int, default=5)
    arguments = parser.parse_args()
    with served(arguments.graph, arguments.model) as (url, process), opened() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        when_ready(page)
        views = [first_view(browser, url, process) for _ in range(arguments.views)]
        questions = page.evaluate("fetch('/.json').then((got) => got.json()).then((said) => said.questions)")
        texts = [one["question"] for one in questions]
        both = [[asked(page, url, process, text) for text in texts] for _ in range(2)][1]
        line = {
            "benchmark": "page",
            "graph": arguments.graph,
            "first_view": summary([passed for passed, _ in views]),
            "kilobytes": round(max(weight for _, weight in views) / 1000),
            "known": summary([passed[0] for passed in both]),
            "predicted": summary([passed[1] for passed in both]),
            "load": round(os.getloadavg()[0], 1),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
