"""Every view of the page, driven as a person would."""

from __future__ import annotations

import io
import json
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from tests.page.conftest import Watched
from tests.server.running import Running

AXE = Path(__file__).parent / "axe" / "axe.min.js"
QUESTION = "?x : exists v . borders(France, v) & speaks(v, x)"
NASTY = "<img src=x onerror=alert(1)>"


def test_an_example_of_the_first_view_runs_with_one_click(watched: Watched) -> None:
    page = watched.open("/")
    page.wait_for_selector(".questions a")
    assert page.locator(".counts dd").all_inner_texts() == ["3,506", "15", "9,034"]
    assert page.locator(".questions a").count() == 10
    page.fill("#find-relation", "curr")
    assert page.locator("table.relations tbody tr:visible").count() == 1
    page.locator(".questions a").first.click()
    page.wait_for_selector(".answer.known")
    assert "/ask?question=" in page.url
    page.go_back()
    page.wait_for_selector(".counts")


def test_names_are_offered_while_one_types_and_enter_asks(watched: Watched) -> None:
    page = watched.open("/ask")
    page.wait_for_selector(".questions")
    page.fill("#question", "?x : ")
    page.press("#question", "End")
    page.type("#question", "bord")
    page.wait_for_selector(".offered li:visible")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.type("#question", "(Frenc")
    page.locator(".offered li:visible", has_text="French Guiana").wait_for()
    page.locator(".offered li:visible", has_text="French Guiana").click()
    page.type("#question", ", x)")
    assert page.input_value("#question") == '?x : borders("French Guiana", x)'
    page.keyboard.press("Escape")
    page.press("#question", "Enter")
    page.wait_for_selector(".answer.known")
    assert "Brazil" in page.locator(".answer.known .thing").all_inner_texts()


def test_answers_are_filtered_sorted_continued_and_saved(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('?x : borders(France, x)')}")
    page.wait_for_selector(".answer:not(.known)")
    assert page.locator(".answer.known").count() == 8
    first = page.locator(".answer").count()
    page.mouse.wheel(0, 20_000)
    page.locator(".answer").nth(first).wait_for()
    page.click("button[data-show=predicted]")
    page.locator(".answer.known").first.wait_for(state="detached")
    assert "show=predicted" in page.url
    page.click("button[data-show=new]")
    page.wait_for_selector(".answer")
    assert "Spain" not in page.locator(".answer .thing").all_inner_texts()
    page.click("button[data-show=known]")
    page.wait_for_selector(".answer.known")
    page.select_option("#order", "name")
    names = page.locator(".answer .thing").all_inner_texts()
    assert names == sorted(names)
    page.fill("#within", "spa")
    assert page.locator(".answer .thing").all_inner_texts() == ["Spain"]
    with page.expect_download() as download:
        page.click(".files >> text=Parquet")
    table = pq.read_table(io.BytesIO(Path(download.value.path()).read_bytes()))
    assert "Spain" in table.column("entity").to_pylist()


def test_a_question_is_built_without_syntax(watched: Watched) -> None:
    page = watched.open("/ask")
    page.click("text=Build a question")
    page.get_by_label("Relation", exact=True).first.fill("borders")
    page.get_by_label("To a thing or a step further").first.select_option("step")
    page.locator(".group.inner").get_by_label("Relation", exact=True).fill("speaks")
    page.locator(".group.inner").get_by_label("Thing", exact=True).fill("Low Saxon")
    page.locator(".group.inner >> text=+ condition").click()
    inner = page.locator(".group.inner .condition").nth(1)
    inner.get_by_label("Relation", exact=True).fill("part_of")
    inner.get_by_label("Thing", exact=True).fill("Europe")
    inner.get_by_label("not", exact=True).check()
    assert page.input_value("#question") == (
        '?x : exists v1 . speaks(v1, "Low Saxon") & !part_of(v1, Europe) & borders(x, v1)'
    )


def test_a_wrong_question_is_pointed_at_and_mended_with_a_click(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('?x : borders(Frnace, x)')}")
    page.wait_for_selector(".problem")
    assert page.inner_text(".pointer") == "?x : borders(Frnace, x)\n             ^^^^^^"
    page.click(".offers >> text=France")
    page.wait_for_selector(".answer.known")
    page.goto(f"{watched.url}/ask?question={quote('?x : borders(France')}")
    page.wait_for_selector(".pointer")
    refused = [problem for problem in watched.problems if "status of 400" in problem]
    assert refused == watched.problems  # the browser notes that the server refused, and nothing else
    watched.problems.clear()


@pytest.mark.parametrize(
    ("mistaken", "mended"),
    [
        ("borders(France, x)", "?x : borders(France, x)"),
        ('?x : borders(France, x) and not speaks(x, "and or")', '?x : borders(France, x) & !speaks(x, "and or")'),
    ],
)
def test_words_for_signs_and_a_missing_variable_are_mended(watched: Watched, mistaken: str, mended: str) -> None:
    page = watched.open(f"/ask?question={quote(mistaken)}")
    page.wait_for_selector(".offers button")
    assert page.locator(".offers button").first.inner_text() == mended
    watched.problems.clear()


