"""An agent over MCP: it asks, reads the error and repairs its question from the text alone."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="mcp is not installed: install the extra 'mcp' to test the tools of agents")

from mcp import Client

from unseen.agents.asked_graphs import GraphHere
from unseen.agents.graph_tools import GraphTools
from unseen.agents.mcp_server import make_server
from unseen.graph import KnowledgeGraph

FACTS = [
    ("France", "borders", "Spain"),
    ("France", "borders", "Italy"),
    ("France", "speaks", "French"),
    ("Spain", "speaks", "Spanish"),
    ("Haiti", "speaks", "Haitian Creole"),
]


def graph() -> GraphHere:
    return GraphHere(KnowledgeGraph.from_triples(FACTS), "edge-type")


def called(name: str, *, is_written: bool = False, on: GraphHere | None = None, **arguments: Any) -> tuple[bool, Any]:
    """Whether a call failed, and its text or its data."""

    async def call() -> tuple[bool, Any]:
        async with Client(make_server(GraphTools(on or graph()), is_written=is_written)) as client:
            result = await client.call_tool(name, arguments)
            text = result.content[0].text if result.content else ""
            return bool(result.is_error), text if result.is_error else result.structured_content

    return anyio.run(call)


def tools_of(*, is_written: bool) -> set[str]:
    async def listed() -> set[str]:
        async with Client(make_server(GraphTools(graph()), is_written=is_written)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    return anyio.run(listed)


def known_of(found: dict[str, Any]) -> list[str]:
    known = [answer for answer in found["answers"] if answer["known"]]
    return sorted(answer.get("values", {}).get("count", answer["entity"]) for answer in known)


@pytest.mark.parametrize(
    ("mistaken", "answers"),
    [
        ("?x : bordrs(France, x)", ["Italy", "Spain"]),
        ("?x : borders(Frence, x)", ["Italy", "Spain"]),
        ('?x : speaks(x, "Haitian Creol")', ["Haiti"]),
        ("SELECT ?x WHERE { :France :bordrs ?x }", ["Italy", "Spain"]),
        ("?x, l : borders(France, x) & speaks(x, Spanich) & speaks(x, l)", ["Spain, Spanish"]),
        ("SELECT ?x ?l WHERE { :France :borders ?x . ?x :speeks ?l }", ["Spain, Spanish"]),
        ("count x : borders(Frence, x)", ["2"]),
    ],
)
def test_an_unknown_name_is_repaired_from_the_error(mistaken: str, answers: list[str]) -> None:
    failed, text = called("ask", question=mistaken)
    assert failed
    repaired = re.search(r"^ *did you mean: (.*)$", text, re.MULTILINE)
    assert repaired, text
    assert "find_names" in text
    assert known_of(called("ask", question=repaired[1])[1]) == answers


def test_a_kind_without_a_type_is_repaired_with_the_relation_that_is_offered() -> None:
    asked = GraphHere(KnowledgeGraph.from_triples([*FACTS, ("Spain", "is_a", "Country")]), "edge-type")
    question = "?x : x a Country & borders(France, x)"
    failed, text = called("ask", on=asked, question=question)
    assert failed
    named = re.search(r'type_relation="(.*)"', text)
    assert named, text
    assert known_of(called("ask", on=asked, question=question, type_relation=named[1])[1]) == ["Spain"]
    assert called("describe_graph", on=asked)[1]["kinds_told_by"] == ["is_a"]


def test_a_syntax_error_is_repaired_from_its_place_and_what_was_expected() -> None:
    mistaken = "?x : borders(France x)"
    failed, text = called("ask", question=mistaken)
    assert failed
    expected = re.search(r"at position (\d+): expected `(.)`", text)
    assert expected, text
    place = int(expected[1]) - 1
    repaired = mistaken[:place].rstrip() + expected[2] + " " + mistaken[place:]
    assert known_of(called("ask", question=repaired)[1]) == ["Italy", "Spain"]


def test_a_question_of_no_syntax_gets_an_example_that_works() -> None:
    failed, text = called("ask", question="which countries border France?")
    assert failed
    example = re.search(r"works on this graph: (.*)$", text, re.MULTILINE)
    assert example, text
    assert known_of(called("ask", question=example[1])[1])
    assert "unseen://grammar" in text


def test_a_wrong_direction_is_repaired_from_the_hint() -> None:
    failed, found = called("ask", question="?x : speaks(French, x)")
    assert not failed
    assert not known_of(found)
    repaired = found["hints"][0].split("try: ")[1]
    assert known_of(called("ask", question=repaired)[1]) == ["France"]


def test_a_question_with_known_answers_has_no_hints() -> None:
    assert "hints" not in called("ask", question="?x : borders(France, x)", exact=True)[1]


def test_the_graph_is_described_with_directions() -> None:
    found = called("describe_graph")[1]
    assert (found["relations"], found["triples"]) == (2, 5)
    assert found["most_frequent_relations"][0] == {"name": "speaks", "triples": 3, "example": "speaks(France, French)"}
    assert known_of(called("ask", question=found["example_question"])[1])


def test_names_are_found_by_a_part_of_them() -> None:
    found = called("find_names", text="creole")[1]
    assert [one["name"] for one in found["result"]] == ["Haitian Creole"]
    failed, text = called("find_names", limit=0)
    assert failed
    assert text.endswith("limit must be 1 to 100, not 0")


def test_a_known_answer_is_explained_by_its_facts() -> None:
    found = called("explain", question="?x : exists v . borders(France, v) & speaks(v, x)", entity="Spanish")[1]
    assert found["known"]
    assert found["why"] == ["the graph says so: borders(France, Spain), speaks(Spain, Spanish)"]
    failed, text = called("explain", question="?x : borders(France, x)", entity="Nowhere")
    assert failed
    assert "Italy" in text


def test_facts_are_added_only_where_that_is_allowed() -> None:
    assert tools_of(is_written=False) == {"describe_graph", "find_names", "ask", "explain", "score"}
    assert tools_of(is_written=True) == {"describe_graph", "find_names", "ask", "explain", "score", "add_facts"}
    asked = graph()
    facts = [["France", "borders", "Andorra"], ["France", "borders", "Spain"]]
    assert called("add_facts", is_written=True, on=asked, facts=facts) == (False, {"added": 1, "unchanged": 1})
    assert "Andorra" in known_of(called("ask", on=asked, question="?x : borders(France, x)")[1])
    failed, text = called("add_facts", is_written=True, on=asked, facts=[["France", "borders"]])
    assert failed
    assert "three names" in text


def test_the_grammar_is_a_resource_whose_formulas_can_be_asked() -> None:
    async def read() -> str:
        async with Client(make_server(GraphTools(graph()))) as client:
            return (await client.read_resource("unseen://grammar")).contents[0].text

    from unseen.asking.preparing import parse
    from unseen.scoring.bound_statements import is_statement, parse_statement

    text = anyio.run(read)
    examples = [one.split("   ")[0].strip() for one in re.findall(r"^  (\S.*)$", text, re.MULTILINE)]
    written = [one for one in examples if one.startswith(("?", "count", "SELECT", "ASK", "borders", "exists"))]
    assert len(written) == 19
    asked = graph().graph
    for one in written:
        parse_statement(one, asked) if is_statement(one) else parse(one, asked)


def test_a_statement_is_scored() -> None:
    failed, found = called("score", statement="borders(France, Spain) & !speaks(Spain, French)", explain=True)
    assert not failed
    assert (found["known"], found["reasons"][0]["kind"]) == (True, "known")
    failed, text = called("score", statement="borders(Frnace, Spain)")
    assert failed
    assert "closest: France" in text
