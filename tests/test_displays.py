"""What objects show in a notebook: tables with bars, names as text, pictures of explanations."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import unseen
from unseen.displays import MOST_ROWS, bar, table
from unseen.errors import UnseenError
from unseen.evaluation.results import RankMetrics, Result, TypeResult
from unseen.graph import KnowledgeGraph
from unseen.reasons.drawing import drawn
from unseen.reasons.reason import Reason
from unseen.rules.listing import listed
from unseen.rules.mining import mine

if TYPE_CHECKING:
    from collections.abc import Sequence

HOSTILE = "<img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Every tag that a browser would see, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def hostile() -> KnowledgeGraph:
    """A graph whose names are markup: entities and a relation."""
    copies = [(f"{HOSTILE}{n}", relation, f"b{n}") for n in range(8) for relation in (HOSTILE, "r")]
    return KnowledgeGraph.from_triples(copies)


def shown_by(value: object) -> Tags:
    found = Tags(value._repr_html_())  # type: ignore[attr-defined]
    assert not {"img", "script"} & set(found.tags)
    return found


def test_a_name_that_is_markup_is_shown_as_text_by_every_object(hostile: KnowledgeGraph) -> None:
    rules = mine(hostile)
    question = f'?x : "{HOSTILE}"(x, b0)'
    answers = unseen.ask(hostile, question, method="edge-type", explain=True)
    objects = [hostile, rules, listed(rules, hostile), answers, answers[0].draw()]
    objects.append(unseen.check(hostile, methods=["edge-type"], facts=2))
    for value in objects:
        assert "<img src=x" in shown_by(value).text, type(value).__name__


def test_answers_show_what_is_known_and_what_is_predicted(countries: KnowledgeGraph) -> None:
    answers = unseen.ask(countries, "?x : borders(Portugal, x)", method="edge-type", top=4)
    found = shown_by(answers)
    assert found.tags.count("tr") == 1 + len(answers)
    assert found.text.count("predicted") == sum(not answer.known for answer in answers)
    assert "Spain" in found.text
    assert "1 known" in found.text


def test_a_graph_shows_counts_and_a_fact_of_each_relation(family: KnowledgeGraph) -> None:
    text = shown_by(family).text
    assert "7 entities, 2 relations, 8 triples" in text
    assert "Ada → Ben" in text
    assert "Ben → Chess" in text


def test_a_graph_without_facts_shows_itself() -> None:
    assert "0 triples" in shown_by(KnowledgeGraph.from_triples([])).text


def test_the_rows_of_a_long_table_are_counted() -> None:
    found = Tags(table(("n",), [(n,) for n in range(MOST_ROWS + 5)]))
    assert found.tags.count("tr") == MOST_ROWS + 1
    assert "and 5 more" in found.text


def test_a_bar_stays_between_nothing_and_all() -> None:
    assert "width:100.0%" in bar(1.2)
    assert "width:0.0%" in bar(-1)
    assert bar(None) == "–"


def test_a_picture_has_known_links_solid_predicted_dashed_and_absent_dotted(tmp_path: Path) -> None:
    reasons = (
        Reason("known", "", ("a", "r", "b"), (("a", "r", "b"),)),
        Reason("rule", "", ("b", "s", "c")),
        Reason("network", "", ("b", "s", "c")),
        Reason("absent", "", ("c", "t", "a")),
        Reason("known", "", ("c", "self", "c")),
        Reason("known", "", ("y", "far", "z")),
    )
    drawing = drawn("c", {"v": "b"}, (), reasons)
    svg = ET.fromstring(drawing.svg)
    lines = [one for one in svg.iter() if one.tag.endswith("path") and one.get("fill") == "none"]
    assert [line.get("stroke-dasharray") for line in lines] == [None, "7 4", "2 4", None, None]
    texts = "".join(svg.itertext())
    assert "no t" in texts
    assert "v" in texts
    drawing.save(tmp_path / "why.svg")
    assert (tmp_path / "why.svg").read_text(encoding="utf-8") == drawing.svg


def test_predicted_and_known_answers_are_drawn(countries: KnowledgeGraph) -> None:
    question = "?x : exists v . borders(Portugal, v) & borders(v, x) & !speaks(x, German)"
    for answer in unseen.ask(countries, question, method="edge-type", explain=True, top=8):
        assert ET.fromstring(answer.draw().svg).tag.endswith("svg")


def test_tuples_and_counts_show_a_column_for_each_variable(countries: KnowledgeGraph) -> None:
    pairs = unseen.ask(countries, "?x, l : borders(Portugal, x) & speaks(x, l)", method="edge-type", explain=True)
    text = shown_by(pairs).text
    assert {"x", "l"} <= set(pairs.to_pandas().columns)
    assert "Galician" in text
    assert "Spain, Galician" not in text
    picture = ET.fromstring(next(one for one in pairs if one.values["l"] == "Galician").draw().svg)
    assert {"x", "l"} <= {"".join(node.itertext()) for node in picture.iter() if node.tag.endswith("text")}
    counted = unseen.ask(countries, "count x : borders(x, Portugal)", method="edge-type")
    assert "count_expected" in shown_by(counted).text
    assert counted.to_arrow()["count"].to_pylist() == [1]
    assert counted.to_arrow().schema.field("count_expected").type == "double"


def test_values_are_shown_beside_answers_and_of_a_graph(tmp_path: Path) -> None:
    (tmp_path / "g.ttl").write_text("@prefix : <http://a.example/> . :a :size 7 ; :near :b . :b :size 3 ; :near :a .")
    graph = unseen.load(tmp_path / "g.ttl")
    assert "size" in shown_by(graph).text
    answers = unseen.ask(graph, "?x : near(x, b) & size(x) > 5", method="edge-type")
    assert "7" in shown_by(answers).text
    assert answers.to_arrow().column(answers.to_arrow().column_names[-1]).to_pylist()[0] == "7"


def test_a_score_is_drawn_and_an_evaluation_shows_its_types(countries: KnowledgeGraph) -> None:
    score = unseen.score(
        countries, "borders(Portugal, Spain) & !speaks(Spain, French)", method="edge-type", explain=True
    )
    assert "Spain" in "".join(ET.fromstring(score.draw().svg).itertext())
    metrics = RankMetrics(10, 20, 0.5, 0.4, 0.45, 0.7, 0.9)
    text = shown_by(Result("edge-type", HOSTILE, "test", {"1p": TypeResult(metrics)}, limit=10)).text
    assert HOSTILE in text
    assert "0.700" in text


def test_an_answer_without_explanation_cannot_be_drawn(family: KnowledgeGraph) -> None:
    with pytest.raises(UnseenError, match="explain=True"):
        unseen.ask(family, "?x : parent(Ada, x)", method="exact")[0].draw()
