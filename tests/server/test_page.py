"""The page over HTTP: its files, and the data of its views."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest

import unseen
from tests.conftest import FAMILY
from tests.server.running import Running, running, wait_until
from unseen.api import ask_all
from unseen.graph import KnowledgeGraph
from unseen.server import page_files, predicting
from unseen.server.answer_kinds import kinds_of
from unseen.server.entity_edges import edges_of, usual_relations
from unseen.server.example_questions import example_questions
from unseen.server.keys import Keys
from unseen.server.question_drawing import Drawing
from unseen.server.server_settings import ServerSettings

QUESTION = "?x : exists v . borders(France, v) & speaks(v, x)"
NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def countries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("page") / "countries.db"
    with running(path, list(unseen.load("countries").triples())) as made:
        yield made


def data(server: Running, path: str, **parameters: str) -> dict:
    reply = server.send("GET", f"{path}?{urlencode(parameters)}")
    assert reply.status == 200, reply.text
    return reply.json


@pytest.mark.parametrize("path", page_files.VIEWS)
def test_every_view_is_html_with_a_strict_policy(countries: Running, path: str) -> None:
    reply = countries.send("GET", path)
    policy = reply.headers["content-security-policy"]
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert ("'unsafe-inline'" in policy) == (path == "/sparql")
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_file_that_has_not_changed_is_not_sent_again(countries: Running) -> None:
    first = countries.send("GET", "/page/page.js")
    again = countries.send("GET", "/page/page.js", None, {"If-None-Match": first.headers["etag"]})
    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert first.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    ["/page/", "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/page/index.html",
     "/page/vendor", "/page/page.js/", "/page/page.js%00", "/ask/"],
)  # fmt: skip
def test_no_address_leads_out_of_the_page(countries: Running, path: str) -> None:
    assert countries.send("GET", path).status == 404


def test_the_page_without_yasgui_is_light() -> None:
    folder = Path(page_files.__file__).parent / page_files.FOLDER
    sizes = {file: file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    assert sum(size for file, size in sizes.items() if "yasgui" not in file.parts) < 1_000_000
    assert {file.parent.name for file in sizes if file.name == "LICENSE"} == {"cytoscape", "yasgui"}


def test_own_scripts_never_make_html_of_text() -> None:
    folder = Path(page_files.__file__).parent / page_files.FOLDER
    for file in folder.glob("*.js"):
        text = file.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert way not in text, (file.name, way)


def test_with_keys_the_page_is_open_and_its_data_is_not(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, model="edge-type", keys=Keys(("r" * 16,), ("w" * 16,)))
    with running(tmp_path / "x.db", [("a", "knows", "b")], settings) as guarded:
        assert guarded.send("GET", "/").status == 200
        for path in ("/.json", "/ask.json?question=x", "/why.json?question=x", "/entity.json?name=a", "/change.json"):
            assert guarded.send("GET", path).error["code"] == "no_key"
        assert guarded.send("GET", "/.json", None, {"X-API-Key": "r" * 16}).json["needs_key"] is True


def test_the_overview_counts_and_offers_ten_questions_that_have_answers(countries: Running) -> None:
    overview = data(countries, "/.json")
    assert overview["graph"] == {"entities": 3506, "relations": 15, "triples": 9034}
    borders = next(one for one in overview["relations"] if one["name"] == "borders")
    assert (borders["triples"], borders["heads"], borders["tails"]) == (648, 164, 164)
    assert len(overview["questions"]) == 10
    *entities, pairs, how_many, how_likely = overview["questions"]
    for one in (*entities, pairs):
        answers = countries.ask(one["question"], exact=True).json
        assert answers["known"] == one["known"] > 0
    assert pairs["question"].startswith("?x, y : ")
    counted = countries.ask(how_many["question"], exact=True).json["answers"][0]["values"]
    assert counted["count"] == str(how_many["known"])
    assert data(countries, "/ask.json", question=how_likely["question"])["score"]["known"] is False


def test_the_overview_follows_the_graph(tmp_path: Path) -> None:
    with running(tmp_path / "x.db", [("a", "knows", "b")]) as server:
        assert data(server, "/.json")["graph"]["triples"] == 1
        server.post("/triples", {"triples": [[NASTY, "knows", "a"]]})
        overview = data(server, "/.json")
        assert overview["graph"] == {"entities": 3, "relations": 1, "triples": 2}
        assert [NASTY, "knows", "a"] in overview["relations"][0]["facts"]


def test_an_empty_graph_has_an_overview(tmp_path: Path) -> None:
    with running(tmp_path / "x.db") as server:
        overview = data(server, "/.json")
    assert overview["graph"] == {"entities": 0, "relations": 0, "triples": 0}
    assert overview["questions"] == overview["relations"] == overview["best_connected"] == []


def test_answers_say_their_kind_and_whether_they_are_related(countries: Running) -> None:
    asked = data(countries, "/ask.json", question="?x : borders(France, x)", top="12")
    by_name = {answer["entity"]: answer for answer in asked["answers"]}
    assert by_name["Spain"]["kinds"] == ["Country"]
    assert by_name["Spain"]["related"] is True
    expected = asked["expected"]
    assert expected["mean"] >= sum(answer["probability"] for answer in asked["answers"]) - 0.001
    assert asked["known"] <= expected["low"] <= expected["mean"] <= expected["high"]


def test_known_answers_do_not_wait_for_a_busy_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released = threading.Event(), threading.Event()

    def slow(graph: KnowledgeGraph, questions: list, method: object, name: str, *more: object) -> list:
        if method is not None:
            begun.set()
            released.wait(60)
        return ask_all(graph, questions, method, name, *more)

    monkeypatch.setattr(predicting, "ask_all", slow)
    with running(tmp_path / "x.db", FAMILY) as server:
        try:
            assert begun.wait(60)  # it measures the model first
            asked = data(server, "/ask.json", question="?x : parent(Ada, x)", exact="true")
        finally:
            released.set()
        again = server.ask("?x : parent(Ada, x)", exact=True).json
    assert [one["entity"] for one in asked["answers"]] == [one["entity"] for one in again["answers"]]
    assert asked["known"] == again["known"]


def test_answers_come_as_csv_and_parquet(countries: Running) -> None:
    query = urlencode({"question": "?x : borders(France, x)", "top": 9})
    rows = list(csv.DictReader(io.StringIO(countries.send("GET", f"/ask.csv?{query}").text)))
    table = pq.read_table(io.BytesIO(countries.send("GET", f"/ask.parquet?{query}").body)).to_pylist()
    assert [row["entity"] for row in rows] == [row["entity"] for row in table]
    assert len(table) == 9
    assert table[0]["known"] is True


def test_tuples_have_a_column_for_each_variable_in_files(countries: Running) -> None:
    asked = "?x, l : borders(France, x) & speaks(x, l) & !speaks(France, l)"
    query = urlencode({"question": asked, "top": 3, "exact": "true"})
    rows = list(csv.DictReader(io.StringIO(countries.send("GET", f"/ask.csv?{query}").text)))
    table = pq.read_table(io.BytesIO(countries.send("GET", f"/ask.parquet?{query}").body))
    assert table.column_names == ["rank", "entity", "key", "known", "probability", "x", "x_key", "l", "l_key"]
    assert [(row["x"], row["l"]) for row in rows] == [(row["x"], row["l"]) for row in table.to_pylist()]
    counted = urlencode({"question": "count x : borders(x, France)"})
    numbers = pq.read_table(io.BytesIO(countries.send("GET", f"/ask.parquet?{counted}").body)).to_pylist()[0]
    assert numbers["count"] == 8
    assert numbers["count_low"] <= numbers["count_expected"] <= numbers["count_high"]


def test_a_statement_has_a_score_in_the_place_of_answers(countries: Running) -> None:
    found = data(countries, "/ask.json", question="borders(France, Austria)", explain="true")["score"]
    plain = countries.post("/score", {"statement": "borders(France, Austria)"}).json["scores"][0]
    assert found["probability"] == plain["probability"] > 0
    assert found["reasons"]
    assert data(countries, "/ask.json", question="ASK { :France :borders :Spain }")["score"]["known"] is True
    refused = countries.send("GET", "/ask.json?" + urlencode({"question": "x : borders(France, x)"}))
    assert "answer variable" in refused.error["message"]


def test_why_draws_tuples_and_cycles(countries: Running) -> None:
    asked = "?x, l : borders(France, x) & speaks(x, l) & !speaks(France, l)"
    why = data(countries, "/why.json", question=asked, answer="Spain, Galician")
    values = {node["label"]: node["value"] for node in why["nodes"]}
    assert values == {"x": "Spain", "l": "Galician", "France": "France"}
    shown = [(edge["relation"], edge["negated"], edge["exists"]) for edge in why["edges"]]
    assert shown == [("borders", False, True), ("speaks", False, True), ("speaks", True, False)]
    assert why["steps"] == []
    refused = countries.send("GET", "/why.json?" + urlencode({"question": "count x : borders(x, France)"}))
    assert "not drawn" in refused.error["message"]


def test_why_draws_kinds_repeated_steps_and_values(countries: Running) -> None:
    asked = "?x : x a Country & part_of+(x, Europe) & speaks(x, French) & !borders(x, x)"
    why = data(countries, "/why.json", question=asked, type_relation="is_a")
    assert [edge["relation"] for edge in why["edges"]] == ["is_a", "part_of+", "speaks", "borders"]
    assert [edge["exists"] for edge in why["edges"]] == [True, None, True, False]
    assert all("error" not in step["set"] for step in why["steps"])


def test_the_server_says_when_the_model_is_ready(countries: Running) -> None:
    data(countries, "/ask.json", question="?x : borders(France, x)")
    assert countries.send("GET", "/healthz").json["ready"] is True


def test_values_are_part_of_the_overview_and_of_an_entity(tmp_path: Path) -> None:
    text = "@prefix : <http://a.example/> . :a :size 7 ; :near :b . :b :size 3 ; :near :a ."
    with running(tmp_path / "x.db", [], ServerSettings(port=0, model="edge-type")) as server:
        server.send("POST", "/store?default", text, {"Content-Type": "text/turtle"})
        assert data(server, "/.json")["attributes"][0]["largest"] == "7"
        found = data(server, "/entity.json", name="http://a.example/a")
        assert [one["text"] for one in found["values"]] == ["7"]
        asked = data(server, "/ask.json", question="?x : near(a, x)", order_by="size desc")  # local names
        assert [answer["related"] for answer in asked["answers"] if answer["known"]] == [True]


def test_why_draws_the_question_with_the_values_of_an_answer(countries: Running) -> None:
    why = data(countries, "/why.json", question=QUESTION, answer="Dutch")
    assert why["answer"]["edges"] == [["France", "borders", "Belgium"], ["Belgium", "speaks", "Dutch"]]
    assert {node["id"]: node["value"] for node in why["nodes"]}["v"] == "Belgium"
    assert [(edge["relation"], edge["exists"]) for edge in why["edges"]] == [("speaks", True), ("borders", True)]
    assert [step["label"] for step in why["steps"]] == ["borders from France", "speaks from set 1"]
    assert why["steps"][0]["set"]["known"] == 8


@pytest.mark.parametrize(
    "body",
    [
        "borders(France, v) & speaks(v, x)",
        "(exists w . borders(France, w) & part_of(w, Europe) & borders(w, v)) & !member_of(v, NATO) & speaks(v, x)",
        "(exists w . borders(France, w) & borders(v, w)) & (speaks(v, French) | speaks(v, Romansh)) & speaks(v, x)",
    ],
)
def test_values_on_the_way_are_those_of_the_question_about_both(body: str) -> None:
    graph = unseen.load("countries")
    drawing = Drawing.of(graph, f"?x : exists v . {body}")
    asked = drawing.questions_on_the_way("German")["v"]
    alone = {answer.entity for answer in unseen.ask(graph, asked, method="exact", top=500)}
    pairs = unseen.ask(graph, f"?x, v : {body}", method="exact", top=5000)
    assert alone == {pair.values["v"] for pair in pairs if pair.values["x"] == "German"}
    assert alone


def test_inner_variables_have_their_likeliest_values(countries: Running) -> None:
    found = data(countries, "/why.json", question=QUESTION, answer="Dutch")["answer"]["likeliest"]["v"]
    assert (found["known"], found["members"][0]["entity"]) == (1, "Belgium")
    assert len(found["members"]) == 4


def test_a_plain_drawing_is_there_at_once(countries: Running) -> None:
    plain = data(countries, "/why.json", question=QUESTION, plain="true")
    whole = data(countries, "/why.json", question=QUESTION)
    assert [node["id"] for node in plain["nodes"]] == [node["id"] for node in whole["nodes"]]
    assert [step["question"] for step in plain["steps"]] == [step["question"] for step in whole["steps"]]
    assert (plain["answer"], plain["steps"][0]["set"]) == (None, None)


def test_why_of_a_predicted_answer_has_an_edge_that_the_graph_lacks(countries: Running) -> None:
    asked = data(countries, "/ask.json", question=QUESTION, predicted_only="true", top="1")
    why = data(countries, "/why.json", question=QUESTION, answer=asked["answers"][0]["entity"])
    assert why["answer"]["known"] is False
    assert False in [edge["exists"] for edge in why["edges"]]


def test_why_knows_negation_and_alternatives() -> None:
    graph = unseen.load("countries")
    text = "?x : (speaks(x, French) | speaks(x, Dutch)) & !part_of(x, Europe)"
    drawing = Drawing.of(graph, text)
    shown = [(edge["relation"], edge["negated"], edge["either"]) for edge in drawing.edges]
    assert shown == [("speaks", False, True), ("speaks", False, True), ("part_of", True, False)]
    assert drawing.steps[-1].label == "set 3 and not set 4"


def test_an_answer_that_is_none_is_not_explained(countries: Running) -> None:
    why = data(countries, "/why.json", question="?x : borders(France, x)", answer="no such thing")
    assert why["answer"] is None
    assert why["steps"]


def test_an_entity_has_facts_and_predictions(countries: Running) -> None:
    france = data(countries, "/entity.json", name="France", predict="2")
    borders = next(one for one in france["relations"] if one["relation"] == "borders" and not one["inverse"])
    assert borders["count"] == 8
    assert "Spain" in borders["entities"]
    assert borders["question"] == "?x : borders(France, x)"
    assert not any(member["known"] for member in borders["predicted"]["members"])
    assert ["France", "capital", "Paris"] in france["neighbourhood"]
    unknown = countries.send("GET", "/entity.json?name=Frnace")
    assert "France" in unknown.error["closest"]


def test_a_change_says_whether_a_fact_is_there(countries: Running) -> None:
    fact = {"head": "France", "relation": "borders", "tail": "Spain"}
    assert data(countries, "/change.json", **fact)["is_there"] is True
    assert data(countries, "/change.json", **fact | {"tail": "Peru"})["is_there"] is False
    new = data(countries, "/change.json", head="Atlantis", question="?x : borders(Atlantis, x)")
    assert (new["is_there"], new["unknown"], new["answers"]) == (False, "Atlantis", None)


def test_sparql_has_its_data_at_its_address_too(countries: Running) -> None:
    query = "SELECT ?x WHERE { :France :borders ?x }"
    exact, predicted = (
        data(countries, "/sparql.json", query=query, infer=infer, k="20") for infer in ("false", "true")
    )
    assert len(exact["results"]["bindings"]) == 8
    assert predicted["head"]["vars"] == ["x", "score", "known"]


def test_what_entities_like_one_have_is_offered_to_it() -> None:
    graph = unseen.load("countries").extended_with(
        [("Atlantis", "borders", "France"), ("Atlantis", "speaks", "French")]
    )
    atlantis = graph.vocabulary.entity_id("Atlantis")
    offered = [graph.vocabulary.relation_name(one) for one in usual_relations(graph, edges_of(graph, atlantis))]
    assert ("uses_currency", False) in offered
    assert ("borders", False) not in offered


def test_without_types_the_kind_is_a_role() -> None:
    graph = KnowledgeGraph.from_triples([("Ada", "knows", "Bob"), ("Bob", "knows", "Cy")])
    assert kinds_of(graph, [0, 1, 2]) == [["head of knows"], ["head of knows"], ["tail of knows"]]


def test_names_with_a_word_before_a_colon_say_their_kind() -> None:
    names = ("Gene::1017", "pkg:libc6", "http://a.example/b", "Alien: the sequel", "12:30")
    graph = KnowledgeGraph.from_triples((name, "r", "Gene::7") for name in names)
    together = kinds_of(graph, [graph.vocabulary.entities.find(name) for name in names])
    assert together == [["Gene"], ["pkg"], [], [], []]


def test_examples_are_the_same_each_time_and_fewer_on_a_tiny_graph() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")])
    assert example_questions(graph) == example_questions(graph)
    assert 1 <= len(example_questions(graph)) < 10


def test_how_well_relations_can_be_predicted_is_found_out_in_the_background(countries: Running) -> None:
    assert all(one["quality"] is None for one in data(countries, "/.json")["relations"])
    assert data(countries, "/quality.json")["state"] == "running"
    wait_until(lambda: data(countries, "/quality.json")["state"] != "running", 120)
    found = data(countries, "/quality.json")
    assert found["state"] == "done"
    assert 0 < found["answered"] <= found["planned"]
    borders = found["relations"]["borders"]
    assert 0 <= borders["chance"] < borders["found"] <= 1
    assert borders["tried"] == 10
    shown = {one["name"]: one["quality"] for one in data(countries, "/.json")["relations"]}
    assert shown["borders"] == borders


def test_a_graph_that_is_too_small_to_be_checked_says_so(tmp_path: Path) -> None:
    with running(tmp_path / "x.db", [("a", "r", "b")]) as small:
        data(small, "/quality.json")
        wait_until(lambda: data(small, "/quality.json")["state"] != "running")
        assert "nothing can be hidden" in data(small, "/quality.json")["message"]


def test_what_the_page_shows_of_answers_is_in_its_address_and_so_in_its_data(countries: Running) -> None:
    asked = {"question": "?x : borders(France, x)", "top": "60"}
    known = data(countries, "/ask.json", **asked, show="known")
    assert all(answer["known"] for answer in known["answers"])
    assert known["predicted_in"] is None or known["predicted_in"] >= 0
    new = data(countries, "/ask.json", **asked, show="new")["answers"]
    assert new
    assert not any(answer["known"] or answer["related"] for answer in new)
    kind = new[0]["kinds"][0]
    chosen = data(countries, "/ask.json", **asked, show="new", kind=kind, order="name")["answers"]
    assert [one["entity"] for one in chosen] == sorted(one["entity"] for one in new if kind in one["kinds"])
    file = countries.send("GET", f"/ask.csv?{urlencode({**asked, 'show': 'new', 'kind': kind, 'order': 'name'})}")
    assert [row["entity"] for row in csv.DictReader(io.StringIO(file.text))] == [one["entity"] for one in chosen]
    assert countries.send("GET", f"/ask.json?{urlencode({**asked, 'show': 'some'})}").status == 400


def test_views_without_parameters_have_data_too(countries: Running) -> None:
    assert len(data(countries, "/ask.json")["questions"]) == 10
    assert data(countries, "/entity.json")["best_connected"]
