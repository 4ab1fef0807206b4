"""`unseen.score`: one number for a fact, however it is asked for."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unseen
from unseen.errors import UnknownName, UnseenError
from unseen.graph import KnowledgeGraph
from unseen.reasons.reason import Reason
from unseen.scoring.scores import Score

FACTS = [
    ("Eve", "grandparent_of", "Finn"),
    ("Ann", "parent_of", "Bob"),
    ("Bob", "parent_of", "Cleo"),
    ("Ann", "grandparent_of", "Cleo"),
    ("Dan", "parent_of", "Eve"),
    ("Eve", "parent_of", "Finn"),
]
GRAPH = KnowledgeGraph.from_triples(FACTS)


@pytest.mark.parametrize("method", ["edge-type", "rules", "default"])
@pytest.mark.parametrize(
    "fact", [("Dan", "grandparent_of", "Finn"), ("Ann", "parent_of", "Bob"), ("Ann", "parent_of", "Eve")]
)
def test_a_fact_has_one_number(method: str, fact: tuple[str, str, str]) -> None:
    head, relation, tail = fact
    text = f"{relation}({head}, {tail})"
    answers = unseen.ask(GRAPH, f"?x : {relation}({head}, x)", method=method, top=9, all_predictions=True)
    asked = {answer.entity: answer for answer in answers}[tail]
    named = unseen.ask(GRAPH, f"?x : {relation}({head}, x) & x = {tail}", method=method, all_predictions=True)[0]
    select = f"SELECT ?x {{ :{head} :{relation} ?x }}"
    by_sparql = {one.entity: one for one in unseen.ask(GRAPH, select, method=method, top=9, all_predictions=True)}[tail]
    statements = [
        text,
        f"{text} & {text}",
        f"{text} | {text}",
        f"!!{text}",
        f"ASK {{ :{head} :{relation} :{tail} }}",
        fact,
    ]
    scores = [unseen.score(GRAPH, one, method=method) for one in statements]
    scores += [unseen.score(GRAPH, [fact], method=method)[0]]
    numbers = [one.probability for one in (asked, named, by_sparql, *scores)]
    assert numbers == pytest.approx([asked.probability] * len(numbers), abs=1e-6)
    assert {one.known for one in scores} == {asked.known}


def test_what_is_known_is_said_to_be_and_reasons_come_when_wanted() -> None:
    known = unseen.score(GRAPH, "parent_of(Ann, Bob) & !parent_of(Bob, Ann)", method="rules", explain=True)
    assert (known.known, known.edges) == (True, (("Ann", "parent_of", "Bob"),))
    assert [reason.kind for reason in known.reasons] == ["known", "absent"]
    assert known.probability == pytest.approx(
        1 - (unseen.score(GRAPH, "parent_of(Bob, Ann)", method="rules").probability or 0)
    )
    some = unseen.score(GRAPH, "exists v . parent_of(Dan, v) & parent_of(v, Finn)", method="exact", explain=True)
    assert (some.probability, some.known, some.bindings) == (1.0, True, {"v": "Eve"})
    assert isinstance(some.reasons[0], Reason)
    assert Score.from_json(some.as_json()) == some
    assert unseen.score(GRAPH, "parent_of(Bob, Ann)", method="exact").probability == 0


def test_a_predicted_statement_has_the_reasons_of_its_links() -> None:
    family = [(f"P{i}", "parent_of", f"Q{i}") for i in range(9)] + [(f"Q{i}", "parent_of", f"R{i}") for i in range(9)]
    graph = KnowledgeGraph.from_triples(family + [(f"P{i}", "grandparent_of", f"R{i}") for i in range(8)])
    found = unseen.score(graph, "grandparent_of(P8, R8) | grandparent_of(P8, R1)", method="rules", explain=True)
    assert not found.known
    assert found.reasons[0].body == (("P8", "parent_of", "Q8"), ("Q8", "parent_of", "R8"))


def test_unknown_names_are_errors_of_their_rows() -> None:
    with pytest.raises(UnknownName, match="Anne"):
        unseen.score(GRAPH, "parent_of(Anne, Bob)", method="exact")
    rows = [("Ann", "parent_of", "Bob"), ("Anne", "parent_of", "Bob"), ("Ann", "likes", "Bob")]
    table = pa.table(list(zip(*rows, strict=True)), ["head", "relation", "tail"])
    for given in (rows, table, table.to_pandas()):
        found = unseen.score(GRAPH, given, method="edge-type")
        assert found.to_arrow()["known"].to_pylist() == [True, False, False]
        assert found.to_arrow()["error"].to_pylist() == [None, "unknown entity 'Anne'", "unknown relation 'likes'"]
        assert found.to_pandas()["known"].tolist() == [True, False, False]
        assert [one.probability for one in found] == [1.0, None, None]
        assert found[1].statement == "parent_of(Anne, Bob)"
    mixed = unseen.score(GRAPH, ["parent_of(Ann, Bob)", "parent_of(Ann", rows[1]], method="exact")
    assert [one.error is None for one in mixed] == [True, False, False]
    with pytest.raises(UnseenError, match="not for a table"):
        unseen.score(GRAPH, table, explain=True)


def test_scores_show_themselves() -> None:
    found = unseen.score(GRAPH, [("Ann", "parent_of", "Bob"), ("Ann", "parent_of", "<b>")], method="exact")
    assert "parent_of(Ann, Bob)" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert "1.000" in found[0]._repr_html_()
