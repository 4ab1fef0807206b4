"""Where agents find a graph: files, databases that last, servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FAMILY
from tests.server.running import running
from unseen.agents.asked_graphs import opened_graph
from unseen.agents.graph_tools import GraphTools
from unseen.database import Database
from unseen.errors import UnseenError


def test_facts_added_to_a_database_last(tmp_path: Path) -> None:
    Database.create(tmp_path / "a.db").close()
    with opened_graph(str(tmp_path / "a.db"), is_written=True) as graph:
        assert GraphTools(graph).add_facts([["Ada", "knows", "Bob"]]) == {"added": 1, "unchanged": 0}
    with opened_graph(str(tmp_path / "a.db")) as graph:
        assert GraphTools(graph).ask("?x : knows(Ada, x)", None, False, True)["known"] == 1


def test_a_server_has_the_same_tools(tmp_path: Path) -> None:
    head, relation, tail = FAMILY[0]
    with running(tmp_path / "family.db", FAMILY) as server, opened_graph(f"http://127.0.0.1:{server.port}") as graph:
        tools = GraphTools(graph)
        found = tools.describe_graph()
        assert found["triples"] == len(set(FAMILY))
        assert tools.ask(found["example_question"], None, False, True)["known"]
        assert tools.find_names(head, "entity", 5)[0]["name"] == head
        assert tools.add_facts([[head, relation, "Somebody New"]]) == {"added": 1, "unchanged": 0}
        names = [one["entity"] for one in tools.ask(f"?x : {relation}({head}, x)", 50, False, True)["answers"]]
        assert {tail, "Somebody New"} <= set(names)


def test_a_server_answers_with_its_own_model() -> None:
    with pytest.raises(UnseenError, match="leave out --model"), opened_graph("http://127.0.0.1:1", method="rules"):
        pass
