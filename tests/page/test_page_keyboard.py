"""The page without a mouse: every step is a key."""

from __future__ import annotations

from typing import Any

from tests.page.conftest import Watched

MOST_KEYS = 60


def go_to(page: Any, selector: str, key: str = "Tab") -> None:
    """Press a key until an element is in focus."""
    for _ in range(MOST_KEYS):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached with {key}")


def test_a_question_is_run_filtered_and_explained_with_keys_alone(watched: Watched) -> None:
    page = watched.open("/")
    page.wait_for_selector(".questions a")
    go_to(page, ".skip")
    go_to(page, ".questions a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer.known")
    go_to(page, "button[data-show=known]")
    page.keyboard.press("Space")
    page.locator(".answer:not(.known)").first.wait_for(state="detached")
    go_to(page, "#order")
    page.keyboard.press("ArrowDown")
    page.wait_for_url("**order=name**")
    go_to(page, ".answer a.why")
    page.keyboard.press("Enter")
    page.wait_for_selector("#reason")
    go_to(page, ".others summary")
    page.keyboard.press("Enter")
    go_to(page, ".others a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#reason")


def test_a_question_is_built_and_a_fact_added_with_keys_alone(watched: Watched) -> None:
    page = watched.open("/ask")
    page.wait_for_selector(".questions")
    go_to(page, ".asking button.quiet")
    page.keyboard.press("Enter")
    page.wait_for_selector(".builder .condition")
    go_to(page, ".condition .field input")
    page.keyboard.type("capit")
    page.locator(".offered li:visible", has_text="capital").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    go_to(page, ".condition .field input")
    page.keyboard.type("Paris")
    page.keyboard.press("Escape")
    assert page.input_value("#question") == "?x : capital(x, Paris)"
    go_to(page, ".builder button.main")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer.known >> text=France")
    page.goto(f"{watched.url}/change?head=Lutetia&relation=capital&tail=Paris")
    page.wait_for_selector(".results p")
    go_to(page, ".card button.main")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Added:")
    go_to(page, ".done button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Removed:")
