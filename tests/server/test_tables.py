"""Counts, display values and order from a server, with literals that only its triples have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import unseen

if TYPE_CHECKING:
    import pytest

    from tests.server.running import Running


def rows_of(server: Running, text: str, **parameters: str) -> list[dict[str, str]]:
    reply = server.query(text, **parameters)
    assert reply.status == 200, reply.text
    return [{name: term["value"] for name, term in row.items()} for row in reply.json["results"]["bindings"]]


def test_groups_have_known_and_expected_counts(reading: Running) -> None:
    text = "SELECT ?y (COUNT(?x) AS ?n) { ?x :likes ?y } GROUP BY ?y ORDER BY DESC(?n) ?y"
    exact, predicted = rows_of(reading, text), rows_of(reading, text, infer="true", k="50")
    known = {row["y"]: row["n"] for row in predicted if row["known"] == "true"}
    assert known == {row["y"]: row["n"] for row in exact}
    for row in predicted:
        assert int(row["n"]) <= int(row["n_low"]) <= int(row["n_high"])
        assert float(row["n_expected"]) >= int(row["n"])
    asked = reading.ask("count x : likes(x, Go)").json["answers"][0]
    assert int(asked["values"]["count"]) == int(known["urn:unseen:Go"])


def test_display_values_are_literals_of_the_database(server: Running) -> None:
    server.update('INSERT DATA { :Go :title "the game of Go" . :Chess :title "Chess & draughts"@en }')
    text = "SELECT ?x ?t { :Ada :likes ?x OPTIONAL { ?x :title ?t } } LIMIT 5"
    rows = rows_of(server, text, infer="true")
    assert rows[0]["t"] == "the game of Go"
    assert rows[0]["known"] == "true"
    assert {row.get("t") for row in rows[1:]} >= {"Chess & draughts"}
    assert all(0 < float(row["score"]) < 1 for row in rows[1:])
    filtered = rows_of(server, text.replace("} LIMIT", 'FILTER(STRSTARTS(?t, "Chess")) } LIMIT'), infer="true")
    assert [row["x"] for row in filtered] == ["urn:unseen:Chess"]
    with unseen.connect(server.url) as client:
        answers = client.ask(text)
        assert answers[0].values == {"x": "Go", "t": "the game of Go"}
        assert client.ask("?x : parent+(Ada, x)", exact=True).known == 4


def test_offset_and_order_by_score(reading: Running) -> None:
    every = rows_of(reading, "SELECT ?x { :Ada :likes ?x } ORDER BY DESC(?score) ?x LIMIT 4", infer="true")
    later = rows_of(reading, "SELECT ?x { :Ada :likes ?x } ORDER BY DESC(?score) ?x LIMIT 3 OFFSET 1", infer="true")
    assert later == every[1:]


def test_counts_of_many_known_answers_are_whole_or_refused(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.server.predicting.MOST_KNOWN", 3)
    facts = [[f"fan {number}", "likes", "Halma"] for number in range(7)]
    assert server.post("/triples", {"triples": facts}).status == 200
    for flags in ({}, {"exact": True}):
        assert server.ask("count x : likes(x, Halma)", **flags).json["answers"][0]["values"]["count"] == "7"
        assert "only 3 are counted by group here" in server.ask("?y, count x : likes(x, y)", **flags).error["message"]
