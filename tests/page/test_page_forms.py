"""Questions of every form on the page: tuples, counts, statements, kinds, values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.page.conftest import Watched, watch
from tests.server.running import running
from unseen.server.server_settings import ServerSettings

PAIRS = "?x, l : borders(France, x) & speaks(x, l) & !speaks(France, l)"
VALUES = """
@prefix : <http://a.example/> .
:France a :Country ; :population 68.4 ; :borders :Spain, :Belgium .
:Spain a :Country ; :population 48.6 ; :borders :France .
:Belgium a :Country ; :population 11.8 ; :borders :France .
:Paris a :City ; :capital_of :France .
"""


def test_tuples_are_a_table_whose_rows_are_explained_and_saved(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote(PAIRS)}")
    page.wait_for_selector(".tuples tr.answer:not(.known)")
    assert page.locator(".tuples thead th").all_inner_texts()[1:3] == ["x", "l"]
    assert page.locator(".tuples td a.thing[href='/entity?name=Switzerland']").count() > 0
    with page.expect_download() as download:
        page.click(".files >> text=CSV")
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert {"x": "Spain", "l": "Galician"}.items() <= next(row for row in rows if row["l"] == "Galician").items()
    page.locator(".tuples tr.answer:not(.known) a.why").first.click()
    page.wait_for_selector("#reason")
    words = page.get_attribute(".drawing", "aria-label") or ""
    assert "(predicted)" in words
    assert "not speaks" in words
    assert page.locator("#steps").count() == 0  # tuples are found by search, without sets on the way


def test_counts_are_figures_and_groups_a_table_with_expected_numbers(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('count x : borders(x, France)')}")
    page.wait_for_selector("dl.counts dd")
    page.locator("dl.counts >> text=expected in all").wait_for()
    assert page.locator("dl.counts dd").first.inner_text() == "8"
    page.goto(f"{watched.url}/ask?question={quote('?c, count x : part_of(x, c) & speaks(x, Dutch)')}")
    page.wait_for_selector(".tuples .interval")
    page.wait_for_selector(".tuples td.about .interval")
    assert "to" in page.locator(".tuples td.about .interval").first.inner_text()


def test_a_statement_has_a_probability_and_reasons(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('borders(France, Austria)')}")
    page.wait_for_selector(".statement .reasons")
    assert page.locator(".statement .likely .badge").inner_text() == "predicted"
    page.goto(f"{watched.url}/ask?question={quote('borders(France, Spain)')}")
    page.wait_for_selector(".statement .facts")
    assert page.locator(".statement .facts li").all_inner_texts() == ["France borders Spain"]


def test_a_relation_for_kinds_is_offered_where_the_graph_has_no_type(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('?x : x a Country & borders(France, x)')}")
    page.click(".problem >> text=is_a")
    page.wait_for_selector(".answer.known")
    assert "type_relation=is_a" in page.url
    assert page.get_by_label("The relation of “x a Kind”").input_value() == "is_a"
    page.get_by_label("Why Spain", exact=True).click()
    page.wait_for_selector("#reason")
    assert "Spain is_a Country" in (page.get_attribute(".drawing", "aria-label") or "")
    watched.problems[:] = [one for one in watched.problems if "status of 400" not in one]


def test_the_builder_counts_too(watched: Watched) -> None:
    page = watched.open("/ask")
    page.click("text=Build a question")
    page.get_by_label("What is wanted").select_option("count x")
    page.get_by_label("Relation", exact=True).first.fill("borders")
    page.get_by_label("Thing", exact=True).fill("France")
    assert page.input_value("#question") == "count x : borders(x, France)"


def test_values_are_shown_asked_for_and_drawn(chromium: Any, tmp_path: Path) -> None:
    with running(tmp_path / "x.db", [], ServerSettings(port=0, model="rules")) as server:
        headers = {"Content-Type": "text/turtle"}
        assert server.send("POST", "/store?default", VALUES, headers).status < 300
        with chromium.new_context() as context:
            watched = watch(context.new_page(), server.url)
            page = watched.open("/")
            page.locator("section[aria-labelledby=values] a").first.click()
            page.wait_for_selector(".answer.known .attribute")
            page.goto(f"{server.url}/ask?question={quote('?x : population(x) > 20 & borders(x, France)')}")
            page.wait_for_selector(".answer.known .attribute")
            assert "48.6" in page.inner_text(".answer .attribute")
            page.click(".answer .why")
            page.wait_for_selector("#reason")
            assert "48.6" in page.inner_text(".recorded")
            assert "population > 20" in page.inner_text("#steps ~ .steps")
            page.goto(f"{server.url}/entity?name=Spain")
            page.wait_for_selector(".recorded dd")
            assert page.inner_text(".recorded dd") == "48.6"
            assert watched.problems == []