def test_a_sentence_is_told_how_questions_are_written(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote('which countries border France?')}")
    page.wait_for_selector(".problem code")
    assert page.inner_text(".problem code").startswith("?x : ")
    watched.problems.clear()


def test_why_draws_the_question_and_shows_a_proof_and_the_steps(watched: Watched) -> None:
    page = watched.open(f"/ask?question={quote(QUESTION)}")
    page.wait_for_selector(".answer:not(.known)")
    page.get_by_label("Why Dutch", exact=True).click()
    page.wait_for_selector("#reason")
    assert page.locator(".facts li").all_inner_texts() == ["France borders Belgium", "Belgium speaks Dutch"]
    assert page.locator(".steps > li").count() == 2
    assert "Belgium speaks Dutch" in (page.get_attribute(".drawing", "aria-label") or "")
    page.click("text=Another answer")
    page.locator(".others a").last.click()
    page.wait_for_selector("h2 .badge:not(.known)")
    assert "(predicted)" in (page.get_attribute(".drawing", "aria-label") or "")


def test_an_entity_shows_facts_predictions_and_a_neighbourhood_that_grows(watched: Watched) -> None:
    page = watched.open("/entity")
    page.get_by_label("Look up a thing").fill("Fran")
    page.locator(".offered li:visible >> text=France").first.click()
    page.wait_for_selector(".relation-facts .members li .bar")
    assert page.inner_text("h1") == "France"
    page.wait_for_selector(".drawing canvas")
    page.wait_for_selector(".drawing[data-nodes]")
    before = page.get_attribute(".drawing", "data-nodes")
    page.get_by_label("Expand a thing").select_option("Andorra")
    page.wait_for_selector(f".drawing:not([data-nodes='{before}'])")


def test_a_fact_is_added_seen_and_removed_again(watched: Watched, countries: Running) -> None:
    page = watched.open("/change")
    for label, value in (("Head", "Atlantis"), ("Relation", "borders"), ("Tail", "France")):
        page.get_by_label(label, exact=True).fill(value)
    page.keyboard.press("Tab")
    page.fill("#question", "?x : borders(Atlantis, x)")
    page.click("text=Add this fact")
    page.wait_for_selector("text=Added:")
    assert "knows nothing called “Atlantis”" in page.inner_text("section[aria-label=Before]")
    assert "France" in page.inner_text("section[aria-label=After] li.known")
    page.click("text=Remove it again")
    page.wait_for_selector("text=Removed:")
    assert page.locator("section[aria-label=After] li.known").count() == 0
    assert countries.ask("?x : borders(x, France)", exact=True).json["known"] == 8


def test_sparql_runs_exact_and_predicted(watched: Watched) -> None:
    page = watched.open("/sparql")
    page.click("#examples >> text=Known")
    page.wait_for_selector(".yasr table td")
    exact = page.locator(".yasr tbody tr").count()
    page.click("#examples >> text=Predicted (infer)")
    page.wait_for_selector(".yasr th >> text=score")
    assert page.locator(".yasr tbody tr").count() > exact
    assert "infer=true" in page.url
    page.click("#examples >> text=Predictions inside")
    page.locator(".yasr th").nth(4).wait_for()


def test_a_name_that_looks_like_html_is_text_everywhere(watched: Watched, countries: Running) -> None:
    fact = [[NASTY, "borders", "France"], [NASTY, NASTY, NASTY]]
    assert countries.post("/triples", {"triples": fact}).status == 200
    try:
        name = quote(f'"{NASTY}"')
        paths = {
            f"/entity?name={quote(NASTY)}": "h1",
            f"/ask?question={quote('?x : borders(x, France)')}": f".answer >> text={NASTY}",
            f"/ask?question={quote('?x : ')}{name}({name},x)": ".answer .thing",
            f"/why?question={quote('?x : borders(x, France)')}&answer={quote(NASTY)}": "#reason",
            f"/change?head={quote(NASTY)}&relation=borders&tail=France": ".results p",
            f"/ask?question={quote('?x : borders(')}{quote(NASTY)},x)": ".problem",
            "/": "table.relations",
        }
        for path, shown in paths.items():
            page = watched.open(path)
            page.wait_for_selector(shown)
            assert page.locator("main img").count() == 0
        assert [problem for problem in watched.problems if "status of 400" not in problem] == []
        watched.problems.clear()
    finally:
        countries.send("DELETE", "/triples", json.dumps({"triples": fact}), {"Content-Type": "application/json"})


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(chromium, countries: Running, theme: str, width: int) -> None:
    paths = ("/", "/ask", f"/ask?question={quote(QUESTION)}", f"/why?question={quote(QUESTION)}", "/entity?name=France")
    with chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=theme, bypass_csp=True, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        found = []
        for path in (*paths, "/change"):
            page.goto(countries.url + path, wait_until="networkidle")
            page.add_script_tag(path=AXE)
            violations = page.evaluate("axe.run().then((result) => result.violations)")
            found += [
                (path, one["id"], [node["html"][:120] for node in one["nodes"][:3]])
                for one in violations
                if one["impact"] in ("serious", "critical")
            ]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
    assert found == []
