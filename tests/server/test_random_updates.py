"""Updates at random leave a server with what they leave plain pyoxigraph with.

`UNSEEN_RANDOM_UPDATES` sets how many there are; the full size is 1,500.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyoxigraph
import pytest

from tests.database.update_grammar import Grammar
from tests.server.running import Running, running

COUNT = int(os.environ.get("UNSEEN_RANDOM_UPDATES", "30"))
SEEDS = 2
GRAPHS = {"default": pyoxigraph.DefaultGraph(), **{f"graph=urn:{n}": pyoxigraph.NamedNode(f"urn:{n}") for n in "gh"}}
"""How requests name the graphs that updates use."""
TRIPLES = {"Accept": "application/n-triples"}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_updates_at_random_do_what_they_do_in_plain_pyoxigraph(tmp_path: Path, seed: int) -> None:
    grammar, plain, taken = Grammar(1000 + seed), pyoxigraph.Store(), 0
    with running(tmp_path / "x.db") as server:
        for _ in range(COUNT // SEEDS):
            text = grammar.update()
            reply = server.update(text)
            assert reply.status in (204, 400), f"{reply.status} {reply.text}: {text}"
            if reply.status == 204:
                taken += 1
                plain.update(text, prefixes=server.database.prefixes)
            for name, graph in GRAPHS.items():
                assert served(server, name) == statements(plain.quads_for_pattern(None, None, None, graph)), text
            edges = [quad for quad in plain.quads_for_pattern(None, None, None, GRAPHS["default"]) if is_edge(quad)]
            assert server.database.graph.num_triples == len(edges), text
    assert taken > COUNT // SEEDS // 2


def served(server: Running, name: str) -> set[str]:
    """The statements of a graph of a server; none if there is no such graph."""
    reply = server.send("GET", f"/store?{name}", None, TRIPLES)
    assert reply.status == 200 or (reply.status == 404 and name != "default"), reply.text
    return statements(pyoxigraph.parse(reply.body, pyoxigraph.RdfFormat.N_TRIPLES)) if reply.status == 200 else set()


def statements(quads: object) -> set[str]:
    """Statements with names for blank nodes that depend on the statements alone."""
    triples = [pyoxigraph.Quad(quad.subject, quad.predicate, quad.object) for quad in quads]  # type: ignore[attr-defined]
    dataset = pyoxigraph.Dataset(triples)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def is_edge(quad: pyoxigraph.Quad) -> bool:
    """Whether models see a statement."""
    return not isinstance(quad.object, pyoxigraph.Literal | pyoxigraph.Triple)
